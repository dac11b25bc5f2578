// One tree of classes or of means whose rows pass by in blocks. The tree of kinds/tree.h on the same rows, to the bit:
//
//   while next():  add every block in the order of rows, take()
//   finish()
//
// A pass applies the splits of the level before and adds up the histograms of the next (levels/level_grower.h). Nodes
// of few rows are not split so: the same passes bring their rows into memory, as many as there is room for, and the
// grower of memory grows their branches (grow/grower.h). A table that fits there as a whole is one such node.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/base/pool.h"
#include "core/data/codes.h"
#include "core/rows/level_sums.h"
#include "core/rows/statistic/gathered.h"
#include "core/rows/statistic/node_means.h"
#include "core/tree/kinds/made.h"
#include "core/tree/levels/level_grower.h"

namespace weald {

// How a tree is grown on blocks; it is the same whatever is chosen but for `drawn` and `weight_share`.
struct BlockPlan {
  size_t n_rows = 0;        // of the tree: those of weight above 0, once each
  size_t memory_rows = 0;   // that may be brought into memory at once
  bool drawn = false;       // rows count as often as its bag has them
  double weight_share = 0;  // least weight of a leaf, as a share of the tree's
  int64_t n_trees = 1;      // like this one, whose leaves must have room
};

class BlockTree {
 public:
  BlockTree(const Codes& codebook, const StatisticKind& kind, const GrowOptions& options, const BlockPlan& plan);
  BlockTree(const BlockTree&) = delete;
  BlockTree& operator=(const BlockTree&) = delete;

  bool next();
  bool reads_codes() const { return sums_ != nullptr || gathered_ != nullptr; }
  template <class Number>
  void add(const Codes* codes, const StatisticRows& rows, uint64_t first_row, std::span<Number> number, Run& run);
  void take(Run& run);
  TreeArrays finish();

  // One more than the largest number of a node that a row may have.
  size_t n_numbers() const { return n_numbers_; }
  const StatisticKind& kind() const { return kind_; }
  bool drawn() const { return plan_.drawn; }

 private:
  void plan_gathering(size_t n_numbers);
  bool plan_means();
  void begin_tree(const LevelSums& sums);
  void grow_gathered(Run& run);
  GrownTree grow_part(size_t part, Place place, Run& run) const;
  GrownTree whole();

  const Codes& codebook_;
  const StatisticKind& kind_;
  GrowOptions options_;
  BlockPlan plan_;
  MadeStatistic sums_only_;
  std::unique_ptr<LevelGrower> grower_;
  bool in_memory_;  // all rows are gathered at once
  bool begun_ = false, leveled_ = false;
  size_t n_numbers_ = 1;
  std::unique_ptr<LevelSums> sums_;
  std::vector<Aside> waiting_, gathering_;
  std::unique_ptr<GatheredRows> gathered_;
  std::vector<std::pair<int32_t, GrownTree>> branches_;  // grown, and where they hang
  std::unique_ptr<GrownTree> tree_;                      // all but the branches, when no more levels come
  std::unique_ptr<NodeMeans> means_;
};

}  // namespace weald
