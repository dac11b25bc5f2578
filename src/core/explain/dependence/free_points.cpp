#include "core/explain/dependence/free_points.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/tree/model/split_kind.h"

namespace weald {

FreePoints::FreePoints(const LaidOutForest& forest, TreeRange trees, std::vector<FreeColumn> columns)
    : columns_(std::move(columns)),
      by_set_(columns_.size(), 0),
      reads_(forest.n_trees(), 0),
      nodes_(forest.leaf.size()) {
  std::vector<int32_t> free_column(static_cast<size_t>(forest.n_columns), -1);
  for (size_t f = 0; f < columns_.size(); ++f) {
    const FreeColumn& column = columns_[f];
    require(column.column >= 0 && column.column < forest.n_columns, "a column of the model");
    require(free_column[static_cast<size_t>(column.column)] < 0, "a column is set free once");
    free_column[static_cast<size_t>(column.column)] = static_cast<int32_t>(f);
    n_points_.push_back(static_cast<int64_t>(column.values.size()) + (column.missing ? 1 : 0));
  }
  const auto first = static_cast<size_t>(trees.size() > 0 ? forest.roots[trees.first] : 0);
  const size_t last =
      trees.last < forest.n_trees() ? static_cast<size_t>(forest.roots[trees.last]) : forest.leaf.size();
  for (size_t node = first; trees.size() > 0 && node < last; ++node) {
    require(!is(forest.kind[node], SplitKind::combination), "splits read one column each");
    const LaidOutForest::Node& split = forest.by_column.nodes[node];
    const int32_t free = forest.leaf[node] >= 0 ? -1 : free_column[split.column];
    nodes_[node] = {split.right, free, 0};
    if (free >= 0 && is(forest.kind[node], SplitKind::categories)) by_set_[static_cast<size_t>(free)] = 1;
  }
  for (size_t f = 0; f < columns_.size(); ++f) {
    const auto n = static_cast<int32_t>(columns_[f].values.size());
    require(by_set_[f] != 0 || std::ranges::is_sorted(columns_[f].values), "points ascend");
    if (by_set_[f] == 0) {
      whole_.push_back({0, n, columns_[f].missing, n_points_[f] > 0, 0});
      continue;
    }
    std::vector<uint64_t> bits(static_cast<size_t>(n_words(f)), 0);
    for (int64_t p = 0; p < n_points_[f]; ++p) bits[static_cast<size_t>(p / 64)] |= uint64_t{1} << (p % 64);
    whole_.push_back(with_words(f, bits));
  }
  for (size_t tree = trees.first; tree < trees.last; ++tree) add_tree(forest, tree);
}

// Preorder; on the way down each column's points are those that the last split on it has left.
void FreePoints::add_tree(const LaidOutForest& forest, size_t tree) {
  struct Step {
    int32_t node;
    bool leave;  // the second time: what was above holds again
    int32_t free;
    PointPart above;
  };
  std::vector<PointPart> now = whole_;
  std::vector<Step> steps{{forest.roots[tree], false, -1, {}}};
  while (!steps.empty()) {
    const Step step = steps.back();
    steps.pop_back();
    if (step.free >= 0) now[static_cast<size_t>(step.free)] = step.above;
    if (step.leave || forest.is_leaf(step.node)) continue;
    const auto [right, free, unknown] = node(step.node);
    if (free < 0) {
      steps.push_back({right, false, -1, {}});
      steps.push_back({step.node + 1, false, -1, {}});
      continue;
    }
    reads_[tree] = 1;
    const PointPart above = now[static_cast<size_t>(free)];
    add_split(forest, step.node, static_cast<size_t>(free), above);
    // A step sets what holds below it before it is taken.
    steps.push_back({step.node, true, free, above});
    steps.push_back({right, false, free, this->right(node(step.node))});
    steps.push_back({step.node + 1, false, free, left(node(step.node))});
  }
}

void FreePoints::add_split(const LaidOutForest& forest, int32_t id, size_t free, const PointPart& above) {
  const FreeColumn& column = columns_[free];
  const auto at = static_cast<size_t>(id);
  const LaidOutForest::Node& split = forest.by_column.nodes[at];
  nodes_[at].parts = static_cast<int32_t>(parts_.size() / 2);
  const auto n = static_cast<int32_t>(column.values.size());
  const bool missing_left = split.missing_left != 0;
  if (by_set_[free] == 0) {
    const auto cut =
        static_cast<int32_t>(std::ranges::upper_bound(column.values, split.threshold) - column.values.begin());
    PointPart low{above.low, std::clamp(cut, above.low, above.high), above.missing && missing_left, false, 0};
    PointPart high{low.high, above.high, above.missing && !missing_left, false, 0};
    low.any = low.low < low.high || low.missing;
    high.any = high.low < high.high || high.missing;
    parts_.push_back(low);
    parts_.push_back(high);
    return;
  }
  const auto words = static_cast<size_t>(n_words(free));
  std::vector<uint64_t> low(words, 0), high(words, 0);
  for (int32_t p = 0; p < n_points_[free]; ++p) {
    const auto word = static_cast<size_t>(p / 64);
    const uint64_t bit = uint64_t{1} << (p % 64);
    if ((words_[static_cast<size_t>(above.first_word) + word] & bit) == 0) continue;
    bool goes_left = missing_left;
    if (p < n) {
      const double value = column.values[static_cast<size_t>(p)];
      goes_left = value <= split.threshold;
      if (is(forest.kind[at], SplitKind::categories)) {
        const LaidOutForest::CategorySet& set = forest.sets[static_cast<size_t>(forest.side[at])];
        goes_left = forest.listed(set, level_code(value)) == set.left;
      }
    }
    (goes_left ? low : high)[word] |= bit;
  }
  const PointPart first = with_words(free, low), second = with_words(free, high);
  parts_.push_back(first);
  parts_.push_back(second);
}

PointPart FreePoints::with_words(size_t free, std::span<const uint64_t> bits) {
  PointPart part;
  part.first_word = static_cast<int64_t>(words_.size());
  part.any = std::ranges::any_of(bits, [](uint64_t each) { return each != 0; });
  words_.insert(words_.end(), bits.begin(), bits.end());
  require(static_cast<int64_t>(bits.size()) == n_words(free), "as many words as points need");
  return part;
}

void FreePoints::integrate(size_t free, double* points, int64_t stride, int64_t lanes) const {
  if (by_set_[free] != 0) return;
  const auto n = static_cast<int64_t>(columns_[free].values.size());
  for (int64_t p = 1; p < n; ++p) {
    const double* last = points + (p - 1) * stride;
    double* to = points + p * stride;
    for (int64_t i = 0; i < lanes; ++i) to[i] += last[i];
  }
}

}  // namespace weald
