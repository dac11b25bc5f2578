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

Exponents count_all(std::span<const double> g, std::span<const double> h, std::span<const double> weight, bool whole,
                    const DrawnRows& drawn, Run& run) {
  const size_t n_blocks = (drawn.size() + newton_row_block - 1) / newton_row_block;
  // Neighbouring rows count in series of their own: equal exponents in a row would wait for each other.
  const size_t series = n_blocks > 1 ? 4 : 1;
  std::vector<Exponents> parts(series * std::min(n_blocks, static_cast<size_t>(run.n_threads())));
  parallel_for(run, static_cast<int64_t>(n_blocks), [&](int64_t block, int worker) {
    const size_t first = static_cast<size_t>(block) * newton_row_block,
                 last = std::min(drawn.size(), first + newton_row_block);
    for (size_t i = first; i < last; ++i) {
      Exponents& part = parts[series * static_cast<size_t>(worker) + i % series];
      const uint32_t row = drawn[i];
      const double w = weight.empty() ? 1.0 : weight[row];
      const int64_t times = whole ? static_cast<int64_t>(w) : 1;
      const double factor = whole ? 1.0 : w;
      count(factor * g[row], times, part.g);
      count(factor * h[row], times, part.h);
      part.negative_h |= h[row] < 0;
      part.zeros |= g[row] == 0 && h[row] == 0;
    }
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

bool short_tail(const Counts& counts) {
  constexpr int value_bits = 15, enough_bits = 5;
  const int top = highest(counts);
  double small = 0, all = 0;
  for (size_t e = 0; e < counts.size(); ++e) {
    if (counts[e] == 0) continue;
    const int exponent = static_cast<int>(e) + lowest_exponent;
    const double sum = static_cast<double>(counts[e]) * std::ldexp(0.75, exponent - top);
    all += sum;
    if (exponent - top + value_bits < enough_bits) small += sum;
  }
  return all > 0 && small < 0.01 * all;
}

}  // namespace weald
