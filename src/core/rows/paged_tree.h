// One tree of boosting whose rows pass by in blocks: what each pass is to add up, and the tree in the end. The trees of
// NewtonRows (tree/newton/rows.h) to the bit: the same integers, search and rules.
//
//   GradientCounts of all blocks → PagedTree
//   while next():  LevelSums(codebook, task()), add every block, take()
//   finish(); numbers of rows are then told as leaves by leaf_of_numbers()
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/pool.h"
#include "core/data/codes.h"
#include "core/rows/level_sums.h"
#include "core/rows/tree_units.h"
#include "core/tree/levels/level_grower.h"
#include "core/tree/newton/rows.h"

namespace weald {

class PagedTree {
 public:
  // `weighted`, `whole`: of the weights of the table.
  PagedTree(const Codes& codebook, const GradientCounts& counts, const NewtonOptions& options, bool weighted,
            bool whole);
  PagedTree(const PagedTree&) = delete;
  PagedTree& operator=(const PagedTree&) = delete;

  // Whether the spread of categories is asked for, so that the largest gradients are to be counted.
  static bool squares(const Codes& codebook, const NewtonOptions& options, size_t n_outputs);

  bool next();
  const LevelTask& task() const { return task_; }
  bool reads_codes() const { return task_.reads_codes(); }
  void take(LevelSums& sums, Run& run);

  NewtonTree finish();
  // After `finish`: per number of a node, the leaf that its rows are in.
  const std::vector<int32_t>& leaf_of_numbers() const { return leaf_of_number_; }

 private:
  std::unique_ptr<Statistic> statistic() const;

  NewtonOptions options_;
  TreeUnits units_;
  GrowOptions grow_;
  bool weighted_;
  int64_t n_drawn_;
  std::unique_ptr<LevelGrower> grower_;
  LevelTask task_;
  RowSquares squares_;
  bool summed_ = false, done_ = false;
  std::vector<int64_t> leaf_sums_;  // per number
  std::vector<int32_t> leaf_of_number_;
};

}  // namespace weald
