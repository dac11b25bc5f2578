#include "core/predict/tops.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "core/tree/model/split_kind.h"

namespace weald {

void CutColumn::prepare() {
  constexpr size_t buckets_a_cut = 4;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const size_t n_cuts = cuts.size();
  const double high = cuts.back() == infinity && n_cuts > 1 ? cuts[n_cuts - 2] : cuts.back();
  const size_t n_buckets = std::bit_ceil(buckets_a_cut * n_cuts);
  const auto last = static_cast<double>(n_buckets - 1);
  buckets = {.low = cuts.front(), .scale = last / (high - cuts.front()), .last = last};
  std::vector<uint32_t> in_bucket(n_buckets, 0);
  for (const double cut : cuts) ++in_bucket[static_cast<size_t>(buckets.of(cut))];
  const auto steps = [](size_t n) { return static_cast<int>(std::bit_width(n)); };
  const int n_steps_of_fullest = steps(*std::ranges::max_element(in_bucket));
  n_steps = steps(n_cuts);
  if (n_steps_of_fullest + 1 < n_steps) {  // finding the bucket costs a step or so itself
    n_steps = n_steps_of_fullest;
    size_t start = 0;
    for (const uint32_t n : in_bucket) {
      bucket_start.push_back(static_cast<uint16_t>(start));
      start += n;
    }
  }
  cuts.resize(n_cuts + (size_t{1} << n_steps), infinity);
}

Tops::Tops(const LaidOutForest& forest) {
  std::vector<int32_t> split_node;  // of each split
  for (size_t tree = 0; tree < forest.n_trees(); ++tree) choose(forest, tree, split_node);
  const size_t largest = lay_out_cuts(forest, split_node);
  if (largest > most_cuts) return;
  code_bytes = largest > 255 ? 2 : 1;
  lay_out_sets(forest, split_node);
  if (!lay_out_answers(forest, split_node)) {
    code_bytes = 0;
    return;
  }
  const auto width = static_cast<size_t>(forest.width);
  exit_value.resize(exit_node.size() * width, 0.0);
  for (size_t t = 0; t < trees.size(); ++t) {
    const TopTree& tree = trees[t];
    for (size_t e = 0; e < tree.n_exits; ++e) {
      const int32_t node = exit_node[tree.first_exit + e];
      if (!forest.is_leaf(node)) continue;
      const double* value = forest.leaf_value(node);
      double* out = exit_value.data() + tree.first_exit * width + e;
      for (size_t k = 0; k < width; ++k) out[k * tree.n_exits] = forest.weight[t] * value[k];
    }
  }
}

// The top of one tree: nodes by level until there are enough ways out, then numbered in preorder.
void Tops::choose(const LaidOutForest& forest, size_t tree, std::vector<int32_t>& split_node) {
  struct Visited {
    int32_t node;
    size_t left = 0, right = 0;  // 0: a way out
  };
  std::vector<Visited> visited{{forest.roots[tree]}};
  // A tree with more leaves is walked to its end in any case: less of a top pays best.
  const size_t after = tree + 1 < forest.n_trees() ? static_cast<size_t>(forest.roots[tree + 1]) : forest.leaf.size();
  const size_t n_leaves = (after - static_cast<size_t>(forest.roots[tree]) + 1) / 2;
  const size_t limit = n_leaves <= most_exits ? most_exits : most_exits / 2;
  size_t n_exits = 1;
  for (size_t at = 0; at < visited.size() && n_exits < limit; ++at) {
    const int32_t node = visited[at].node;
    if (forest.is_leaf(node) || is(forest.kind[static_cast<size_t>(node)], SplitKind::combination)) continue;
    visited[at].left = visited.size();
    visited[at].right = visited.size() + 1;
    visited.push_back({node + 1});
    visited.push_back({forest.by_column.nodes[static_cast<size_t>(node)].right});
    ++n_exits;
  }
  TopTree top{.first_split = splits.size(), .first_exit = exit_node.size()};
  constexpr size_t none = std::numeric_limits<size_t>::max();
  struct Visit {
    size_t at;
    size_t right_of;  // the split whose right child this is
  };
  std::vector<Visit> stack{{0, none}};
  while (!stack.empty()) {
    const auto [at, right_of] = stack.back();
    stack.pop_back();
    const auto [node, left, right] = visited[at];
    const auto first = static_cast<uint16_t>(exit_node.size() - top.first_exit);
    if (right_of != none) splits[right_of].right = first;
    if (left == 0) {
      exit_node.push_back(node);
      top.whole &= forest.is_leaf(node);
      continue;
    }
    stack.push_back({right, splits.size()});
    stack.push_back({left, none});
    splits.push_back({0, 0, first, 0});
    split_node.push_back(node);
  }
  top.n_splits = splits.size() - top.first_split;
  top.n_exits = exit_node.size() - top.first_exit;
  trees.push_back(top);
}

// Returns the number of thresholds of the column that has most, without going on once those are too many.
size_t Tops::lay_out_cuts(const LaidOutForest& forest, const std::vector<int32_t>& split_node) {
  struct Cut {
    int32_t used;
    bool missing_left;
    double threshold;
    size_t split;
  };
  std::vector<Cut> all;
  all.reserve(splits.size());
  for (size_t i = 0; i < splits.size(); ++i) {
    const auto node = static_cast<size_t>(split_node[i]);
    if (!is(forest.kind[node], SplitKind::numeric)) continue;
    const LaidOutForest::Node& from = forest.by_column.nodes[node];
    all.push_back({forest.used.slot(static_cast<int32_t>(from.column)), from.missing_left != 0, from.threshold, i});
  }
  std::ranges::sort(
      all, [](const Cut& a, const Cut& b) { return a.used != b.used ? a.used < b.used : a.threshold < b.threshold; });
  size_t largest = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i == 0 || all[i].used != all[i - 1].used) {
      columns.emplace_back();
      columns.back().used = all[i].used;
    }
    CutColumn& column = columns.back();
    if (column.cuts.empty() || column.cuts.back() != all[i].threshold) column.cuts.push_back(all[i].threshold);
    int32_t& slot = all[i].missing_left ? column.slot_missing_left : column.slot_missing_right;
    if (slot < 0) slot = static_cast<int32_t>(n_cut_slots++);
    largest = std::max(largest, column.cuts.size());
    if (largest > most_cuts) return largest;
    TopSplit& split = splits[all[i].split];
    split.slot = static_cast<uint32_t>(slot);
    split.code = static_cast<uint16_t>(column.cuts.size() - 1);
  }
  for (CutColumn& column : columns) {
    column.prepare();
    coding_steps += column.n_steps + 2;
  }
  return largest;
}

