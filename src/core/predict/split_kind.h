// What a split asks, by the numbers of weald.model.forest.
#pragma once

#include <cstdint>

namespace weald {

enum SplitKind : uint8_t { numeric = 0, categories = 1, combination = 2 };

}  // namespace weald
