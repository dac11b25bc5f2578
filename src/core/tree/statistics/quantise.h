// From float64 values to the integers that histograms add up (docs/methods/trees.md, 6).
//
// Wide: value × 2^k to the nearest integer, with k the largest power for which Σ 2^exponent(value) · 2^k over all rows
// stays below 2^62. The exponents are counted, so the power does not depend on the order of rows.
// Narrow: 16 bits, scaled by the largest magnitude, rounded up or down at random by hash(seed, round, row).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/tree/statistics/statistics.h"

namespace weald {

inline constexpr int lowest_exponent = -1080;  // below the exponent of the smallest subnormal
inline constexpr int n_exponents = 2160;

// counts[e − lowest_exponent] = how many values v ≠ 0 have 2^(e−1) ≤ |v| < 2^e; value i counts `times[i]` times, or
// once if `times` is empty.
std::vector<int64_t> count_exponents(std::span<const double> values, std::span<const int64_t> times);

// The largest power for which Σ 2^(exponent + power) over counted values < 2^(62 − spare_bits); 0 if none was counted.
int common_power(std::span<const int64_t> counts, int spare_bits = 0);

// out[i] = round(values[i] · 2^power), half to even.
void to_units(std::span<const double> values, int power, std::span<int64_t> out);

// The nearest integer to what is below 2^51, half to even: adding 1.5 · 2^52 rounds, taking it away is exact.
inline double round_small(double x) {
  constexpr double magic = 0x1.8p52;
  return (x + magic) - magic;
}

// To any number, without a call into the C library where it can be: above 2^52 all are whole already.
inline double round_even(double x) {
  return std::abs(x) < 0x1p51 ? round_small(x) : std::abs(x) < 0x1p52 ? std::nearbyint(x) : x;
}

inline int64_t in_units(double value, double scale) {
  return static_cast<int64_t>(round_even(value * scale));
}

// Narrow, for one row whose g is scaled to ±32767 and whose h to 0 … 65535; `word` decides the rounding, which is
// stochastic: E[out] = value.
inline NarrowRows::Value to_narrow(double g, double h, uint64_t word) {
  const auto dither = [](uint64_t bits) { return static_cast<double>(bits & 0xffffffffU) * 0x1p-32; };
  // Rounds down within the limits, which are whole; std::floor may be a call into the C library.
  const auto down = [](double x, double least, double most) {
    const double within = std::clamp(x, least, most);
    const auto whole = static_cast<int32_t>(within);
    return whole - (static_cast<double>(whole) > within ? 1 : 0);
  };
  return {static_cast<int16_t>(down(g + dither(word), -32767, 32767)),
          static_cast<uint16_t>(down(h + dither(word >> 32), 0, 65535))};
}

}  // namespace weald
