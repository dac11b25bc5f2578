#include "core/tree/statistics/newton_units.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace weald {

namespace {

constexpr int exponent_bias = 1022;  // frexp's exponent = the biased exponent of IEEE − 1022
[[gnu::always_inline]] inline void count(double value, int64_t times, int64_t* counts) {
  const uint64_t bits = std::bit_cast<uint64_t>(value) << 1;
  if (bits == 0) return;
  int exponent = static_cast<int>(bits >> 53) - exponent_bias;
  if (exponent == -exponent_bias) std::frexp(value, &exponent);  // subnormal
  counts[exponent - lowest_exponent] += times;
}

void add(const Exponents& part, Exponents& to) {
  for (size_t e = 0; e < n_exponents; ++e) {
    to.g[e] += part.g[e];
    to.h[e] += part.h[e];
  }
  to.negative_h |= part.negative_h;
  to.zeros |= part.zeros;
}

// Of gradients and, with `count_h`, of hessians.
Exponents count_blocks(const Gradients& given, const DrawnRows& drawn, bool count_h, Run& run) {
  const size_t n_blocks = (drawn.size() + newton_row_block - 1) / newton_row_block;
  // Neighbouring rows count in series of their own: equal exponents in a row would wait for each other.
  constexpr size_t many_blocks = 16, most_series = 4;
  const size_t series = n_blocks > many_blocks ? most_series : 1;
  std::vector<Exponents> parts(series * std::min(n_blocks, static_cast<size_t>(run.n_threads())));
  const auto count_block = [&](const RowBlock& block, const auto factors, auto counts_h) {
    Exponents* const mine = &parts[series * static_cast<size_t>(block.worker)];
    int64_t *g_counts[most_series], *h_counts[most_series];
    for (size_t s = 0; s < most_series; ++s) {
      g_counts[s] = mine[s % series].g.data();
      h_counts[s] = mine[s % series].h.data();
    }
    bool negative = false, zeros = false;
    for_rows_of(block, drawn, [&](size_t i, uint32_t row, double g, double h) {
      const double factor = factors.factor(row);
      const int64_t times = factors.times(row);
      count(factor * g, times, g_counts[i % most_series]);
      if constexpr (counts_h) {
        count(factor * h, times, h_counts[i % most_series]);
        negative |= h < 0;
        zeros |= !(h > 0);
      }
    });
    mine->negative_h |= negative;
    mine->zeros |= zeros;
  };
  with_factors(given, [&](const auto factors) {
    for_row_blocks(given, drawn, run, [&](const RowBlock& block) {
      count_h ? count_block(block, factors, std::true_type{}) : count_block(block, factors, std::false_type{});
    });
  });
  for (size_t p = 1; p < parts.size(); ++p) add(parts[p], parts[0]);
  return std::move(parts[0]);
}

}  // namespace

Exponents count_all(const Gradients& given, const DrawnRows& drawn, Run& run) {
  if (!given.unit_h) return count_blocks(given, drawn, true, run);
  // Hessians of 1 are counted by the weights alone, and curvatures in their place.
  const bool stepped = !given.curvature.empty();
  Exponents found = stepped ? count_blocks(given.stepped(), drawn, true, run) : count_blocks(given, drawn, false, run);
  if (stepped) found.curvature = std::move(found.h);
  found.h.assign(n_exponents, 0);
  found.negative_h = found.zeros = false;
  if (given.weight.empty()) {
    count(1.0, static_cast<int64_t>(drawn.size()), found.h.data());
  } else {
    const RowFactors<true> factors{given.weight.data(), given.whole};
    for (size_t i = 0; i < drawn.size(); ++i) count(factors.factor(drawn[i]), factors.times(drawn[i]), found.h.data());
  }
  return found;
}

SquareUnit square_rows(const Gradients& given, const DrawnRows& drawn, size_t n_rows, std::vector<RowSquare>& out,
                       Run& run) {
  out.resize(n_rows);
  struct Largest {
    double g = 0, factor = 0;
    void take(const Largest& other) { g = std::max(g, other.g), factor = std::max(factor, other.factor); }
  };
  std::vector<Largest> largest(static_cast<size_t>(run.n_threads()));
  with_factors(given, [&](const auto factors) {
    for_row_blocks(given, drawn, run, [&](const RowBlock& block) {
      Largest found;
      for_rows_of(block, drawn,
                  [&](size_t, uint32_t row, double g, double) { found.take({std::abs(g), factors.factor(row)}); });
      largest[static_cast<size_t>(block.worker)].take(found);
    });
  });
  Largest all;
  for (const Largest& each : largest) all.take(each);
  // Each square is brought below 1 and counted in parts of 2^-30: those of 2^31 rows stay below 2^62.
  constexpr int bits = 30;
  const int g_top = all.g > 0 ? std::ilogb(all.g) + 1 : 0, factor_top = all.factor > 0 ? std::ilogb(all.factor) + 1 : 0;
  const double g_scale = scale_of(-g_top), factor_scale = scale_of(bits - factor_top);
  for_rows(given, drawn, run, [&](const auto factors, int) {
    return [=, squares = out.data()](size_t, uint32_t row, double g, double) {
      const double part = g * g_scale;
      const auto units = static_cast<int64_t>(round_small(part * part * (factors.factor(row) * factor_scale)));
      squares[row] = {factors.times(row) * units, factors.times(row)};
    };
  });
  const int power = 2 * g_top + factor_top - bits;
  if (given.weight.empty() || given.whole) return {1.0, power};
  int64_t weight = 0;  // in parts of the largest: as the squares, below 2^62
  for (size_t i = 0; i < drawn.size(); ++i)
    weight += static_cast<int64_t>(round_small(given.weight[drawn[i]] * factor_scale));
  return {std::ldexp(static_cast<double>(weight), -bits) / static_cast<double>(drawn.size()), power + factor_top};
}

bool Exponents::may_vanish(int h_power) const {
  // A value counted at e is below 2^e, and at least half of that: from 1 on it rounds to no less than 1 unit.
  const auto below_one_unit = static_cast<std::ptrdiff_t>(std::clamp(1 - h_power - lowest_exponent, 0, n_exponents));
  return zeros || std::any_of(h.begin(), h.begin() + below_one_unit, [](int64_t n) { return n > 0; });
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
