// The inverse root of a kernel matrix, which turns kernel values with landmarks into columns (docs/methods/kernels.md,
// equation N1): K = L Lᵀ by Cholesky's method, the row with the largest remainder next, until what remains is rounding.
// At n³ multiplications it takes a tenth of the time of eigenvalues, can be stopped after every block, and has one
// order of sums for any number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/pool.h"

namespace weald::svm {

struct PivotedRoot {
  int64_t n_kept = 0;              // rows that span the others, up to rounding
  std::vector<double> projection;  // (n, n_kept): L⁻ᵀ in the rows that are kept, 0 in the others
  bool definite = true;            // false: the matrix has negative eigenvalues, and nothing else is told
};

// `kernel` is symmetric, n × n. A remainder of at most `floor` times the sum of the diagonal counts as rounding.
PivotedRoot pivoted_root(std::span<const double> kernel, int64_t n, double floor, Run& run);

}  // namespace weald::svm
