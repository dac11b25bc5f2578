// Trees from codes and integer statistics: the entry points, one per family of statistics. Each picks the lanes that
// fit (two classes need two, unit weights need no weight array) and hands them to the one Grower.
//
// With `bags` a forest: one tree a bag, whose rows count as often as it has them; sums must then have room for a bag of
// nothing but the largest value. Without: one tree.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/data/codes.h"
#include "core/tree/model/forest.h"
#include "core/tree/options.h"
#include "core/tree/rows/bags.h"
#include "core/tree/statistics/statistics.h"

namespace weald {

enum class ClassCriterion : int { gini = 0, entropy = 1, errors = 2 };
enum class MomentCriterion : int { squared = 0, poisson = 1 };

// Classes of one or several outputs. `lane` (n, outputs): the row's class per output, counted over all outputs;
// `output_start` (outputs + 1): first lane of each output. `weights`: per row, in units of 2^weight_power, 0 = the row
// is absent; empty = all 1. `balance`: in every bag, the classes of an output are made equally heavy.
struct ClassTarget {
  std::span<const int32_t> lane;
  std::vector<int> output_start;
  std::span<const int64_t> weights;
  int weight_power = 0;
  bool balance = false;
};
TreeArrays grow_class_trees(const Codes& codes, const ClassTarget& target, ClassCriterion criterion,
                            const GrowOptions& options, const Bags* bags, Run& run);

// Squared error or Poisson deviance of one or several targets. `lanes` (n, outputs + 1): w·y per output, then w, all in
// units, w = 0 for an absent row; `squares` (n): Σ over outputs of w·y² (squared) or w·y·log2 y (Poisson); `targets`
// (n, outputs). `powers`: units · 2^power are real.
struct MomentPowers {
  std::vector<int> sum;  // of w·y, per output
  int weight = 0, square = 0;
};
TreeArrays grow_moment_trees(const Codes& codes, std::span<const int64_t> lanes, std::span<const int64_t> squares,
                             std::span<const double> targets, const MomentPowers& powers, MomentCriterion criterion,
                             const GrowOptions& options, const Bags* bags, Run& run);

// Absolute error of one or several targets. `values` (n, outputs): targets in units of 2^value_power; `weights` (n) as
// for classes, never empty. `wide`: Σ w·|value| may exceed 2^61.
TreeArrays grow_absolute_trees(const Codes& codes, std::span<const int64_t> values, std::span<const int64_t> weights,
                               std::span<const double> targets, int value_power, int weight_power, bool wide,
                               const GrowOptions& options, const Bags* bags, Run& run);

}  // namespace weald
