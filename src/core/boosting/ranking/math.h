// What ranking needs beyond the elementary functions of core/base/mathematics.h.
#pragma once

#include <algorithm>

#include "core/base/mathematics.h"

namespace weald::ranking {

// 1 − σ(x) = 1 / (1 + e^x): what a sigmoid leaves, without cancellation.
[[gnu::always_inline]] inline double sigmoid_rest(double x) {
  return sigmoid(-x);
}

// log(1 + e^x), absolute error below 1e-15 · max(1, |x|).
inline double softplus(double x) {
  constexpr double ln2 = 0.6931471805599453;
  return std::max(x, 0.0) + ln2 * log2(1.0 + exp(x < 0 ? x : -x));
}

// x^exponent for x ≥ 0 and 0 < exponent ≤ 1; 0 for x below every normal number.
inline double power(double x, double exponent) {
  constexpr double ln2 = 0.6931471805599453;
  if (exponent == 1.0) return x;
  return x < 0x1p-1022 ? 0.0 : exp(exponent * log2(x) * ln2);
}

}  // namespace weald::ranking
