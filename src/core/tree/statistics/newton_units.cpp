#include "core/tree/statistics/newton_units.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

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
  to.tops.take(part.tops);
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
    SquareTops tops;
    for_rows_of(block, drawn, [&](size_t i, uint32_t row, double g, double h) {
      const double factor = factors.factor(row);
      const int64_t times = factors.times(row);
      count(factor * g, times, g_counts[i % most_series]);
      if constexpr (std::decay_t<decltype(factors)>::has_weights) tops.take({std::abs(g), factor});
      if constexpr (counts_h) {
        count(factor * h, times, h_counts[i % most_series]);
        negative |= h < 0;
        zeros |= !(h > 0);
      }
    });
    mine->negative_h |= negative;
    mine->zeros |= zeros;
    mine->tops.take(tops);
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

namespace {

// Each square is brought below 1 and counted in parts of 2^-30: those of 2^31 rows stay below 2^62.
constexpr int square_bits = 30;

}  // namespace

SquareRule::SquareRule(const SquareTops& tops) {
  const int g_top = tops.g > 0 ? std::ilogb(tops.g) + 1 : 0;
  const int factor_top = tops.factor > 0 ? std::ilogb(tops.factor) + 1 : 0;
  g_scale = scale_of(-g_top);
  factor_scale = scale_of(square_bits - factor_top);
  power = 2 * g_top + factor_top - square_bits;
  weight_power = factor_top;
}

SquareUnit SquareRule::unit(bool weighted, int64_t weight, int64_t n_rows) const {
  if (!weighted) return {1.0, power};
  return {std::ldexp(static_cast<double>(weight), -square_bits) / static_cast<double>(n_rows), power + weight_power};
}

SquareTops square_tops(const Gradients& given, const DrawnRows& drawn, Run& run) {
  std::vector<SquareTops> tops(static_cast<size_t>(run.n_threads()));
  with_factors(given, [&](const auto factors) {
    for_row_blocks(given, drawn, run, [&](const RowBlock& block) {
      SquareTops found;
      for_rows_of(block, drawn,
                  [&](size_t, uint32_t row, double g, double) { found.take({std::abs(g), factors.factor(row)}); });
      tops[static_cast<size_t>(block.worker)].take(found);
    });
  });
  SquareTops all;
  for (const SquareTops& each : tops) all.take(each);
  return all;
}

SquareUnit square_rows(const Gradients& given, const DrawnRows& drawn, size_t n_rows, const SquareTops& tops,
                       std::vector<RowSquare>& out, Run& run) {
  out.resize(n_rows);
  const SquareRule rule(tops);
  for_rows(given, drawn, run, [&](const auto factors, int) {
    return
        [=, squares = out.data()](size_t, uint32_t row, double g, double) { squares[row] = rule.of(factors, row, g); };
  });
  const bool weighted = !given.weight.empty() && !given.whole;
  int64_t weight = 0;
  for (size_t i = 0; weighted && i < drawn.size(); ++i) weight += rule.weight_units(given.weight[drawn[i]]);
  return rule.unit(weighted, weight, static_cast<int64_t>(drawn.size()));
}

bool Exponents::may_vanish(int h_power) const {
  // A value counted at e is below 2^e, and at least half of that: from 1 on it rounds to no less than 1 unit.
  const auto below_one_unit = static_cast<std::ptrdiff_t>(std::clamp(1 - h_power - lowest_exponent, 0, n_exponents));
  return zeros || std::any_of(h.begin(), h.begin() + below_one_unit, [](int64_t n) { return n > 0; });
}

SquareTops Exponents::square_tops(bool weighted) const {
  if (weighted) return tops;
  const bool any = std::any_of(g.begin(), g.end(), [](int64_t n) { return n > 0; });
  return {any ? std::ldexp(0.5, highest(g)) : 0.0, 1.0};
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

PackedPowers packed_powers(const Exponents& exponents, bool narrow) {
  constexpr int g_bits = 15, h_bits = 16;
  constexpr int word_spare = 32;  // sums below 2^30, and room for those that present_units adds
  const int g_top = highest(exponents.g), h_top = highest(exponents.h);
  const Powers powers = narrow ? Powers{g_bits - g_top, h_bits - h_top}
                               : Powers{common_power(exponents.g, word_spare), common_power(exponents.h, word_spare)};
  return {powers, short_tail(exponents.g, powers.g + g_top) && short_tail(exponents.h, powers.h + h_top)};
}

}  // namespace weald
