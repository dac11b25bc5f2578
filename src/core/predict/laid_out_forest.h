// A forest's arrays, checked and laid out for walking: 16 bytes per node, leaves that lead to themselves, so that
// several rows walk in step without asking who has arrived.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/predict/used_columns.h"

namespace weald {

// The arrays of weald.model.forest that prediction reads.
struct ForestView {
  int64_t n_columns = 0;
  std::span<const double> base_score;
  std::span<const int64_t> tree_start;
  std::span<const int32_t> tree_output;
  std::span<const double> tree_weight;
  std::span<const int32_t> slot;
  std::span<const int32_t> column;
  std::span<const double> threshold;
  std::span<const uint8_t> kind;
  std::span<const uint8_t> missing_left;
  std::span<const int32_t> right;
  std::span<const int32_t> side;
  std::span<const double> value;  // (leaves, width)
  int64_t width = 1;
  std::span<const int64_t> set_start;
  std::span<const uint32_t> set_codes;
  std::span<const uint8_t> set_left;
  std::span<const int64_t> combination_start;
  std::span<const int32_t> combination_column;
  std::span<const double> combination_coefficient;
};

class LaidOutForest {
 public:
  // A row goes to the next node (left) or to `right`. A leaf has threshold −inf and itself as `right`.
  struct Node {
    double threshold;
    int32_t right;
    uint32_t column : 31;
    uint32_t missing_left : 1;
  };
  // The listed codes: as bits where they are dense or few words do, else as they are, to be found by bisection.
  struct CategorySet {
    size_t begin;   // in set_words
    uint32_t size;  // words
    bool bits;
    bool left;  // whether the listed codes go left
  };
  struct Combination {
    std::vector<int32_t> column;
    std::vector<double> coefficient;
  };
  // Nodes that name columns by their number in the table, or by slot (used_columns.h).
  struct Layout {
    std::vector<Node> nodes;
    std::vector<Combination> combinations;
    std::vector<int32_t> column_of_slot;  // how this layout names the columns of UsedColumns
  };

  // Checks every index of the forest, so that no array, whoever made it, can lead a walk outside.
  explicit LaidOutForest(const ForestView& forest);

  int64_t n_outputs() const { return static_cast<int64_t>(base_score.size()); }
  size_t n_trees() const { return roots.size(); }
  bool is_leaf(int32_t node) const { return leaf[static_cast<size_t>(node)] >= 0; }
  const double* leaf_value(int32_t node) const {
    return value.data() + int64_t{leaf[static_cast<size_t>(node)]} * width;
  }
  // The layout by slot, for rows that are copied; made when first asked for, by any thread.
  const Layout& by_slot() const;
  // Whether a set lists this code; 0, the code of no level, is in none.
  bool listed(const CategorySet& set, uint32_t code) const;
  // The largest code it lists; 0 if none.
  uint32_t last_listed(const CategorySet& set) const;

  int64_t n_columns;
  std::vector<double> base_score;
  Layout by_column;
  UsedColumns used;
  std::vector<int32_t> leaf;    // per node: leaf number, −1 for inner nodes
  std::vector<uint8_t> kind;    // per node
  std::vector<int32_t> side;    // per node
  std::vector<int32_t> roots;   // per tree
  std::vector<int32_t> output;  // per tree
  std::vector<double> weight;   // per tree
  std::vector<double> value;
  int64_t width;
  std::vector<CategorySet> sets;
  std::vector<uint32_t> set_words;  // of all sets, one after another
  bool all_numeric = true;

 private:
  struct SlotLayout {
    std::once_flag made;
    Layout layout;
  };

  void check(const ForestView& forest) const;
  void lay_out_sets(const ForestView& forest);
  void lay_out_combinations(const ForestView& forest);
  void lay_out_tree(const ForestView& forest, size_t tree);

  std::unique_ptr<SlotLayout> by_slot_ = std::make_unique<SlotLayout>();
};

// The code that a category split looks for; 0 where the value is no code.
inline uint32_t level_code(double value) {
  return value >= 1 && value <= 0xffffffff ? static_cast<uint32_t>(value) : 0;
}

}  // namespace weald
