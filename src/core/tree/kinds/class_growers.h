// The growers of class trees, each way of counting rows in a file of its own: they are the longest to compile.
#pragma once

#include "core/tree/kinds/input.h"
#include "core/tree/kinds/tree.h"

namespace weald {

// Two classes: LabelRows, BagRows or PairRows. `total`: the weight of all rows.
template <class Rows>
TreeArrays grow_two(const TreeCall& call, std::vector<uint32_t> ids, Rows rows, int64_t total, const Spread& spread,
                    ClassCriterion criterion);

// Any number of classes and outputs.
TreeArrays grow_many(const TreeCall& call, std::vector<uint32_t> ids, ClassRows rows, int64_t total,
                     const Spread& spread, const std::vector<int>& output_start, ClassCriterion criterion);

}  // namespace weald
