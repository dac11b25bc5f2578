// Code order: a column of a node as entries (code, row) in ascending code. The exact search reads these where a
// histogram would have more cells than the node has rows.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/radix_sort.h"
#include "core/data/codes.h"

namespace weald {

using Entry = uint64_t;  // code in the high half, row in the low half

inline uint32_t entry_code(Entry entry) {
  return static_cast<uint32_t>(entry >> 32);
}
inline uint32_t entry_row(Entry entry) {
  return static_cast<uint32_t>(entry);
}

// Sorts entries whose rows already ascend: equal codes keep ascending rows, so the result is unique.
inline void sort_entries(Entry* entries, Entry* scratch, size_t n, uint32_t largest_code) {
  constexpr size_t insertion_limit = 32;
  if (n <= insertion_limit) {
    for (size_t i = 1; i < n; ++i) {
      const Entry entry = entries[i];
      size_t at = i;
      for (; at > 0 && entries[at - 1] > entry; --at) entries[at] = entries[at - 1];
      entries[at] = entry;
    }
    return;
  }
  radix_sort(entries, scratch, n, 32, static_cast<int>(std::bit_width(largest_code)),
             [](Entry entry) { return entry; });
}

// All rows of a table in the order of each dense column that was asked for: what every tree of a fit starts from.
struct DenseOrder {
  std::vector<std::unique_ptr<Entry[]>> of_column;
};

// Entries of the rows `ids` (ascending) in code order.
inline void order_rows(const void* data, int width, std::span<const uint32_t> ids, uint32_t largest_code,
                       Entry* entries, Entry* scratch) {
  with_codes(data, width, [&](const auto* codes) {
    for (size_t i = 0; i < ids.size(); ++i) entries[i] = (static_cast<Entry>(codes[ids[i]]) << 32) | ids[i];
  });
  sort_entries(entries, scratch, ids.size(), largest_code);
}

}  // namespace weald
