#include "core/tree/statistics/quantise.h"

#include <algorithm>
#include <cmath>

namespace weald {

std::vector<int64_t> count_exponents(std::span<const double> values, std::span<const int64_t> times) {
  std::vector<int64_t> counts(n_exponents, 0);
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == 0) continue;
    int exponent;
    std::frexp(values[i], &exponent);
    counts[static_cast<size_t>(exponent - lowest_exponent)] += times.empty() ? 1 : times[i];
  }
  return counts;
}

int common_power(std::span<const int64_t> counts, int spare_bits) {
  // Σ count · 2^(e − lowest), as bits: carried from exponent to exponent, only the highest set bit is of interest.
  int highest = -1;
  uint64_t carry = 0;
  for (size_t e = 0; e < counts.size() || carry > 0; ++e) {
    carry += e < counts.size() ? static_cast<uint64_t>(counts[e]) : 0;
    if ((carry & 1) != 0) highest = static_cast<int>(e);
    carry >>= 1;
  }
  if (highest < 0) return 0;
  constexpr int sum_bits = 62;
  return sum_bits - spare_bits - (highest + 1) - lowest_exponent;
}

void to_units(std::span<const double> values, int power, std::span<int64_t> out) {
  for (size_t i = 0; i < values.size(); ++i) {
    out[i] = static_cast<int64_t>(round_even(std::ldexp(values[i], power)));
  }
}

}  // namespace weald
