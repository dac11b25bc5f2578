// Prediction: raw values in, leaves and scores out. A `Predictor` is the Forest laid out for walking: 16 bytes a node,
// leaves that lead to themselves, so that several rows walk in step without asking who has arrived.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/predict/fill_rows.h"
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

class Predictor {
 public:
  // Checks every index of the forest, so that no array, whoever made it, can lead a walk outside.
  explicit Predictor(const ForestView& forest);

  int64_t n_outputs() const { return static_cast<int64_t>(base_score_.size()); }
  int64_t n_trees() const { return static_cast<int64_t>(roots_.size()); }
  int64_t n_columns() const { return n_columns_; }

  // out (n_rows, n_outputs) = base score + Σ trees weight · leaf value, trees in order.
  void scores(const PredictTable& table, double* out, Run& run) const;
  // out (n_rows, n_trees) = node id of the leaf, counted from the first node of its tree.
  void leaves(const PredictTable& table, int32_t* out, Run& run) const;

 private:
  // A row goes to the next node (left) or to `right`. A leaf has threshold −inf and itself as `right`.
  struct Node {
    double threshold;
    int32_t right;
    uint32_t column : 31;
    uint32_t missing_left : 1;
  };
  // The listed codes: as bits where they are dense or few words do, else as they are, to be found by bisection.
  struct CategorySet {
    size_t begin;   // in set_words_
    uint32_t size;  // words
    bool bits;
    bool left;  // whether the listed codes go left
  };
  struct Combination {
    std::vector<int32_t> column;
    std::vector<double> coefficient;
  };

  // What names columns: by their number in the table, or by slot (used_columns.h).
  struct Layout {
    std::vector<Node> nodes;
    std::vector<Combination> combinations;
  };
  struct SlotLayout {
    std::once_flag made;
    Layout layout;
  };

  void check(const ForestView& forest) const;
  void lay_out_sets(const ForestView& forest);
  void lay_out_combinations(const ForestView& forest);
  void lay_out_tree(const ForestView& forest, size_t tree);
  const Layout& by_slot() const;
  bool listed(const CategorySet& set, double value) const;
  template <class Rows>
  bool goes_left(const Layout& layout, int32_t id, const Rows& rows, int64_t i) const;
  template <bool AllNumeric, bool AnyMissing, int Together, class Rows>
  void walk(const Layout& layout, int32_t root, const Rows& rows, int64_t first, int32_t* at) const;
  template <bool AllNumeric, bool AnyMissing, class Rows>
  void walk_rows(const Layout& layout, int32_t root, const Rows& rows, int64_t n, int32_t* at) const;
  template <class Rows>
  void walk_all(const Layout& layout, int32_t root, const Rows& rows, bool any_missing, int64_t n, int32_t* at) const;
  template <class Use>
  void for_blocks(const PredictTable& table, Run& run, Use use) const;

  int64_t n_columns_;
  std::vector<double> base_score_;
  Layout by_column_;
  UsedColumns used_;
  std::unique_ptr<SlotLayout> by_slot_ = std::make_unique<SlotLayout>();  // made when rows are first copied
  std::vector<int32_t> leaf_;                                             // per node: leaf number, −1 for inner nodes
  std::vector<uint8_t> kind_;                                             // per node
  std::vector<int32_t> side_;                                             // per node
  std::vector<int32_t> roots_;                                            // per tree
  std::vector<int32_t> output_;                                           // per tree
  std::vector<double> weight_;                                            // per tree
  std::vector<double> value_;
  int64_t width_;
  std::vector<CategorySet> sets_;
  std::vector<uint32_t> set_words_;  // of all sets, one after another
  bool all_numeric_ = true;
};

}  // namespace weald
