// A tree that is growing: its nodes so far, and the rules by which they are split. The same wherever rows lie, in
// memory (grower.h) or in blocks that pass by (levels/level_grower.h): rows only enter as sums.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/tree/grow/column_search.h"
#include "core/tree/grow/columns.h"
#include "core/tree/grow/node.h"
#include "core/tree/grow/statistic.h"
#include "core/tree/model/forest.h"
#include "core/tree/options.h"
#include "core/tree/rows/partition.h"
#include "core/tree/split/column_rules.h"

namespace weald {

class GrowingTree {
 protected:
  GrowingTree(std::vector<GrowColumn> columns, std::unique_ptr<Statistic> statistic, const GrowOptions& options,
              const RowSquares& squares, Place place);

  const GrowColumn& column(int32_t j) const { return columns_[static_cast<size_t>(j)]; }
  const int64_t* lanes_of(int32_t record) const {
    return tree_.lanes.data() + static_cast<size_t>(record) * static_cast<size_t>(n_lanes_);
  }
  const NodeRecord& record_of(const GrowNode& node) const { return tree_.nodes[static_cast<size_t>(node.record)]; }

  // `ids`: the rows of the node, which a statistic that is more than sums asks for.
  void add_record(const GrowNode& node, std::span<const uint32_t> ids, const int64_t* lanes);
  bool is_leaf(const GrowNode& node, std::span<const uint32_t> ids) const;
  // The same of rows that are elsewhere: `squares` is what theirs add up to. Their means come later.
  void add_told_record(const GrowNode& node, int64_t squares, const int64_t* lanes);
  bool is_leaf(const GrowNode& node, bool rows_alike) const;
  bool asks_alike() const { return statistic_->spread().means || options_.stop_alike; }
  // Fills in what the best split found is worth; false if there is none or it gains too little.
  bool worth_it(GrowNode& node) const;
  // `rules`: where those of a column of categories are kept while it is searched.
  Searched searched_at(int32_t j, const GrowNode& node, CategoryRules& rules) const;
  CategoryRules category_rules(int32_t j, const GrowNode& node) const;
  // Rows the node did not see (missing, absent categories) follow the heavier child, so that a set lists the categories
  // of the lighter one. They stay in the table `listed_` until they are flipped again.
  Router write_split(const GrowNode& node, NodeRecord& record);
  // Sets codes in the table, or clears them again: work for the codes named, not for all of the column.
  void flip_listed(std::span<const uint32_t> codes);
  void begin_child(const GrowNode& node, int side, size_t n_left, GrowNode& child) const;
  // What the children may predict: along a constrained column, the middle between their own predictions parts them.
  void bound_children(const GrowNode& node, GrowNode* children) const;

  std::vector<GrowColumn> columns_;
  std::unique_ptr<Statistic> statistic_;
  const GrowOptions& options_;
  RowSquares row_squares_;
  Place place_;
  ColumnRules column_rules_;
  int n_lanes_;
  bool counted_;  // histograms count rows: min_rows_leaf asks, or lanes of 0 may be rows, and the weight is no count
  void push_record(const GrowNode& node, const int64_t* lanes, double score, double impurity);

  GrownTree tree_;
  int64_t n_leaves_ = 1;
  std::vector<uint64_t> listed_;  // one bit per category, all 0 between splits; grows as needed
};

}  // namespace weald
