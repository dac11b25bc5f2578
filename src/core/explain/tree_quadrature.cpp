#include "core/explain/tree_quadrature.h"

#include <algorithm>

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
  product.resize(levels * points);
  gain.resize(levels * points);
  sum.resize(levels * points * static_cast<size_t>(width));
  goes_left.resize(levels);
  known.resize(levels);
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

// Ratio or gain of an edge at a point, of each row. `there`: rows that go to the child; `before`: rows that did as the
// path said when it last asked the column.
struct EdgeRows {
  LaneMask there, before;
};

[[gnu::always_inline]] inline EdgeRows edge_rows(const QuadratureTree& tree, const QuadratureStep& step) {
  const LaneMask left = tree.goes_left[static_cast<size_t>(step.level)];
  EdgeRows rows{step.left ? left : ~left, left | ~left};
  if (step.repeated) rows.before = tree.known[static_cast<size_t>(step.before)];
  return rows;
}

[[gnu::always_inline]] inline Lanes broadcast(double value) {
  return Lanes{} + value;
}

[[gnu::always_inline]] inline Lanes ratio_at(const QuadratureTree& tree, const QuadratureStep& step,
                                             const EdgeRows& rows, size_t g) {
  const double* number = tree.coefficient.data() + step.coefficient;
  const size_t points = tree.quadrature.size();
  if (!step.repeated) {
    return rows.there ? broadcast(number[g]) : broadcast(step.share * tree.quadrature.rest[g]);
  }
  const Lanes known = rows.there ? broadcast(number[g]) : broadcast(number[2 * points + g]);
  return rows.before ? known : broadcast(step.share);
}

[[gnu::always_inline]] inline Lanes gain_at(const QuadratureTree& tree, const QuadratureStep& step,
                                            const EdgeRows& rows, size_t g) {
  const double* number = tree.coefficient.data() + step.coefficient;
  const size_t points = tree.quadrature.size();
  if (!step.repeated) return rows.there ? broadcast(number[points + g]) : broadcast(tree.others_gain[g]);
  const Lanes known = rows.there ? broadcast(number[points + g]) : broadcast(number[3 * points + g]);
  return rows.before ? known : broadcast(0.0);
}

// Of the pairs of an edge's column with those that were asked above it: the sums over the points of gain · gain · sum.
[[gnu::always_inline]] inline void add_pairs(const QuadratureTree& tree, const QuadratureStep& step,
                                             const Totals& targets, const Lanes* edge, const Lanes* below,
                                             const double* value, Lanes* totals) {
  const size_t points = tree.quadrature.size();
  for (int32_t level = 1; level <= step.level; ++level) {
    const int32_t other = tree.slot_at[static_cast<size_t>(level)];
    if (other == step.slot) continue;
    const Lanes* above = tree.gain.data() + static_cast<size_t>(level) * points;
    const int64_t target = targets.pair(step.slot, other);
    for (int64_t k = 0; k < tree.width; ++k) {
      Lanes added = broadcast(0.0);
      // Of a leaf `below` is its product, the same for all outputs.
      const Lanes* from = value == nullptr ? below + static_cast<size_t>(k) * points : below;
      for (size_t g = 0; g < points; ++g) added += edge[g] * above[g] * from[g];
      if (value != nullptr) added *= tree.weight * value[k];
      totals[(tree.output + k) * targets.n_targets() + target] += added;
    }
  }
}

template <bool Pairs>
[[gnu::always_inline]] inline void at_leaf(QuadratureTree& tree, const QuadratureStep& step, const Totals& targets,
                                           Lanes* totals) {
  const size_t points = tree.quadrature.size(), level = static_cast<size_t>(step.level);
  const EdgeRows rows = edge_rows(tree, step);
  const Lanes* above = tree.product.data() + level * points;
  Lanes* product = tree.product.data() + (level + 1) * points;
  Lanes* gain = tree.gain.data() + (level + 1) * points;
  const double* value = tree.forest().laid.leaf_value(step.node);
  Lanes added = broadcast(0.0);
  for (size_t g = 0; g < points; ++g) {
    product[g] = above[g] * ratio_at(tree, step, rows, g);
    const Lanes own = gain_at(tree, step, rows, g);
    if constexpr (Pairs) gain[g] = own;
    added += own * product[g];
  }
  for (int64_t k = 0; k < tree.width; ++k) {
    const double scaled = tree.weight * value[k];
    totals[(tree.output + k) * targets.n_targets() + step.slot] += added * scaled;
    Lanes* sum = tree.sum.data() + (level * static_cast<size_t>(tree.width) + static_cast<size_t>(k)) * points;
    if (step.first) {
      for (size_t g = 0; g < points; ++g) sum[g] = product[g] * scaled;
    } else {
      for (size_t g = 0; g < points; ++g) sum[g] += product[g] * scaled;
    }
  }
  if constexpr (Pairs) add_pairs(tree, step, targets, gain, product, value, totals);
}

