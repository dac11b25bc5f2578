// How gradients and hessians become integers: exponents are counted, powers of two chosen from the counts
// (docs/methods/boosting.md, 5 and 6).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/tree/newton/rows.h"
#include "core/tree/statistics/quantise.h"

namespace weald {

inline constexpr size_t newton_row_block = size_t{1} << 12;

using Counts = std::vector<int64_t>;  // per exponent, from lowest_exponent up

struct Exponents {
  Counts g = Counts(n_exponents, 0), h = Counts(n_exponents, 0);
  Counts curvature;  // only where there are such
  bool negative_h = false;
  bool zeros = false;  // some row has no h above 0
  SquareTops tops;     // of rows with weights: of others the highest exponent of g tells all there is to know

  // Whether rows, one or several together, may have sums of 0 in units: some have no h, or one that rounds to 0.
  bool may_vanish(int h_power) const;
  // As square_tops of the same rows, to within the power of two that counts.
  SquareTops square_tops(bool weighted) const;
};

// What a row stands for: `times` rows whose gradients are multiplied by `factor`. A kind of its own for rows without
// weights, whose loops then read nothing of them.
template <bool weighted>
struct RowFactors {
  static constexpr bool has_weights = weighted;
  const double* weight = nullptr;
  bool whole = false;
  double factor(uint32_t row) const {
    if constexpr (weighted) return whole ? 1.0 : weight[row];
    return 1.0;
  }
  int64_t times(uint32_t row) const {
    if constexpr (weighted) return whole ? static_cast<int64_t>(weight[row]) : 1;
    return 1;
  }
  int64_t units(uint32_t row, double value, double scale) const {
    return times(row) * in_units(factor(row) * value, scale);
  }
  // The same of what is below 2^51 in units.
  int64_t small_units(uint32_t row, double value, double scale) const {
    return times(row) * static_cast<int64_t>(round_small(factor(row) * value * scale));
  }
  // Of a small h, but never 0 where h is not: histograms know rows by their sums, sorted entries by their codes, and
  // both are to see the same ones.
  int64_t present_units(uint32_t row, double value, double scale) const {
    return std::max(small_units(row, value, scale), value > 0 ? times(row) : int64_t{0});
  }
};

// Calls f with the factors of the rows.
template <class F>
auto with_factors(const Gradients& given, F&& f) {
  return given.weight.empty() ? f(RowFactors<false>{}) : f(RowFactors<true>{given.weight.data(), given.whole});
}

// Neighbouring rows that were drawn: drawn[begin … end − 1], gradients and hessians counted from first_row on.
struct RowBlock {
  size_t begin, end;
  size_t first_row;
  const double *g, *h;
  int worker;
};

// body(block) for blocks that cover all rows drawn, in parallel.
template <class Body>
void for_row_blocks(const Gradients& given, const DrawnRows& drawn, Run& run, const Body& body) {
  const size_t n_blocks = (drawn.size() + newton_row_block - 1) / newton_row_block;
  parallel_for(run, static_cast<int64_t>(n_blocks), [&](int64_t block, int worker) {
    size_t i = static_cast<size_t>(block) * newton_row_block;
    const size_t last = std::min(drawn.size(), i + newton_row_block);
    if (given.source == nullptr) return body(RowBlock{i, last, 0, given.g.data(), given.h.data(), worker});
    constexpr size_t together = 512;  // rows whose gradients are worked out at once: they stay in the cache
    double g[together], h[together];
    while (i < last) {
      const size_t begin = i, first = drawn[i];
      const size_t n = std::min(together, drawn[last - 1] - first + 1);
      given.source->fill(first, n, g, h);
      while (i < last && drawn[i] < first + n) ++i;
      body(RowBlock{begin, i, first, g, h, worker});
    }
  });
}

// body(i, row, g, h) for row = drawn[i] and its gradient and hessian.
template <class Body>
[[gnu::always_inline]] inline void for_rows_of(const RowBlock& block, const DrawnRows& drawn, const Body& body) {
  const double *const g = block.g, *const h = block.h;
  const size_t begin = block.begin, end = block.end, first = block.first_row;
  if (drawn.ids.empty()) {
    for (size_t i = begin; i < end; ++i) body(i, static_cast<uint32_t>(i), g[i - first], h[i - first]);
    return;
  }
  const uint32_t* const ids = drawn.ids.data();
  for (size_t i = begin; i < end; ++i) body(i, ids[i], g[ids[i] - first], h[ids[i] - first]);
}

// make_body(factors, worker) gives the body of for_rows_of: a copy for every block, so that what it holds can stay in
// registers, where what it writes could otherwise have changed it. In parallel.
template <class MakeBody>
void for_rows(const Gradients& given, const DrawnRows& drawn, Run& run, const MakeBody& make_body) {
  with_factors(given, [&](const auto factors) {
    for_row_blocks(given, drawn, run, [&](const RowBlock& block) {
      const auto body = make_body(factors, block.worker);
      for_rows_of(block, drawn, body);
    });
  });
}

// As count_exponents, for w·v or, with whole weights, v counted w times; over the rows drawn, in parallel.
Exponents count_all(const Gradients& given, const DrawnRows& drawn, Run& run);
// How w g² of a row becomes whole units, when all rows have told their largest.
struct SquareRule {
  double g_scale = 0, factor_scale = 0;
  int power = 0;         // of squares
  int weight_power = 0;  // of the mean weight

  explicit SquareRule(const SquareTops& tops);
  template <class Factors>
  RowSquare of(const Factors& factors, uint32_t row, double g) const {
    const double part = g * g_scale;
    const auto units = static_cast<int64_t>(round_small(part * part * (factors.factor(row) * factor_scale)));
    return {factors.times(row) * units, factors.times(row)};
  }
  // A weight in parts of the largest: those of 2^31 rows stay below 2^62.
  int64_t weight_units(double weight) const { return static_cast<int64_t>(round_small(weight * factor_scale)); }
  // `weight`: what these add up to over so many rows; not read where weights are none or whole.
  SquareUnit unit(bool weighted, int64_t weight, int64_t n_rows) const;
};
SquareTops square_tops(const Gradients& given, const DrawnRows& drawn, Run& run);
// w g² of every row drawn in whole units.
SquareUnit square_rows(const Gradients& given, const DrawnRows& drawn, size_t n_rows, const SquareTops& tops,
                       std::vector<RowSquare>& out, Run& run);
// The largest exponent that was counted.
int highest(const Counts& counts);
// Whether `bits` for the largest value tell the others well enough: those left with fewer than 5 carry under 1 % of
// Σ|v|, and are not most of the values.
bool short_tail(const Counts& counts, int bits);

// The powers of 16 bits scaled by the maximum, or of words whose sums are below 2^31, and whether values suit them.
struct PackedPowers {
  Powers powers;
  bool suits;
};
PackedPowers packed_powers(const Exponents& exponents, bool narrow);

// 2^power as a double; powers of units stay far within its range unless values are near the end of float64's.
inline double scale_of(int power) {
  return std::ldexp(1.0, std::clamp(power, -1022, 1023));
}

}  // namespace weald
