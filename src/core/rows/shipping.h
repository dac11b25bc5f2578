// What processes that grow one tree together send each other: counts of gradients, what a pass is to add up, and what
// it has added up. Only equal builds of weald read each other's bytes; what does not fit its length is refused.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/rows/level_sums.h"
#include "core/rows/tree_units.h"

namespace weald {

std::vector<uint8_t> to_bytes(const GradientCounts& counts);
std::vector<uint8_t> to_bytes(const LevelTask& task);
GradientCounts counts_of_bytes(std::span<const uint8_t> bytes);
LevelTask task_of_bytes(std::span<const uint8_t> bytes);

// A pass that takes rows down the splits of another and adds up nothing.
LevelTask routes_only(const LevelTask& task);

}  // namespace weald
