// Exponential and friends for ranking: plain IEEE arithmetic in a fixed order, without branches, so that every machine
// and instruction set gives the same bits and loops over them can use vector units.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/base/mathematics.h"

namespace weald::ranking {

constexpr double largest_exponent = 708.0;

// Into the range of `exp`; NaN stays.
inline double clamp_exponent(double x) {
  return std::min(std::max(x, -largest_exponent), largest_exponent);
}

// e^x for x in [−708, 708]; error below 1.5 ulp. x = k·ln 2 + r with |r| ≤ ½ ln 2, then the series of e^r to r^13
// (truncation < 2^-57). ln 2 is split so that k times its upper part is exact. There is no clamp in here because the
// compiler would make a branch of it, and loops over this function could not use vector units.
inline double exp(double x) {
  constexpr double log2_e = 0x1.71547652b82fep+0;
  constexpr double ln2_high = 0x1.62e42fefa2000p-1;  // 40 bits
  constexpr double ln2_low = 7.371002565167799e-13;
  constexpr double shifter = 0x1.8p52;  // adding it rounds to a whole number, held in the low bits
  const double shifted = x * log2_e + shifter;
  const double k = shifted - shifter;
  const double r = (x - k * ln2_high) - k * ln2_low;
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  return p * std::bit_cast<double>((std::bit_cast<uint64_t>(shifted) + 1023) << 52);
}

// 1 − σ(x) = 1 / (1 + e^x): what a sigmoid leaves, without cancellation. x within the range of `exp`.
inline double sigmoid_rest(double x) {
  return 1.0 / (1.0 + exp(x));
}

// log(1 + e^x), absolute error below 1e-15 · max(1, |x|).
inline double softplus(double x) {
  constexpr double ln2 = 0.6931471805599453;
  return std::max(x, 0.0) + ln2 * log2(1.0 + exp(std::max(x < 0 ? x : -x, -largest_exponent)));
}

// x^exponent for x ≥ 0 and 0 < exponent ≤ 1; 0 for x below every normal number.
inline double power(double x, double exponent) {
  constexpr double ln2 = 0.6931471805599453;
  if (exponent == 1.0) return x;
  return x < 0x1p-1022 ? 0.0 : exp(clamp_exponent(exponent * log2(x) * ln2));
}

}  // namespace weald::ranking
