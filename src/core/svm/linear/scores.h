// Scores of rows under several linear machines: out[i][k] = x_i · w_k + b_k. A row's scores do not depend on the rows
// that come with it.
#pragma once

#include <span>

#include "core/base/pool.h"
#include "core/svm/linear/rows.h"

namespace weald::linear {

// `rows` without an intercept's column; `weight`: (n_outputs, n_columns); `out`: (n_rows, n_outputs).
void score(const Rows& rows, std::span<const double> weight, std::span<const double> intercept, Run& run,
           std::span<double> out);

}  // namespace weald::linear
