// Leaf values that need the residuals y − f of a leaf in order: medians, quantiles, Huber's; equations S8 to S11 of
// docs/methods/gradient_boosting.md. Sums are integers: the order of rows does not show, and a row of weight 3 is three
// rows to the last bit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/boosting/stage/leaf_quantiles.h"

namespace weald {

// Per leaf the smallest residual with at least the share α of the weight up to it (`middle` false), or halfway to the
// next one where exactly that share ends at it. Weights absent: all 1. 0 for a leaf without rows.
std::vector<double> stage_quantiles(const ResidualRows& rows, int64_t n_leaves, double alpha, bool middle, Run& run);

// Per leaf, m its lower median: m + mean of (d − m) held to ±δ. `exact`: the middle of the values that minimise the
// sum of Huber's loss.
std::vector<double> stage_huber(const ResidualRows& rows, int64_t n_leaves, double delta, bool exact, Run& run);

}  // namespace weald
