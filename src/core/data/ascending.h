// Entries of a sparse line that do not ascend: the order that puts them right.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace weald {

// An index and where it stands. One type whatever the matrix holds, so that the sort is compiled once.
using PlacedIndex = std::pair<int64_t, uint32_t>;

// By index; entries of one index keep their order.
void sort_ascending(std::vector<PlacedIndex>& entries);

}  // namespace weald
