// The growers of class trees, each way of counting rows in a file of its own: they are by far the longest to compile.
#pragma once

#include "core/tree/grow/node_numbers.h"
#include "core/tree/grow/tree.h"

namespace weald {

// Two classes: LabelRows, BagRows or PairRows. `total`: the weight of all rows.
template <class Rows>
TreeArrays grow_two(const Codes& codes, std::vector<uint32_t> ids, Rows rows, int64_t total, const Spread& spread,
                    ClassCriterion criterion, const GrowOptions& options, Run& run);

// Any number of classes and outputs.
TreeArrays grow_many(const Codes& codes, std::vector<uint32_t> ids, ClassRows rows, int64_t total, const Spread& spread,
                     const std::vector<int>& output_start, ClassCriterion criterion, const GrowOptions& options,
                     Run& run);

}  // namespace weald
