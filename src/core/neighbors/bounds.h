// What a sum may still be: from the farthest of the k nearest so far, levels above which filters throw rows out, with
// room for every rounding error (V7 of docs/methods/neighbors.md). And in which order rows are looked at.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "core/neighbors/distance.h"

namespace weald::neighbors {

// What rounding to float64 can change, of a number.
inline constexpr double double_unit = 0x1p-53;

// Half a unit in the last place of 1.
inline constexpr double float_unit = 0x1p-24;

// Not below x, and barely above: a rounding to nearest errs by less than what is added.
inline float rounded_up(double x) {
  const double above = x + std::abs(x) * 0x1p-23 + 0x1p-126;
  return above < std::numeric_limits<float>::max() ? static_cast<float>(above) : std::numeric_limits<float>::infinity();
}
inline float rounded_down(double x) {
  return -rounded_up(-x);
}

// More than sums of n powers lose near 0.
inline double lost_powers(int64_t n) {
  return (static_cast<double>(n) + 4.0) * 0x1p-1070;
}

// ‖x − z‖₂ over n columns, as large as it can be while the sum of the metric is at most `most`: by the inequalities
// between norms, ‖d‖₂ ≤ ‖d‖_p for p ≤ 2 and ‖d‖₂ ≤ n^(1/2 − 1/p) ‖d‖_p for p ≥ 2, with room for what powers lose near
// 0.
inline double most_length(const Metric& metric, double most, int64_t n) {
  constexpr double room = 1.0 + 1e-9;
  const auto columns = static_cast<double>(n);
  if (metric.rule == Rule::largest) return most * std::sqrt(columns) * room;
  const double sum = most + lost_powers(n);
  if (metric.p == 2) return std::sqrt(sum) * (1.0 + (columns + 8.0) * 0x1p-52);
  const double wider = metric.p > 2 ? any_power(columns, 0.5 - 1.0 / metric.p) : 1.0;
  return distance_of(metric, sum) * wider * room;
}

// Rows in an order that no order of the table can spoil: steps of about 0.618 n around a circle of n.
class Scattered {
 public:
  explicit Scattered(int64_t n) : n_(n), step_(n < 3 ? 1 : static_cast<int64_t>(0.618 * static_cast<double>(n))) {
    while (n_ > 0 && std::gcd(step_, n_) != 1) ++step_;
  }
  int64_t operator()(int64_t position) const {
    return static_cast<int64_t>(static_cast<unsigned __int128>(position) * static_cast<unsigned __int128>(step_) %
                                static_cast<unsigned __int128>(n_));
  }

 private:
  int64_t n_, step_;
};

}  // namespace weald::neighbors
