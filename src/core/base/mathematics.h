// Elementary functions of our own: plain IEEE arithmetic in a fixed order, so that every machine, compiler and
// instruction set gives the same bits (the C library's do not promise that). None has a branch, so loops over them
// become vector code. An error of 1 ulp is one unit in the last place of the exact result.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace weald {

// The next smaller number: std::nextafter without a call. Not for NaN.
template <class Float>
[[gnu::always_inline]] inline Float next_below(Float x) {
  using Bits = std::conditional_t<sizeof(Float) == 4, int32_t, int64_t>;
  if (x == 0) return -std::numeric_limits<Float>::denorm_min();
  if (x == -std::numeric_limits<Float>::infinity()) return x;
  return std::bit_cast<Float>(static_cast<Bits>(std::bit_cast<Bits>(x) + (x > 0 ? -1 : 1)));
}

namespace detail {

// ln 2 in two parts: the first has 11 zero bits at its end, so that a whole number up to 2^11 times it is exact.
constexpr double ln2_high = 0x1.62e42fefa38p-1;
constexpr double ln2_low = 0x1.ef35793c7673p-45;

// A positive, finite, normal double as 2^exponent · m with m in [√½, √2).
struct Scaled {
  double exponent, m;
};

[[gnu::always_inline]] inline Scaled scaled(double x) {
  constexpr uint64_t sqrt_half_bits = 0x3fe6a09e667f3bcdULL;
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  // exponent + 1024, a whole number ≥ 0; as the low bits of a double that starts at 2^52 it is converted by one
  // subtraction
  const uint64_t biased = (bits - sqrt_half_bits + (uint64_t{1024} << 52)) >> 52;
  const double exponent = std::bit_cast<double>(biased | 0x4330000000000000ULL) - (0x1p52 + 1024.0);
  return {exponent, std::bit_cast<double>(bits - ((biased - 1024) << 52))};
}

// log m = 2 artanh(s) = 2s + 2s · (t · artanh_rest(t)) with s = (m − 1) / (m + 1), |s| ≤ 0.1716 and t = s²: the series
// to s^21 (truncation < 2^-60).
[[gnu::always_inline]] inline double artanh_rest(double t) {
  double p = 1.0 / 21.0;
  p = p * t + 1.0 / 19.0;
  p = p * t + 1.0 / 17.0;
  p = p * t + 1.0 / 15.0;
  p = p * t + 1.0 / 13.0;
  p = p * t + 1.0 / 11.0;
  p = p * t + 1.0 / 9.0;
  p = p * t + 1.0 / 7.0;
  p = p * t + 1.0 / 5.0;
  return p * t + 1.0 / 3.0;
}

// e^x = 2^k · (even + odd) / (even − odd), for |x| ≤ 710: x = k ln 2 + r with |r| ≤ ½ ln 2, and e^r by its (6, 6) Padé
// approximant, whose numerator at −r is its denominator at r (relative error < 2^-61). k stands in the low bits of
// `shifted`, because adding 1.5 · 2^52 rounds to a whole number. In float: |x| ≤ 89, 1.5 · 2^23, and the (3, 3)
// approximant (relative error < 2^-27).
template <class Float>
struct PowerOfE {
  using Bits = std::conditional_t<sizeof(Float) == 4, uint32_t, uint64_t>;
  Float shifted, even, odd;
  // bits to add to those of a number y, y · 2^k normal: y becomes y · 2^k
  Bits exponent_bits() const { return std::bit_cast<Bits>(shifted) << (sizeof(Float) == 4 ? 23 : 52); }
  // y · 2^k
  Float scaled(Float y) const { return std::bit_cast<Float>(std::bit_cast<Bits>(y) + exponent_bits()); }
};

[[gnu::always_inline]] inline PowerOfE<double> power_of_e(double x) {
  constexpr double log2e = 0x1.71547652b82fep+0;
  const double shifted = x * log2e + 0x1.8p52;
  const double k = shifted - 0x1.8p52;
  const double r = (x - k * ln2_high) - k * ln2_low;
  const double t = r * r;
  const double even = ((t + 840.0) * t + 75600.0) * t + 665280.0;
  const double odd = r * ((42.0 * t + 10080.0) * t + 332640.0);
  return {shifted, even, odd};
}

[[gnu::always_inline]] inline PowerOfE<float> power_of_e(float x) {
  constexpr float log2e = 0x1.715476p+0f;
  // ln 2 in two parts: a whole number up to 2^8 times the first is exact
  constexpr float high = 0x1.62e4p-1f, low = 0x1.7f7d1cp-20f;
  const float shifted = x * log2e + 0x1.8p23f;
  const float k = shifted - 0x1.8p23f;
  const float r = (x - k * high) - k * low;
  const float t = r * r;
  return {shifted, 12.0f * t + 120.0f, r * (t + 60.0f)};
}

// e^x for |x| ≤ 708.
[[gnu::always_inline]] inline double plain_exp(double x) {
  const PowerOfE<double> power = power_of_e(x);
  return power.scaled(1.0 + 2.0 * power.odd / (power.even - power.odd));
}

template <class Float>
[[gnu::always_inline]] inline Float clamped(Float x, Float low, Float high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

// tanh x = (e^2x − 1) / (e^2x + 1); where e^2x = 2^0 · (even + odd) / (even − odd), that is odd / even, and nothing is
// lost to 1 for small x.
template <class Float>
[[gnu::always_inline]] inline Float tanh_of(Float x, Float limit) {
  const PowerOfE<Float> power = power_of_e(Float{2} * clamped(x, -limit, limit));
  const Float below = power.even - power.odd;
  const Float scaled = power.scaled(power.even + power.odd);
  const bool small = power.exponent_bits() == 0;
  return (small ? power.odd : scaled - below) / (small ? power.even : scaled + below);
}

}  // namespace detail

// Base-2 logarithm of a positive, finite, normal double. Error below 1.5 ulp, below 3 ulp between ½ and 2.
[[gnu::always_inline]] inline double log2(double x) {
  constexpr double two_log2e = 2.885390081777926814719849362;
  const auto [exponent, m] = detail::scaled(x);
  const double s = (m - 1.0) / (m + 1.0);
  const double t = s * s;
  return exponent + (two_log2e * s + two_log2e * (s * (detail::artanh_rest(t) * t)));
}

// Natural logarithm of a positive, finite, normal double. Error below 3 ulp.
[[gnu::always_inline]] inline double log(double x) {
  const auto [exponent, m] = detail::scaled(x);
  const double s = (m - 1.0) / (m + 1.0);
  const double t = s * s;
  const double rest = 2.0 * (s * (detail::artanh_rest(t) * t)) + exponent * detail::ln2_low;
  return exponent * detail::ln2_high + (2.0 * s + rest);
}

// log(1 + x) for finite x > −1. Error below 4 ulp: what 1 + x loses by rounding is added back to first order.
[[gnu::always_inline]] inline double log1p(double x) {
  const double u = 1.0 + x;
  return log(u) + (x - (u - 1.0)) / u;
}

// e^x. Error below 1.5 ulp; 0 below −708 (where e^x < 3.4e-308), infinity above 709.78. NaN stays NaN.
[[gnu::always_inline]] inline double exp(double x) {
  const double value = detail::plain_exp(detail::clamped(x, -708.0, 709.78));
  const double not_small = x < -708.0 ? 0.0 : value;
  return x > 709.78 ? std::numeric_limits<double>::infinity() : not_small;
}

// tanh x. Error below 6 ulp; beyond ±22 (float: ±11) it is ±1. NaN stays NaN.
[[gnu::always_inline]] inline double tanh(double x) {
  return detail::tanh_of(x, 22.0);
}
[[gnu::always_inline]] inline float tanh(float x) {
  return detail::tanh_of(x, 11.0f);
}

// 1 / (1 + e^-x). Error below 3 ulp; beyond ±690 the value at ±690, which is 2.2e-300 and 1. NaN stays NaN.
// The fraction of e^-x is put into that of the sigmoid, so that one division is enough.
[[gnu::always_inline]] inline double sigmoid(double x) {
  const auto power = detail::power_of_e(-detail::clamped(x, -690.0, 690.0));
  const double below = power.even - power.odd;
  const double above = power.even + power.odd;
  return below / (below + power.scaled(above));
}

}  // namespace weald
