// Newton's method for φ = z₊² (squared hinge and squared ε-insensitive losses): the objective is quadratic wherever no
// row crosses its threshold, so that the exact Hessian I + 2 Σ C x xᵀ over the rows with a loss ends in some ten steps.
// docs/methods/linear_svm.md, equations 10–13.
#pragma once

#include "core/base/pool.h"
#include "core/svm/linear/columns.h"
#include "core/svm/linear/problem.h"

namespace weald::linear {

// By the d × d Hessian, or by conjugate gradients, which only multiply with it: for many columns. Both stop when the
// duality gap, half the squared gradient, is at most tol/100 of the objective, and the gradient at most
// tol · (share of the rarer class) of that at v = 0, which is LIBLINEAR's rule. `columns` may be nullptr; with it Xᵀu
// of many sparse columns is faster.
Solution solve_newton(const Problem& problem, bool by_products, const Columns* columns, const Limits& limits,
                      Progress& progress, Run& run);

}  // namespace weald::linear