void Tops::lay_out_sets(const LaidOutForest& forest, const std::vector<int32_t>& split_node) {
  for (TopTree& tree : trees) {
    tree.first_set = sets.size();
    for (size_t i = tree.first_split; i < tree.first_split + tree.n_splits; ++i) {
      const auto node = static_cast<size_t>(split_node[i]);
      if (!is(forest.kind[node], SplitKind::categories)) continue;
      const int32_t used = forest.used.slot(static_cast<int32_t>(forest.by_column.nodes[node].column));
      const auto found = std::ranges::find(level_columns, used, &LevelColumn::used);
      const auto level_column = static_cast<uint32_t>(found - level_columns.begin());
      if (found == level_columns.end()) level_columns.push_back({.used = used});
      const auto slot = static_cast<uint32_t>(n_cut_slots + sets.size() - tree.first_set);
      sets.push_back({slot, level_column, 0});
      splits[i].slot = slot;
      splits[i].code = code_bytes == 1 ? 128 : 32768;  // stored as 0; the answers are 0 and 1
    }
    tree.n_sets = sets.size() - tree.first_set;
    n_set_slots = std::max(n_set_slots, tree.n_sets);
  }
}

// False if the answers would take too much memory.
bool Tops::lay_out_answers(const LaidOutForest& forest, const std::vector<int32_t>& split_node) {
  std::vector<size_t> set_nodes;
  for (const int32_t node : split_node) {
    if (is(forest.kind[static_cast<size_t>(node)], SplitKind::categories))
      set_nodes.push_back(static_cast<size_t>(node));
  }
  const auto set_of = [&](size_t i) { return forest.sets[static_cast<size_t>(forest.side[set_nodes[i]])]; };
  for (size_t i = 0; i < sets.size(); ++i) {
    const uint32_t last = forest.last_listed(set_of(i));
    if (last >= most_answers) return false;
    uint32_t& others = level_columns[sets[i].level_column].others;
    others = std::max(others, last + 1);
  }
  size_t n_answers = 0;
  for (SetSplit& split : sets) {
    split.first_answer = n_answers;
    n_answers += level_columns[split.level_column].others + 1;
    if (n_answers > most_answers) return false;
  }
  answers.resize(n_answers);
  for (size_t i = 0; i < sets.size(); ++i) {
    const LaidOutForest::CategorySet set = set_of(i);
    uint8_t* right = answers.data() + sets[i].first_answer;
    std::fill_n(right, level_columns[sets[i].level_column].others + 1, static_cast<uint8_t>(set.left ? 1 : 0));
    const uint32_t last = forest.last_listed(set);
    for (uint32_t code = 1; code <= last; ++code) {
      if (forest.listed(set, code)) right[code] = set.left ? 0 : 1;
    }
    right[0] = forest.by_column.nodes[set_nodes[i]].missing_left != 0 ? 0 : 1;
  }
  coding_steps += 3 * static_cast<int64_t>(level_columns.size());
  return true;
}

}  // namespace weald
