// How gradients and hessians become integers: exponents are counted, powers of two chosen from the counts
// (docs/methods/boosting.md, 5 and 6).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/tree/newton_rows.h"
#include "core/tree/quantise.h"

namespace weald {

inline constexpr size_t newton_row_block = size_t{1} << 14;

using Counts = std::vector<int64_t>;  // per exponent, from lowest_exponent up

struct Exponents {
  Counts g = Counts(n_exponents, 0), h = Counts(n_exponents, 0);
  bool negative_h = false;
  bool zeros = false;  // some row has g = h = 0
};

// As count_exponents, for w·v or, with whole weights, v counted w times; over the rows drawn, in parallel.
Exponents count_all(std::span<const double> g, std::span<const double> h, std::span<const double> weight, bool whole,
                    const DrawnRows& drawn, Run& run);
// The largest exponent that was counted.
int highest(const Counts& counts);
// Whether 16 bits under the maximum tell the values well enough: those of fewer than 5 bits carry under 1 % of Σ|v|.
bool short_tail(const Counts& counts);

inline int64_t in_units(double value, double scale) {
  return static_cast<int64_t>(round_even(value * scale));
}

// 2^power as a double; powers of units stay far within its range unless values are near the end of float64's.
inline double scale_of(int power) {
  return std::ldexp(1.0, std::clamp(power, -1022, 1023));
}

}  // namespace weald
