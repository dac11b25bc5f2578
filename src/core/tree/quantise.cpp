#include "core/tree/quantise.h"

#include <algorithm>
#include <cmath>

#include "core/base/random.h"

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

void to_units(std::span<const double> values, int power, std::span<int64_t> out) {
  for (size_t i = 0; i < values.size(); ++i) {
    out[i] = static_cast<int64_t>(std::nearbyint(std::ldexp(values[i], power)));
  }
}

void to_narrow(std::span<const double> g, std::span<const double> h, int g_power, int h_power, uint64_t seed,
               uint64_t round, int64_t first_row, std::span<NarrowRows::Value> out) {
  const auto dither = [](uint64_t bits) { return static_cast<double>(bits & 0xffffffffU) * 0x1p-32; };
  for (size_t i = 0; i < g.size(); ++i) {
    const uint64_t bits = draw(seed, Purpose::rounding, round, static_cast<uint64_t>(first_row) + i);
    const double up = std::floor(std::ldexp(g[i], g_power) + dither(bits));
    const double cover = std::floor(std::ldexp(h[i], h_power) + dither(bits >> 32));
    out[i] = {static_cast<int16_t>(std::clamp(up, -32767.0, 32767.0)),
              static_cast<uint16_t>(std::clamp(cover, 0.0, 65535.0))};
  }
}

}  // namespace weald
