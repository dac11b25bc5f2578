// What a sum may still be: from the farthest of the k nearest so far, levels above which filters throw rows out, with
// room for every rounding error (N7 of docs/methods/neighbors.md). And in which order rows are looked at.
#pragma once

#include <cmath>
#include <cstdint>
#include <numeric>

#include "core/neighbors/distance.h"

namespace weald::neighbors {

// A sum over squares of n columns, as large as it can be while the sum of `term` is at most `most`: for powers by the
// inequalities between norms, ‖d‖₂ ≤ ‖d‖_p for p ≤ 2 and ‖d‖₂ ≤ n^(1/2 − 1/p) ‖d‖_p for p ≥ 2.
inline double most_squares(const Metric& metric, double most, int64_t n) {
  if (metric.rule == Rule::powers && metric.p == 2) return most;
  constexpr double room = 1.0 + 1e-9;
  if (metric.rule == Rule::largest) return most * most * static_cast<double>(n) * room;
  const double root = distance_of(metric, most);
  const double wider = metric.p > 2 ? any_power(static_cast<double>(n), 1.0 - 2.0 / metric.p) : 1.0;
  return root * root * wider * room;
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
