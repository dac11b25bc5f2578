// Sums of kernel rows: g[j] += Σ_r factor_r · rows[r][j], in the order of rows, in double.
#pragma once

#include <cstdint>

namespace weald::svm {

void accumulate(const float* const* rows, const double* factors, int64_t n_rows, int64_t n, double* g);
void accumulate(const double* const* rows, const double* factors, int64_t n_rows, int64_t n, double* g);

}  // namespace weald::svm
