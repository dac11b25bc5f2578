// The one options record of the grower.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace weald {

enum class Search : int { automatic = 0, histogram = 1, order = 2 };

struct GrowOptions {
  int64_t max_depth = std::numeric_limits<int64_t>::max();
  int64_t min_rows_split = 2;
  int64_t min_rows_leaf = 1;
  int64_t min_weight_leaf = 0;  // in units of the weight lane
  int64_t max_leaves = 0;       // 0 = no limit, depth-first; else best-first
  double min_decrease = 0;      // a split whose gain / total weight is below it is not made
  double min_gain = 0;          // a split of a smaller gain, in real units, is not made
  bool must_gain = false;       // a split of gain ≤ 0 is never made (Newton); else it is (XOR needs it)
  int64_t max_columns = 0;      // columns drawn per node; 0 = all
  uint64_t seed = 0;
  int64_t combined_columns = 0;  // columns of a linear combination; 0: none. Then max_columns candidates are tried
  bool random = false;           // one candidate per column, drawn (split/random.h)
  bool random_ties = false;      // of columns that part a node equally well, one by chance (ties.h)
  std::vector<int8_t> monotone;  // per column: predictions rise (1), fall (−1) along it; empty: no constraint
  // Boosting: which columns a tree, a level and a node may use (column_rules.h).
  std::vector<int32_t> columns;                    // of this tree, ascending; empty: all
  int64_t level_columns = 0;                       // drawn for every level among those; 0: all
  int64_t node_columns = 0;                        // drawn for every node among its level's; 0: all
  std::vector<double> column_weights;              // chance of each column to be drawn; empty: equal
  std::vector<std::vector<int32_t>> interactions;  // sets of columns that may meet on a path; empty: any may
  uint32_t one_hot_categories = 0;                 // a column of fewer categories splits one of them from the rest
  uint32_t max_categories = 0;                     // most categories on the smaller side of a split; 0: any number
  double rare_rows = 0;                            // a category of fewer rows is not listed
  double group_rows = 0;                           // rows that change sides between two candidates
  // Forests: a split by categories is judged by its gain less so many times what its categories gain by chance.
  double category_chance = 0;
  bool chance_within = false;    // which the spread within categories then tells (docs/methods/trees.md, 8a)
  size_t free_categories = 1;    // of those, so many are not counted
  bool tree_orders = false;      // and categories are split in the order of the whole tree too (tree_orders.h)
  bool level_by_level = false;   // max_leaves cuts off the deepest nodes, not those of least gain
  bool leaf_means_only = false;  // of inner nodes, means and lanes are not asked for
  int64_t value_bytes = std::numeric_limits<int64_t>::max();  // that the shares of leaves may take, in all trees
  Search search = Search::automatic;
  int64_t histogram_bytes = int64_t{1} << 30;  // above it, histograms are rebuilt instead of kept: same integers
  // Boosting by stages.
  double rare_weight = 0;   // a category of less weight, in units of its lane, is not listed
  bool stop_alike = false;  // a node whose rows are alike is a leaf; with targets it always is
};

}  // namespace weald
