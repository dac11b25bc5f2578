// From raw scores to predictions and back, elementwise and as softmax, by the same functions that make the gradients.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/base/pool.h"

namespace weald {

// function: "exp", "log", "log1p", "sigmoid", "tanh" or "exp2_of_negative", the last two with "_float" behind them too.
// out has the size of values and may be the same.
void map_values(std::string_view function, std::span<const double> values, double* out, Run& run);

// Softmax of every row of (n_rows, n_classes); n_classes ≥ 1.
void softmax_rows(const double* scores, int64_t n_rows, int64_t n_classes, double* out, Run& run);

}  // namespace weald
