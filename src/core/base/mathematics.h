// Elementary functions of our own: plain IEEE arithmetic in a fixed order, so that every machine, compiler and
// instruction set gives the same bits (the C library's do not promise that).
#pragma once

#include <bit>
#include <cstdint>

namespace weald {

// Base-2 logarithm of a positive, finite, normal double. Error below 1.5 ulp, below 3 ulp between ½ and 2: x = 2^e · m
// with m in [√½, √2), then log m = 2 artanh(s) with s = (m − 1) / (m + 1), |s| ≤ 0.1716, by its series to s^21
// (truncation < 2^-60).
inline double log2(double x) {
  constexpr uint64_t sqrt_half_bits = 0x3fe6a09e667f3bcdULL;
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  const int64_t shift = static_cast<int64_t>(bits - sqrt_half_bits) >> 52;
  const double m = std::bit_cast<double>(bits - (static_cast<uint64_t>(shift) << 52));
  const double s = (m - 1.0) / (m + 1.0);
  const double t = s * s;
  double p = 1.0 / 21.0;
  p = p * t + 1.0 / 19.0;
  p = p * t + 1.0 / 17.0;
  p = p * t + 1.0 / 15.0;
  p = p * t + 1.0 / 13.0;
  p = p * t + 1.0 / 11.0;
  p = p * t + 1.0 / 9.0;
  p = p * t + 1.0 / 7.0;
  p = p * t + 1.0 / 5.0;
  p = p * t + 1.0 / 3.0;

  constexpr double two_log2e = 2.885390081777926814719849362;
  return static_cast<double>(shift) + (two_log2e * s + two_log2e * (s * (p * t)));
}

}  // namespace weald
