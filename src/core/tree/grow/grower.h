// Growing one tree in memory, in one call.
//
// A node owns a range of the tree's rows (ascending). Each column of a node is in one of two states, by its own size:
//
//   histogram   rows ≥ 2 · codes: the smaller child's histogram is built, the larger one's is parent − smaller
//   order       fewer rows: the entries (code, row) in code order; made by one sort, then carried down by stable
//               partitions (the range of a node in the entries is its range in the rows)
//
// One parallel region per split, over columns: partition or histogram, then scan, for both children at once. Nodes of
// at most `subtree_rows` rows are put aside and grown afterwards, one thread each, on their own compact copy of the
// rows. When only some columns are drawn per node, nothing is carried: each drawn column is read on its own.
//
// Where there are many classes (ClassRows::compact), a part has the lanes of its own rows alone, and parts of
// its own: what a node costs grows with its rows, not with the classes of the table.
//
// What the grower works with, each in a file of its own:
//
//   GrowingTree    the nodes so far, and the rules by which they are split (growing_tree.h): the base
//   Statistic      what rows add up to, and ColumnSearch, which compares it (statistic.h, column_search.h)
//   Histograms     where the cells of columns lie, and who has memory for them (histograms.h)
//   RowOrders      rows in the order of a dense column (row_orders.h)
//   SparseColumns  always in order: a node has a range of the entries that are not the default code (sparse_columns.h)
//   Items          16-bit statistics of boosting on dense columns, which travel with their rows (items.h)
//   Frontier       which node is split next (frontier.h)
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/tree/grow/columns.h"
#include "core/tree/grow/frontier.h"
#include "core/tree/grow/growing_tree.h"
#include "core/tree/grow/histograms.h"
#include "core/tree/grow/node.h"
#include "core/tree/grow/row_orders.h"
#include "core/tree/grow/sparse_columns.h"
#include "core/tree/grow/statistic.h"
#include "core/tree/grow/workers.h"
#include "core/tree/grow_drawn/columns.h"
#include "core/tree/items/items.h"
#include "core/tree/model/forest.h"
#include "core/tree/options.h"
#include "core/tree/rows/partition.h"
#include "core/tree/split/column_rules.h"

namespace weald {

// What a fit of many trees has for each of them; absent parts are made for the tree.
struct Kept {
  Items* items = nullptr;  // these are the rows
  const SparseOrder* sparse_order = nullptr;
  DenseOrder* dense_order = nullptr;    // filled by the first tree that has all rows
  std::span<const double> scales = {};  // per column, if columns are combined: see combinations.h
  RowSquares squares = {};              // boosting, where some column has many categories
  bool prunes = false;                  // the tree will be pruned: its rows are asked for, items or not
};

class Grower : private GrowingTree {
 public:
  // `ids`: the rows to grow on, ascending, all below n_rows; none if they are items.
  Grower(std::vector<GrowColumn> columns, size_t n_rows, std::vector<uint32_t> ids,
         std::unique_ptr<Statistic> statistic, const GrowOptions& options, Run& run, const Kept& kept = {},
         Place place = {});

  GrownTree grow();

 private:
  struct Aside {
    GrowNode node;
    std::vector<uint32_t> ids;
    std::unique_ptr<Statistic> statistic;  // items only: others are gathered when it is grown
    std::vector<RowSquare> squares;        // of its rows, where they are known; items only, as above
  };

  // grower.cpp: nodes and leaves
  void lay_out_histograms();
  void choose_subtrees();
  void search_and_push(std::span<GrowNode*> children, GrowNode* parent);
  void expand(GrowNode node);
  RowSquare squares_of(const GrowNode& node);
  void square_children(const GrowNode& node, GrowNode* children);
  void add_leaf_means();

  // parting.cpp: the split of a node and the sides of its rows
  size_t part_rows(GrowNode& node, const Router& router, const NodeRecord& record);
  size_t mark_rows(GrowNode& node, const Router& router);
  size_t mark_combined(const GrowNode& node, const NodeRecord& record);

  // search.cpp: the best split of new nodes
  bool in_order(int32_t j, size_t n_rows) const;
  size_t rows_for_histogram(int32_t j) const;
  void search(std::span<GrowNode*> children, GrowNode* parent);
  void search_all(std::span<GrowNode*> children, GrowNode* parent);
  void search_groups(std::span<GrowNode*> children, GrowNode* parent, const std::vector<int32_t>& active);
  void search_columns(std::span<GrowNode*> children, GrowNode* parent, const std::vector<int32_t>& active);
  void search_column(int32_t j, size_t position, std::span<GrowNode*> children, GrowNode* parent, Worker& worker);
  void search_flags(std::span<GrowNode*> children, GrowNode* parent);
  void search_some_flags(size_t first, size_t n, const int64_t* cells, const GrowNode& node, Worker& worker,
                         Split& best);
  void search_sparse(std::span<GrowNode*> children, GrowNode* parent);
  void search_sparse_column(const SparseRange& range, size_t i, std::span<GrowNode*> children, const GrowNode* parent,
                            Worker& worker);
  void take_best(std::span<GrowNode*> children, const std::vector<int32_t>& active);

  // search_drawn.cpp: some columns, or combinations of them, drawn anew in every node
  void search_drawn(GrowNode& node);
  bool search_alone(int32_t j, const GrowNode& node, Worker& worker, Split& best);
  void search_combined(GrowNode& node);
  void search_combination(std::vector<Term> terms, int32_t first, const GrowNode& node, Worker& worker, Split& best);
  double combined_value(std::span<const Term> terms, uint32_t row) const;

  // subtrees.cpp: small nodes, one thread each
  void put_aside(GrowNode&& child);
  void grow_aside();
  GrownTree grow_part(Aside& part);

  std::span<const uint32_t> ids_of(const GrowNode& node) const {
    return items_ != nullptr ? std::span<const uint32_t>{} : std::span(ids_).subspan(node.begin, node.size());
  }
  size_t n_taken() const { return items_ == nullptr ? ids_.size() : items_->size(); }
  size_t cell_stride() const {
    return items_ != nullptr && items_->words() ? 1 : static_cast<size_t>(n_lanes_) + (counted_ ? 1 : 0);
  }
  size_t cells_of(int32_t j) const { return (size_t{column(j).n_codes} + 1) * cell_stride(); }

  size_t n_rows_;
  std::vector<uint32_t> ids_;
  Kept kept_;
  Items* items_;
  bool all_;             // all columns are searched in every node
  bool sparse_ = false;  // some columns are sparse, and not in the tiles
  Search search_;
  Workers workers_;
  Histograms histograms_;
  RowOrders orders_;
  SparseColumns sparse_columns_;
  DrawnColumns drawn_;

  Frontier<GrowNode> frontier_;
  size_t subtree_rows_ = 0;
  std::vector<Aside> aside_;
  std::vector<uint32_t> number_of_;     // per row: its number in the part it was put aside with
  std::vector<TreeOrder> tree_orders_;  // what place_.orders, also of its subtrees, points to
  std::vector<uint8_t> side_;           // per row: 1 if it goes left
  std::vector<uint32_t> id_scratch_;
  std::vector<int32_t> all_columns_;
  std::vector<uint8_t> constant_[2];  // per child and active column
  std::vector<int32_t> position_of_;  // per column: where it is in the active list, −1: nowhere
  size_t flags_start_ = 0;            // where the cells of flags lie in histograms
};

}  // namespace weald
