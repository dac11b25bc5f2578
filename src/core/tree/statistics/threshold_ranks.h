// The code of each inner node of a model: the rank, from 1, of its threshold among those used on its column.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace weald {

// `column`, `threshold`, `kind` (SplitKind): one per inner node. Nodes that are not numeric get 0.
std::vector<uint32_t> rank_thresholds(std::span<const int32_t> column, std::span<const double> threshold,
                                      std::span<const uint8_t> kind);

}  // namespace weald
