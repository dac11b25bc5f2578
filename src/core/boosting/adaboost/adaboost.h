// Stumps of AdaBoost: the best split of all rows, again and again with other weights (docs/methods/adaboost.md, A11).
//
// Finds exactly what the Grower finds for a tree of depth 1 without limits: the same candidates, the same floats, the
// same winner. But columns are not sorted anew in every round. A pass over one byte per row and column gives the sums
// of blocks of codes. A score is a convex function of what lies left of a cut, so that inside a block it is at most the
// largest of its values at the corners of the box that the block's sums span: only blocks whose corners reach the best
// score found so far are looked at row by row.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/pool.h"
#include "core/boosting/adaboost/rows.h"
#include "core/tree/kinds/tree.h"
#include "core/tree/model/forest.h"

namespace weald {

// `weights` (n): whole units, at least 0, with a sum below 2^62; a row of weight 0 is absent. `predicted` (n): the
// class that the stump gives each row.
TreeArrays grow_stump(const StumpRows& rows, std::span<const int64_t> weights, ClassCriterion criterion, Run& run,
                      std::span<int32_t> predicted);

}  // namespace weald
