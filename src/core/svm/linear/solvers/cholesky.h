// The Cholesky factor of a symmetric positive definite matrix, and solving with it.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/pool.h"
#include "core/svm/linear/solvers/gram.h"

namespace weald::linear {

// Replaces the lower triangle of A by L with L Lᵀ = A. A pivot that is nothing but rounding (below 1e-15 of what stood
// there, or not positive) is made infinite: the unknown of that place comes out 0.
void factorise(Square& a, Run& run);

// Replaces b by the solution of L Lᵀ x = b.
void solve_factored(const Square& l, std::span<double> b);

// out[k] −= Σ_p l[p] turned[p · stride + k] for k below n, p in order: the bits of each sum depend on nothing else.
void subtract_products(const double* l, int64_t n_products, const double* turned, int64_t stride, int64_t n,
                       double* out);

}  // namespace weald::linear
