#include "core/tree/newton_units.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace weald {

namespace {

constexpr int exponent_bias = 1022;  // frexp's exponent = the biased exponent of IEEE − 1022
void count(double value, int64_t times, Counts& counts) {
  const uint64_t bits = std::bit_cast<uint64_t>(value) << 1;
  if (bits == 0) return;
  int exponent = static_cast<int>(bits >> 53) - exponent_bias;
  if (exponent == -exponent_bias) std::frexp(value, &exponent);  // subnormal
  counts[static_cast<size_t>(exponent - lowest_exponent)] += times;
}

}  // namespace

Exponents count_all(const Gradients& given, const DrawnRows& drawn, Run& run) {
  const size_t n_blocks = (drawn.size() + newton_row_block - 1) / newton_row_block;
  // Neighbouring rows count in series of their own: equal exponents in a row would wait for each other.
  constexpr size_t many_blocks = 16;
  const size_t series = n_blocks > many_blocks ? 4 : 1;
  std::vector<Exponents> parts(series * std::min(n_blocks, static_cast<size_t>(run.n_threads())));
  for_rows(given, drawn, run, [&](size_t i, uint32_t row, double g, double h, int worker) {
    Exponents& part = parts[series * static_cast<size_t>(worker) + i % series];
    count(given.factor(row) * g, given.times(row), part.g);
    count(given.factor(row) * h, given.times(row), part.h);
    part.negative_h |= h < 0;
    part.zeros |= g == 0 && h == 0;
  });
  for (size_t p = 1; p < parts.size(); ++p) {
    for (size_t e = 0; e < n_exponents; ++e) {
      parts[0].g[e] += parts[p].g[e];
      parts[0].h[e] += parts[p].h[e];
    }
    parts[0].negative_h |= parts[p].negative_h;
    parts[0].zeros |= parts[p].zeros;
  }
  return std::move(parts[0]);
}

int highest(const Counts& counts) {
  for (size_t e = counts.size(); e-- > 0;) {
    if (counts[e] > 0) return static_cast<int>(e) + lowest_exponent;
  }
  return lowest_exponent;
}

bool short_tail(const Counts& counts, int bits) {
  constexpr int enough_bits = 5;
  const int top = highest(counts);
  double small = 0, all = 0;
  int64_t n_small = 0, n_all = 0;
  for (size_t e = 0; e < counts.size(); ++e) {
    if (counts[e] == 0) continue;
    const int exponent = static_cast<int>(e) + lowest_exponent;
    const double sum = static_cast<double>(counts[e]) * std::ldexp(0.75, exponent - top);
    all += sum;
    n_all += counts[e];
    if (exponent - top + bits >= enough_bits) continue;
    small += sum;
    n_small += counts[e];
  }
  return all > 0 && small < 0.01 * all && 2 * n_small < n_all;
}

}  // namespace weald
