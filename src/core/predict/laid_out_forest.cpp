#include "core/predict/laid_out_forest.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "core/base/check.h"
#include "core/tree/model/split_kind.h"

namespace weald {

namespace {

void need(bool holds, const char* what) {
  if (!holds) throw BadInput(std::string("the forest is not valid: ") + what);
}

}  // namespace

LaidOutForest::LaidOutForest(const ForestView& forest) : n_columns(forest.n_columns), width(forest.width) {
  check(forest);
  base_score.assign(forest.base_score.begin(), forest.base_score.end());
  output.assign(forest.tree_output.begin(), forest.tree_output.end());
  weight.assign(forest.tree_weight.begin(), forest.tree_weight.end());
  value.assign(forest.value.begin(), forest.value.end());
  lay_out_sets(forest);
  lay_out_combinations(forest);
  std::vector<int32_t> columns(forest.combination_column.begin(), forest.combination_column.end());
  for (size_t i = 0; i < forest.column.size(); ++i) {
    if (!is(forest.kind[i], SplitKind::combination)) columns.push_back(forest.column[i]);
  }
  used = UsedColumns(std::move(columns));
  by_column.column_of_slot.assign(used.columns().begin(), used.columns().end());
  by_column.nodes.resize(forest.slot.size());
  leaf.assign(forest.slot.size(), -1);
  kind.assign(forest.slot.size(), static_cast<uint8_t>(SplitKind::numeric));
  side.assign(forest.slot.size(), -1);
  for (size_t tree = 0; tree + 1 < forest.tree_start.size(); ++tree) lay_out_tree(forest, tree);
  all_numeric =
      std::all_of(forest.kind.begin(), forest.kind.end(), [](uint8_t each) { return is(each, SplitKind::numeric); });
}

void LaidOutForest::check(const ForestView& f) const {
  const size_t inner = f.column.size();
  const auto n_trees = f.tree_output.size();
  need(f.n_columns >= 0 && f.width >= 1 && !f.base_score.empty(), "shapes");
  need(f.tree_start.size() == n_trees + 1 && f.tree_weight.size() == n_trees, "trees");
  need(f.slot.size() < static_cast<size_t>(std::numeric_limits<int32_t>::max()), "too many nodes");
  need(f.tree_start.front() == 0 && f.tree_start.back() == static_cast<int64_t>(f.slot.size()), "tree starts");
  need(f.threshold.size() == inner && f.kind.size() == inner && f.missing_left.size() == inner &&
           f.right.size() == inner && f.side.size() == inner,
       "inner arrays differ in length");
  need(f.value.size() % static_cast<size_t>(f.width) == 0, "leaf values");
  const auto check_starts = [](std::span<const int64_t> start, size_t n) {
    need(!start.empty() && start.front() == 0 && start.back() == static_cast<int64_t>(n), "side tables");
    need(std::is_sorted(start.begin(), start.end()), "side tables");
  };
  check_starts(f.set_start, f.set_codes.size());
  need(f.set_left.size() + 1 == f.set_start.size(), "category sets");
  for (size_t s = 0; s < f.set_left.size(); ++s) {
    uint32_t before = 0;
    for (auto i = static_cast<size_t>(f.set_start[s]); i < static_cast<size_t>(f.set_start[s + 1]); ++i) {
      need(f.set_codes[i] > before, "the codes of a category set do not ascend from 1");
      before = f.set_codes[i];
    }
  }
  check_starts(f.combination_start, f.combination_column.size());
  need(f.combination_coefficient.size() == f.combination_column.size(), "combinations");
  for (const int32_t column : f.combination_column) need(column >= 0 && column < f.n_columns, "column out of range");
  for (size_t i = 0; i < inner; ++i) {
    const size_t tables = is(f.kind[i], SplitKind::categories) ? f.set_start.size() : f.combination_start.size();
    need(f.kind[i] <= static_cast<uint8_t>(SplitKind::combination), "unknown kind of split");
    need(is(f.kind[i], SplitKind::combination) || (f.column[i] >= 0 && f.column[i] < f.n_columns),
         "column out of range");
    need(is(f.kind[i], SplitKind::numeric) || (f.side[i] >= 0 && static_cast<size_t>(f.side[i]) + 1 < tables),
         "side table");
    need(!std::isnan(f.threshold[i]), "a threshold is NaN");
  }
  for (size_t t = 0; t < n_trees; ++t) {
    need(f.tree_output[t] >= 0 && f.tree_output[t] + f.width <= static_cast<int64_t>(f.base_score.size()), "outputs");
    need(f.tree_start[t] < f.tree_start[t + 1], "a tree without nodes");
  }
}

void LaidOutForest::lay_out_sets(const ForestView& forest) {
  constexpr size_t few_words = 8, words_a_code = 2;
  for (size_t s = 0; s < forest.set_left.size(); ++s) {
    const auto first = static_cast<size_t>(forest.set_start[s]), last = static_cast<size_t>(forest.set_start[s + 1]);
    const auto codes = forest.set_codes.subspan(first, last - first);
    const size_t n_words = codes.empty() ? 0 : (size_t{codes.back()} >> 5) + 1;
    const bool bits = n_words <= std::max(few_words, words_a_code * codes.size());
    const size_t begin = set_words.size(), size = bits ? n_words : codes.size();
    sets.push_back({begin, static_cast<uint32_t>(size), bits, forest.set_left[s] != 0});
    set_words.resize(begin + size, 0);
    uint32_t* words = set_words.data() + begin;
    if (!bits) std::copy(codes.begin(), codes.end(), words);
    for (size_t i = 0; bits && i < codes.size(); ++i) words[codes[i] >> 5] |= uint32_t{1} << (codes[i] & 31);
  }
}

void LaidOutForest::lay_out_combinations(const ForestView& forest) {
  for (size_t c = 0; c + 1 < forest.combination_start.size(); ++c) {
    Combination terms;
    for (auto t = static_cast<size_t>(forest.combination_start[c]);
         t < static_cast<size_t>(forest.combination_start[c + 1]); ++t) {
      terms.column.push_back(forest.combination_column[t]);
      terms.coefficient.push_back(forest.combination_coefficient[t]);
    }
    by_column.combinations.push_back(std::move(terms));
  }
}

// Children always have larger numbers than their parent and stay inside the tree, so every walk ends at a leaf.
void LaidOutForest::lay_out_tree(const ForestView& forest, size_t tree) {
  const auto first = static_cast<int32_t>(forest.tree_start[tree]);
  const auto last = static_cast<int32_t>(forest.tree_start[tree + 1]);
  roots.push_back(first);
  const auto n_leaves = static_cast<int64_t>(forest.value.size()) / width;
  for (int32_t id = first; id < last; ++id) {
    const auto at = static_cast<size_t>(id);
    const int32_t slot = forest.slot[at];
    if (slot < 0) {
      need(~slot < n_leaves, "leaf out of range");
      leaf[at] = ~slot;
      by_column.nodes[at] = {-std::numeric_limits<double>::infinity(), id, 0, 0};
      continue;
    }
    const auto inner = static_cast<size_t>(slot);
    need(inner < forest.column.size(), "inner node out of range");
    const int64_t right = int64_t{first} + forest.right[inner];  // wide: a hostile number must not wrap around
    need(right > id + 1 && right < last, "child out of range");
    kind[at] = forest.kind[inner];
    side[at] = forest.side[inner];
    const int32_t column = is(kind[at], SplitKind::combination) ? 0 : forest.column[inner];
    by_column.nodes[at] = {forest.threshold[inner], static_cast<int32_t>(right),
                           static_cast<uint32_t>(column) & 0x7fffffffU, forest.missing_left[inner] != 0 ? 1U : 0U};
  }
}

const LaidOutForest::Layout& LaidOutForest::by_slot() const {
  if (used.size() == n_columns) return by_column;  // slots are the columns themselves
  std::call_once(by_slot_->made, [&] {
    Layout layout = by_column;
    for (size_t at = 0; at < layout.nodes.size(); ++at) {
      Node& node = layout.nodes[at];
      const bool reads = leaf[at] < 0 && !is(kind[at], SplitKind::combination);
      const int32_t slot = reads ? used.slot(static_cast<int32_t>(node.column)) : 0;
      node.column = static_cast<uint32_t>(slot) & 0x7fffffffU;
    }
    for (Combination& terms : layout.combinations) {
      for (int32_t& column : terms.column) column = used.slot(column);
    }
    std::iota(layout.column_of_slot.begin(), layout.column_of_slot.end(), 0);
    by_slot_->layout = std::move(layout);
  });
  return by_slot_->layout;
}

bool LaidOutForest::listed(const CategorySet& set, uint32_t code) const {
  const uint32_t* words = set_words.data() + set.begin;
  if (!set.bits) return std::binary_search(words, words + set.size, code);
  return (code >> 5) < set.size && ((words[code >> 5] >> (code & 31)) & 1) != 0;
}

uint32_t LaidOutForest::last_listed(const CategorySet& set) const {
  if (set.size == 0) return 0;
  const uint32_t last = set_words[set.begin + set.size - 1];
  if (!set.bits) return last;
  return (set.size - 1) * 32 + static_cast<uint32_t>(std::bit_width(last)) - 1;
}

}  // namespace weald
