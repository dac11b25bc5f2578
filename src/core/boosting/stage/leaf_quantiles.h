// Quantiles of the residuals y − f in every leaf of a tree: the leaf values of absolute and quantile error, equation L5
// of docs/methods/boosting.md. Exact, and the order of rows does not matter.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/pool.h"

namespace weald {

struct ResidualRows {
  std::span<const double> target, scores;  // (n,)
  std::span<const int64_t> weight;         // (n,) in units, ≥ 0, their sum below 2^63; empty: interpolated quantiles
  std::span<const int32_t> leaf;           // (n,); −1: the row is in no leaf
};

struct Residual {
  double value;
  int64_t weight;
  bool operator<(const Residual& other) const { return value < other.value; }
};

// One value per leaf; 0 for a leaf without rows. 0 ≤ alpha ≤ 1.
std::vector<double> leaf_quantiles(const ResidualRows& rows, int64_t n_leaves, double alpha, Run& run);

}  // namespace weald
