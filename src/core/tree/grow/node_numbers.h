// What a node is told besides its split: impurity, mean target, whether a split could help. One place for all growers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "core/data/codes.h"
#include "core/data/encode/cuts.h"
#include "core/tree/options.h"
#include "core/tree/split/split.h"
#include "core/tree/statistics/quantise.h"
#include "core/tree/statistics/statistics.h"

namespace weald {

// What gains in real units, and the means and impurities of regression nodes, need: not part of any histogram.
struct Spread {
  Buffer<double> target;    // (n, n_outputs); absent for classes
  Buffer<int64_t> squares;  // (n,) w·y² in units, summed over outputs
  int n_outputs = 1;
  int square_power = 0, score_power = 0, weight_power = 0;  // units · 2^power are real: squares, scores, weights
  // Of impurities and gains: their mean over the outputs, and natural logarithms for a criterion that counts in bits.
  double factor = 1;
  bool means = false;    // nodes have means of targets, and rows of one mean are not split
  bool squared = false;  // impurities are told by squares
  Spread gather(std::span<const uint32_t> ids) const {
    Spread out = *this;
    out.target = Buffer<double>::gathered(target.get(), ids, static_cast<size_t>(n_outputs));
    out.squares = Buffer<int64_t>::gathered(squares.get(), ids);
    return out;
  }
};

// Classes and absolute error: −score / weight. Moments: (Σ per-row terms − score) / Σ w. The terms do not depend on the
// split: Σ w·y² for squared error.
inline double node_impurity(const Spread& spread, int64_t squares, double score, int64_t node_weight) {
  const auto weight = static_cast<double>(node_weight);
  const int power = spread.score_power - spread.weight_power;
  const double mean_score = power == 0 ? score / weight : std::ldexp(score / weight, power);
  if (!spread.squared) return -mean_score * spread.factor;
  const double loss =
      std::ldexp(static_cast<double>(squares) / weight, spread.square_power - spread.weight_power) - mean_score;
  return std::max(0.0, loss * spread.factor);
}

inline double node_impurity(const Spread& spread, std::span<const uint32_t> ids, double score, int64_t node_weight) {
  int64_t squares = 0;
  for (size_t i = 0; spread.squared && i < ids.size(); ++i) squares += spread.squares[ids[i]];
  return node_impurity(spread, squares, score, node_weight);
}

// What each category that counts has to gain, in units of the score: where categories mean nothing, one more adds
// about a row's worth of impurity to the best gain, as one more mean is fitted (docs/methods/forests.md, 5a).
inline double category_chance(const GrowOptions& options, const Spread& spread, double impurity, int64_t weight,
                              int64_t n_rows) {
  if (options.category_chance <= 0) return 0;
  const double loss = std::ldexp(impurity * static_cast<double>(weight), spread.weight_power - spread.score_power);
  return options.category_chance * loss / (spread.factor * static_cast<double>(n_rows));
}

// The weighted mean of some rows' targets, in fixed point of their own: 62 bits for the largest, so that a huge target
// elsewhere takes nothing from it, and no order of rows shows. Equal targets are their own mean.
template <class Rows, class Criterion>
double mean_target(const Rows& rows, const Criterion& criterion, const Spread& spread, std::span<const uint32_t> ids,
                   size_t output, int64_t weight) {
  const auto width = static_cast<size_t>(spread.n_outputs);
  const double first = spread.target[ids[0] * width + output];
  double largest = 0;
  bool equal = true;
  for (const uint32_t row : ids) {
    const double target = spread.target[row * width + output];
    largest = std::max(largest, std::abs(target));
    equal &= target == first;
  }
  if (equal) return first;
  int exponent;
  std::frexp(largest, &exponent);
  const int power = 62 - exponent;
  const double scale = std::ldexp(1.0, std::min(power, 1023));
  __int128 sum = 0;  // below 2^62 (weights) · 2^62 (targets)
  Lanes<Rows::fixed_lanes> row_lanes(rows.lanes());
  for (const uint32_t row : ids) {
    clear_lanes(row_lanes);
    rows.add(row, row_lanes.data());
    const double target = spread.target[row * width + output];
    const int64_t units = in_units(power <= 1023 ? target : std::ldexp(target, power - 1023), scale);
    sum += static_cast<__int128>(criterion.weight(row_lanes.data())) * units;
  }
  return std::ldexp(static_cast<double>(sum) / static_cast<double>(weight), exponent - 62);
}

// True if no split of these rows can gain: in units, all have the same mean. (Targets that differ by less than a unit
// are alike.)
template <class Rows, class Criterion>
bool rows_alike(const Rows& rows, const Criterion& criterion, std::span<const uint32_t> ids) {
  Lanes<Rows::fixed_lanes> first(rows.lanes()), other(rows.lanes());
  clear_lanes(first);
  rows.add(ids[0], first.data());
  return std::all_of(ids.begin(), ids.end(), [&](uint32_t row) {
    clear_lanes(other);
    rows.add(row, other.data());
    return criterion.alike(first.data(), other.data());
  });
}

// True if the node may not be split, whatever its rows are.
inline bool too_small(const GrowOptions& options, int64_t depth, int64_t n_rows, int64_t weight) {
  return depth >= options.max_depth || n_rows < options.min_rows_split || n_rows / 2 < options.min_rows_leaf ||
         weight / 2 < options.min_weight_leaf;
}

// Whether a gain of `worth`, in units, lowers the impurity of its tree by enough.
inline bool lowers_enough(const GrowOptions& options, const Spread& spread, double worth, int64_t tree_weight) {
  if (options.min_decrease <= 0) return true;
  const double total = std::ldexp(static_cast<double>(tree_weight), spread.weight_power);
  const double decrease = std::ldexp(worth, spread.score_power) * spread.factor / total;
  return !(decrease + std::numeric_limits<double>::epsilon() < options.min_decrease);
}

// The threshold between two codes of a column, of which the upper is 0 where missing stands against present.
inline double threshold_between(ColumnKind kind, const double* marks, uint32_t code, uint32_t next_code) {
  if (next_code == 0) return std::numeric_limits<double>::infinity();
  if (kind == ColumnKind::exact) return midpoint_below(marks[code - 1], marks[next_code - 1]);
  return kind == ColumnKind::binned ? marks[code - 1] : static_cast<double>(code);
}

}  // namespace weald
