// What a split asks, by the numbers of weald.model.forest.
#pragma once

#include <cstdint>

namespace weald {

enum class SplitKind : uint8_t { numeric = 0, categories = 1, combination = 2 };

// Whether a number of a flat forest stands for that kind.
inline constexpr bool is(uint8_t number, SplitKind kind) {
  return number == static_cast<uint8_t>(kind);
}

}  // namespace weald
