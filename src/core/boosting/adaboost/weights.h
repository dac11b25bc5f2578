// The weights of AdaBoost's rows on labels: errors, votes and new weights, in one pass over the rows each
// (docs/methods/adaboost.md, A1–A4). Sums are whole units.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/pool.h"

namespace weald {

// The sum of the units of wrong rows.
int64_t wrong_units(std::span<const uint8_t> wrong, std::span<const int64_t> units, Run& run);

// Right and wrong rows times their factors, and all times what brings their sum to `total`; a row above 0 stays at
// least 1. If no row, or every row, that weighs anything is wrong, factors cancel. `units`: the new values to the
// nearest whole number, half to even.
void reweigh(std::span<const double> values, std::span<const uint8_t> wrong, double for_right, double for_wrong,
             double total, Run& run, std::span<double> new_values, std::span<int64_t> units);

// Adds `weight` to the vote of each row for the class `predicted`, and returns the units of rows for which the most
// votes (of equal ones the first) are not for their `label`. `votes`: (n, n_classes).
int64_t add_votes(std::span<double> votes, std::span<const int32_t> predicted, double weight,
                  std::span<const int32_t> label, std::span<const int64_t> units, Run& run);

}  // namespace weald
