// Sending rows left or right. Stable: rows keep their order on both sides, so the same rows always stand in the same
// order whatever grew the tree.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

namespace weald {

// Which codes go left: code 0 (missing) by `missing_left`, the rest by `code <= last` or by a table of listed codes.
struct Router {
  bool missing_left = false;
  uint32_t last = 0;
  const uint64_t* listed = nullptr;  // categories: one bit per code; absent for numeric and ordinal columns
  bool listed_left = false;

  template <class Code>
  bool left(Code code) const {
    if (code == 0) return missing_left;
    return listed == nullptr ? code <= last : (((listed[code >> 6] >> (code & 63)) & 1) != 0) == listed_left;
  }
};

// Writes side[row] = 1 for rows that go left. Returns how many do.
template <class Code>
size_t mark_sides(const Code* codes, const Router& router, std::span<const uint32_t> ids, uint8_t* side) {
  size_t n_left = 0;
  for (const uint32_t row : ids) {
    const bool left = router.left(codes[row]);
    side[row] = left;
    n_left += left;
  }
  return n_left;
}

// Items whose row has side 1 first, then the others, both in their old order. `scratch` holds the right part. Returns
// how many have side 1.
template <class Item, class RowOf>
size_t partition_stable(Item* items, size_t n, const uint8_t* side, Item* scratch, RowOf row_of) {
  size_t n_left = 0, n_right = 0;
  for (size_t i = 0; i < n; ++i) {
    const Item item = items[i];
    const size_t left = side[row_of(item)];
    items[n_left] = item;
    scratch[n_right] = item;
    n_left += left;
    n_right += 1 - left;
  }
  std::memcpy(items + n_left, scratch, n_right * sizeof(Item));
  return n_left;
}

}  // namespace weald