template <bool Pairs>
[[gnu::always_inline]] inline void at_enter(QuadratureTree& tree, const QuadratureStep& step) {
  const size_t points = tree.quadrature.size(), level = static_cast<size_t>(step.level);
  const EdgeRows rows = edge_rows(tree, step);
  const Lanes* above = tree.product.data() + level * points;
  Lanes* product = tree.product.data() + (level + 1) * points;
  for (size_t g = 0; g < points; ++g) product[g] = above[g] * ratio_at(tree, step, rows, g);
  if constexpr (Pairs) {
    Lanes* gain = tree.gain.data() + (level + 1) * points;
    for (size_t g = 0; g < points; ++g) gain[g] = gain_at(tree, step, rows, g);
    tree.slot_at[level + 1] = step.slot;
  }
  tree.known[level + 1] = rows.there & rows.before;
}

template <bool Pairs>
[[gnu::always_inline]] inline void at_leave(QuadratureTree& tree, const QuadratureStep& step, const Totals& targets,
                                            Lanes* totals) {
  const size_t points = tree.quadrature.size(), level = static_cast<size_t>(step.level);
  const auto width = static_cast<size_t>(tree.width);
  const EdgeRows rows = edge_rows(tree, step);
  const Lanes* below = tree.sum.data() + (level + 1) * width * points;
  for (size_t k = 0; k < width; ++k) {
    const Lanes* from = below + k * points;
    Lanes* sum = tree.sum.data() + (level * width + k) * points;
    Lanes added = broadcast(0.0);
    for (size_t g = 0; g < points; ++g) {
      added += gain_at(tree, step, rows, g) * from[g];
      sum[g] = step.first ? from[g] : sum[g] + from[g];
    }
    totals[(tree.output + static_cast<int64_t>(k)) * targets.n_targets() + step.slot] += added;
  }
  if constexpr (Pairs) {
    add_pairs(tree, step, targets, tree.gain.data() + (level + 1) * points, below, nullptr, totals);
  }
}

template <bool Pairs>
[[gnu::always_inline]] inline void walk_bundle(QuadratureTree& tree, const RowValues& rows, int64_t first,
                                               const Totals& targets, Lanes* totals) {
  for (size_t g = 0; g < tree.quadrature.size(); ++g) tree.product[g] = broadcast(tree.quadrature.weight[g]);
  for (const QuadratureStep& step : tree.steps) {
    switch (step.kind) {
      case QuadratureStep::ask:
        tree.goes_left[static_cast<size_t>(step.level)] = rows.left_lanes(step.node, first);
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

void walk_baseline(QuadratureTree& tree, const RowValues& rows, int64_t first, const Totals& targets, Lanes* totals) {
  targets.pairs() ? walk_bundle<true>(tree, rows, first, targets, totals)
                  : walk_bundle<false>(tree, rows, first, targets, totals);
}
WEALD_TARGET_AVX2 void walk_avx2(QuadratureTree& tree, const RowValues& rows, int64_t first, const Totals& targets,
                                 Lanes* totals) {
  targets.pairs() ? walk_bundle<true>(tree, rows, first, targets, totals)
                  : walk_bundle<false>(tree, rows, first, targets, totals);
}

}  // namespace

void QuadratureTree::add(const RowValues& rows, int64_t first, const Totals& targets, Lanes* totals) {
  (simd_level() == Simd::avx2 ? walk_avx2 : walk_baseline)(*this, rows, first, targets, totals);
}

}  // namespace weald
