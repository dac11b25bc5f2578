// Growing one tree of rows that pass by in blocks: a pass over all of them applies the splits of many nodes at once and
// adds up the histograms of their children. Which nodes these are:
//
//   depth-wise   all of a level
//   best-first   all that wait, as if each were the next: a node that is split later has its children ready, and one
//                that never is gives them up. The order of splits is that of one node at a time
//
// Of two children one is added up, the other has what is left of their parent's sums. Where `histogram_bytes` do not
// hold the sums of all nodes that wait, fewer nodes share a pass, and both children of a node without sums are added
// up. Rules and search are those of memory (growing_tree.h, column_search.h): only the sums come from elsewhere.
//
// A node of few rows is put aside: its rows can be brought into memory, where the branch grows by itself (Aside).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/pool.h"
#include "core/tree/grow/frontier.h"
#include "core/tree/grow/growing_tree.h"
#include "core/tree/levels/level_plan.h"

namespace weald {

// A node whose branch is to be grown from its rows, and where that hangs in the tree.
struct Aside {
  int32_t number;
  size_t n_rows;
  Place place;
};

class LevelGrower : private GrowingTree {
 public:
  // `aside_rows`: nodes of no more rows are put aside; not where the best of all nodes is next.
  LevelGrower(std::vector<GrowColumn> columns, std::unique_ptr<Statistic> statistic, const GrowOptions& options,
              size_t aside_rows = 0);

  // The next pass. False if the tree is grown: then no histogram is wanted, but `plan` may have splits left to apply.
  bool next(LevelPlan& plan);
  // What the pass has added up: `cells` (histograms, n_cells). `squares`: the unit of those in `totals`.
  void take(const LevelTotals& totals, std::span<int64_t> cells, const RowSquares& squares, Run& run);

  GrownTree finish() { return std::move(tree_); }
  // Those put aside since this was asked last.
  std::vector<Aside> take_aside() { return std::exchange(aside_, {}); }
  // Per number of a node, that of its parent, −1 for the root.
  const std::vector<int32_t>& parents() const { return parent_of_; }
  const Statistic& statistic() const { return *statistic_; }
  // Per number of a node, the leaf of `tree` that its rows are in, counted from the left; −1: they are in none.
  std::vector<int32_t> leaf_of_numbers(const GrownTree& tree) const;

  // int64 of one histogram, and of each column's place in it.
  size_t n_cells() const { return cell_start_.back(); }
  std::span<const size_t> cell_starts() const { return cell_start_; }
  bool counted() const { return counted_; }
  int n_lanes() const { return n_lanes_; }

 private:
  // The children of a node that may be split, made ready by a pass.
  struct Ready {
    GrowNode child[2];
    bool splits[2] = {false, false};
    NodeRecord parent;  // its record with the split
  };

  void begin_root(const LevelTotals& totals, std::span<int64_t> cells, Run& run);
  void order_categories(const LevelTotals& totals, std::span<const int64_t> cells);
  // What is told of the rows of a node.
  static NodeTold told_of(const LevelTotals& totals, int32_t number) {
    return totals.told.empty() ? NodeTold{} : totals.told[static_cast<size_t>(number)];
  }
  bool ends(const GrowNode& node, const LevelTotals& totals) const {
    const NodeTold told = told_of(totals, node.record);
    return is_leaf(node, asks_alike() && told.any && !told.differ);
  }
  void split_ready();
  void plan_node(GrowNode& node, LevelPlan& plan);
  size_t most_histograms() const;
  void fill_children(GrowNode& node, const LevelTotals& totals, std::span<int64_t> cells);
  void search(std::span<GrowNode*> nodes, Run& run);
  void search_drawn(std::span<GrowNode*> nodes, Run& run);
  void search_column(int32_t j, const GrowNode& node, ColumnSearch& search, CategoryRules& rules, Split& best) const;
  void drop_cells(GrowNode& node);
  std::span<int64_t> new_cells(GrowNode& node, std::span<const int64_t> from);

  std::vector<size_t> cell_start_;
  bool ordered_;
  bool all_;  // all columns are searched in every node
  size_t aside_rows_;
  std::vector<Aside> aside_;
  std::vector<TreeOrder> tree_orders_;  // what place_.orders points to
  Frontier<GrowNode> frontier_;
  LevelPlan plan_;
  std::vector<GrowNode*> planned_;
  std::unordered_map<int32_t, Ready> ready_;  // by the record of the node
  size_t kept_cells_ = 0;                     // histograms of nodes that wait
  std::vector<int32_t> parent_of_;            // per number; numbers are records
};

}  // namespace weald
