#include "core/explain/tree_quadrature.h"

#include <algorithm>
#include <bit>

#include "core/base/simd.h"

namespace weald {

void QuadratureTree::prepare(size_t tree) {
  const int64_t n_points = points_of_columns(forest_.most_columns[tree]);
  if (quadrature.size() != static_cast<size_t>(n_points)) {
    quadrature = gauss_legendre(n_points);
    others_gain.clear();
    for (const double rest : quadrature.rest) others_gain.push_back(-1 / rest);
  }
  steps.clear();
  coefficient.clear();
  last_level_.assign(static_cast<size_t>(forest_.laid.used.size()), 0);
  const auto levels = static_cast<size_t>(forest_.depth[tree]) + 1;
  share_at_.assign(levels, 1.0);
  weight = forest_.laid.weight[tree];
  output = forest_.laid.output[tree];
  width = forest_.laid.width;
  const size_t points = quadrature.size();
  constexpr auto rows = static_cast<size_t>(bundle_rows);
  product.resize(levels * points * rows);
  gain.resize(levels * points * rows);
  sum.resize(levels * points * static_cast<size_t>(width) * rows);
  goes_left.resize(levels * rows);
  known.resize(levels * rows);
  slot_at.assign(levels, -1);
  const int32_t root = forest_.laid.roots[tree];
  if (!forest_.laid.is_leaf(root)) lay_out(root, 0);
}

void QuadratureTree::lay_out(int32_t node, int32_t level) {
  steps.push_back({QuadratureStep::ask, false, false, false, level, node, forest_.slot(node), 0, 1.0, 0});
  add_edge(node, level, true, true);
  add_edge(node, level, false, false);
}

void QuadratureTree::add_edge(int32_t node, int32_t level, bool left, bool first) {
  const int32_t child = forest_.child(node, left), slot = forest_.slot(node);
  int32_t& last = last_level_[static_cast<size_t>(slot)];
  const int32_t before = last;
  const bool repeated = before > 0;
  const double old = repeated ? share_at_[static_cast<size_t>(before)] : 1.0;
  const double share = forest_.share_of(child), merged = old * share;
  QuadratureStep step{QuadratureStep::enter,
                      left,
                      repeated,
                      first,
                      level,
                      child,
                      slot,
                      before,
                      share,
                      static_cast<int64_t>(coefficient.size())};
  const size_t points = quadrature.size(), at = coefficient.size();
  coefficient.resize(at + points * (repeated ? 4 : 2));
  for (size_t g = 0; g < points; ++g) {
    const double t = quadrature.point[g], rest = quadrature.rest[g];
    const double factor = merged + (1 - merged) * t, factor_before = old + (1 - old) * t;
    const double gain_before = (1 - old) / factor_before;
    coefficient[at + g] = factor / factor_before;
    coefficient[at + points + g] = (1 - merged) / factor - gain_before;
    if (!repeated) continue;
    coefficient[at + 2 * points + g] = merged * rest / factor_before;
    coefficient[at + 3 * points + g] = others_gain[g] - gain_before;
  }
  if (forest_.laid.is_leaf(child)) {
    step.kind = QuadratureStep::leaf;
    steps.push_back(step);
    return;
  }
  steps.push_back(step);
  share_at_[static_cast<size_t>(level) + 1] = merged;
  last = level + 1;
  lay_out(child, level + 1);
  last_level_[static_cast<size_t>(slot)] = before;
  step.kind = QuadratureStep::leave;
  steps.push_back(step);
}

namespace {

constexpr auto lanes = static_cast<size_t>(bundle_rows);

// A number of an edge at a point: of rows that go to the left child, of those that go to the right one, and of those
// that did not do as the path said when it last asked the column.
struct EdgeNumber {
  double left, right, out;
};

[[gnu::always_inline]] inline EdgeNumber ratio_at(const QuadratureTree& tree, const QuadratureStep& step, size_t g) {
  const double* number = tree.coefficient.data() + step.coefficient;
  const size_t points = tree.quadrature.size();
  const double there = number[g];
  const double elsewhere = step.repeated ? number[2 * points + g] : step.share * tree.quadrature.rest[g];
  return {step.left ? there : elsewhere, step.left ? elsewhere : there, step.share};
}

[[gnu::always_inline]] inline EdgeNumber gain_at(const QuadratureTree& tree, const QuadratureStep& step, size_t g) {
  const double* number = tree.coefficient.data() + step.coefficient;
  const size_t points = tree.quadrature.size();
  const double there = number[points + g];
  const double elsewhere = step.repeated ? number[3 * points + g] : tree.others_gain[g];
  return {step.left ? there : elsewhere, step.left ? elsewhere : there, 0.0};
}

// `before` is null where the path asks the column for the first time.
struct EdgeRows {
  const int64_t* left;
  const int64_t* before;
};

[[gnu::always_inline]] inline EdgeRows edge_rows(const QuadratureTree& tree, const QuadratureStep& step) {
  const int64_t* before = tree.known.data() + static_cast<size_t>(step.before) * lanes;
  return {tree.goes_left.data() + static_cast<size_t>(step.level) * lanes, step.repeated ? before : nullptr};
}

// a where all bits of the mask are set, b where none is; without a branch.
[[gnu::always_inline]] inline double pick(int64_t mask, double a, double b) {
  return std::bit_cast<double>((std::bit_cast<int64_t>(a) & mask) | (std::bit_cast<int64_t>(b) & ~mask));
}

// out = the number of each row.
[[gnu::always_inline]] inline void choose(const EdgeNumber& number, const EdgeRows& rows, double* out) {
  if (rows.before == nullptr) {
#pragma GCC ivdep
#pragma GCC unroll 1
    for (size_t r = 0; r < lanes; ++r) out[r] = pick(rows.left[r], number.left, number.right);
  } else {
#pragma GCC ivdep
#pragma GCC unroll 1
    for (size_t r = 0; r < lanes; ++r) {
      out[r] = pick(rows.before[r], pick(rows.left[r], number.left, number.right), number.out);
    }
  }
}

// Of the pairs of an edge's column with those that were asked above it: the sums over the points of gain · gain · sum.
// Of a leaf `below` is its product, the same for all outputs, and `value` what it says; else that is null.
[[gnu::always_inline]] inline void add_pairs(const QuadratureTree& tree, const QuadratureStep& step,
                                             const Totals& targets, const double* below, const double* value,
                                             double* totals) {
  const size_t points = tree.quadrature.size();
  const double* edge = tree.gain.data() + static_cast<size_t>(step.level + 1) * points * lanes;
  for (int32_t level = 1; level <= step.level; ++level) {
    const int32_t other = tree.slot_at[static_cast<size_t>(level)];
    if (other == step.slot) continue;
    const double* above = tree.gain.data() + static_cast<size_t>(level) * points * lanes;
    const int64_t target = targets.pair(step.slot, other);
    for (int64_t k = 0; k < tree.width; ++k) {
      double added[lanes] = {};
      const double* from = value == nullptr ? below + static_cast<size_t>(k) * points * lanes : below;
      for (size_t g = 0; g < points; ++g) {
#pragma GCC ivdep
#pragma GCC unroll 1
        for (size_t r = 0; r < lanes; ++r) {
          added[r] += edge[g * lanes + r] * above[g * lanes + r] * from[g * lanes + r];
        }
      }
      const double scale = value == nullptr ? 1.0 : tree.weight * value[k];
      double* to = totals + ((tree.output + k) * targets.n_targets() + target) * bundle_rows;
#pragma GCC ivdep
#pragma GCC unroll 1
      for (size_t r = 0; r < lanes; ++r) to[r] += added[r] * scale;
    }
  }
}

template <bool Pairs>
[[gnu::always_inline]] inline void at_leaf(QuadratureTree& tree, const QuadratureStep& step, const Totals& targets,
                                           double* totals) {
  const size_t points = tree.quadrature.size(), level = static_cast<size_t>(step.level);
  const EdgeRows rows = edge_rows(tree, step);
  const double* above = tree.product.data() + level * points * lanes;
  double* product = tree.product.data() + (level + 1) * points * lanes;
  const double* value = tree.forest().laid.leaf_value(step.node);
  double added[lanes] = {}, ratio[lanes], gain[lanes];
  for (size_t g = 0; g < points; ++g) {
    choose(ratio_at(tree, step, g), rows, ratio);
    choose(gain_at(tree, step, g), rows, gain);
#pragma GCC ivdep
#pragma GCC unroll 1
    for (size_t r = 0; r < lanes; ++r) {
      product[g * lanes + r] = above[g * lanes + r] * ratio[r];
      added[r] += gain[r] * product[g * lanes + r];
    }
    if constexpr (Pairs) std::copy_n(gain, lanes, tree.gain.data() + ((level + 1) * points + g) * lanes);
  }
  for (int64_t k = 0; k < tree.width; ++k) {
    const double scaled = tree.weight * value[k];
    double* to = totals + ((tree.output + k) * targets.n_targets() + step.slot) * bundle_rows;
#pragma GCC ivdep
#pragma GCC unroll 1
    for (size_t r = 0; r < lanes; ++r) to[r] += added[r] * scaled;
    double* sum = tree.sum.data() + (level * static_cast<size_t>(tree.width) + static_cast<size_t>(k)) * points * lanes;
    if (step.first) {
#pragma GCC ivdep
#pragma GCC unroll 1
      for (size_t i = 0; i < points * lanes; ++i) sum[i] = product[i] * scaled;
    } else {
#pragma GCC ivdep
#pragma GCC unroll 1
      for (size_t i = 0; i < points * lanes; ++i) sum[i] += product[i] * scaled;
    }
  }
  if constexpr (Pairs) add_pairs(tree, step, targets, product, value, totals);
}

template <bool Pairs>
[[gnu::always_inline]] inline void at_enter(QuadratureTree& tree, const QuadratureStep& step) {
  const size_t points = tree.quadrature.size(), level = static_cast<size_t>(step.level);
  const EdgeRows rows = edge_rows(tree, step);
  const double* above = tree.product.data() + level * points * lanes;
  double* product = tree.product.data() + (level + 1) * points * lanes;
  double ratio[lanes];
  for (size_t g = 0; g < points; ++g) {
    choose(ratio_at(tree, step, g), rows, ratio);
#pragma GCC ivdep
#pragma GCC unroll 1
    for (size_t r = 0; r < lanes; ++r) product[g * lanes + r] = above[g * lanes + r] * ratio[r];
    if constexpr (Pairs) {
      choose(gain_at(tree, step, g), rows, tree.gain.data() + ((level + 1) * points + g) * lanes);
    }
  }
  if constexpr (Pairs) tree.slot_at[level + 1] = step.slot;
  int64_t* known = tree.known.data() + (level + 1) * lanes;
  const int64_t flip = step.left ? 0 : -1;
#pragma GCC ivdep
#pragma GCC unroll 1
  for (size_t r = 0; r < lanes; ++r) known[r] = rows.left[r] ^ flip;
  for (size_t r = 0; rows.before != nullptr && r < lanes; ++r) known[r] &= rows.before[r];
}

template <bool Pairs>
[[gnu::always_inline]] inline void at_leave(QuadratureTree& tree, const QuadratureStep& step, const Totals& targets,
                                            double* totals) {
  const size_t points = tree.quadrature.size(), level = static_cast<size_t>(step.level);
  const auto width = static_cast<size_t>(tree.width);
  const EdgeRows rows = edge_rows(tree, step);
  const double* below = tree.sum.data() + (level + 1) * width * points * lanes;
  for (size_t k = 0; k < width; ++k) {
    const double* from = below + k * points * lanes;
    double* sum = tree.sum.data() + (level * width + k) * points * lanes;
    double added[lanes] = {}, gain[lanes];
    for (size_t g = 0; g < points; ++g) {
      choose(gain_at(tree, step, g), rows, gain);
#pragma GCC ivdep
#pragma GCC unroll 1
      for (size_t r = 0; r < lanes; ++r) added[r] += gain[r] * from[g * lanes + r];
    }
    if (step.first) {
#pragma GCC ivdep
#pragma GCC unroll 1
      for (size_t i = 0; i < points * lanes; ++i) sum[i] = from[i];
    } else {
#pragma GCC ivdep
#pragma GCC unroll 1
      for (size_t i = 0; i < points * lanes; ++i) sum[i] += from[i];
    }
    double* to = totals + ((tree.output + static_cast<int64_t>(k)) * targets.n_targets() + step.slot) * bundle_rows;
#pragma GCC ivdep
#pragma GCC unroll 1
    for (size_t r = 0; r < lanes; ++r) to[r] += added[r];
  }
  if constexpr (Pairs) add_pairs(tree, step, targets, below, nullptr, totals);
}

template <bool Pairs>
[[gnu::always_inline]] inline void walk_bundle(QuadratureTree& tree, const RowValues& rows, int64_t first,
                                               const Totals& targets, double* totals) {
  for (size_t i = 0; i < tree.quadrature.size() * lanes; ++i) tree.product[i] = tree.quadrature.weight[i / lanes];
  for (const QuadratureStep& step : tree.steps) {
    switch (step.kind) {
      case QuadratureStep::ask:
        rows.left_masks(step.node, first, tree.goes_left.data() + static_cast<size_t>(step.level) * lanes);
        break;
      case QuadratureStep::enter:
        at_enter<Pairs>(tree, step);
        break;
      case QuadratureStep::leave:
        at_leave<Pairs>(tree, step, targets, totals);
        break;
      case QuadratureStep::leaf:
        at_leaf<Pairs>(tree, step, targets, totals);
        break;
    }
  }
}

void walk_baseline(QuadratureTree& tree, const RowValues& rows, int64_t first, const Totals& targets, double* totals) {
  targets.pairs() ? walk_bundle<true>(tree, rows, first, targets, totals)
                  : walk_bundle<false>(tree, rows, first, targets, totals);
}
WEALD_TARGET_AVX2 void walk_avx2(QuadratureTree& tree, const RowValues& rows, int64_t first, const Totals& targets,
                                 double* totals) {
  targets.pairs() ? walk_bundle<true>(tree, rows, first, targets, totals)
                  : walk_bundle<false>(tree, rows, first, targets, totals);
}

}  // namespace

void QuadratureTree::add(const RowValues& rows, int64_t first, const Totals& targets, double* totals) {
  (simd_level() == Simd::avx2 ? walk_avx2 : walk_baseline)(*this, rows, first, targets, totals);
}

}  // namespace weald
