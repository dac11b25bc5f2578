// Which way a row goes at a split, by its code.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "core/data/codes.h"
#include "core/tree/model/forest.h"

namespace weald {

inline uint32_t code_of(const CodeColumn& column, uint32_t row) {
  return with_codes(column, [&](const auto* codes) -> uint32_t {
    if (!column.sparse) return codes[row];
    const uint32_t* end = column.rows + column.n_entries;
    const uint32_t* at = std::lower_bound(column.rows, end, row);
    return at != end && *at == row ? codes[at - column.rows] : column.default_code;
  });
}

// One split, of codes.
struct CodeSplit {
  int32_t column;
  SplitKind kind;
  bool missing_left;
  uint32_t code = 0;                   // numeric: the largest that goes left
  std::span<const uint32_t> set = {};  // categories listed, ascending
  bool set_left = false;               // whether these go left

  bool left(uint32_t of_row) const {
    if (of_row == 0) return missing_left;
    if (kind == SplitKind::numeric) return of_row <= code;
    return std::binary_search(set.begin(), set.end(), of_row) == set_left;
  }
};

}  // namespace weald
