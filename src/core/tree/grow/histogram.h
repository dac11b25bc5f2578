// Histograms: for one column, the lanes of every code, added up over some rows. A block function: give it any rows of
// any block and add the results; the order never shows.
//
//   cells   (n_codes + 1) × stride int64, cleared by the caller; cell 0 is missing. stride = lanes, plus one lane that
//           counts rows when `counted`
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/data/codes.h"
#include "core/tree/statistics/statistics.h"

namespace weald {

// Two lanes in one 64-bit word: one read-modify-write a row. Flushed to the wide cells before a half can overflow.
template <class Rows, class Code>
void add_packed(const Rows& rows, const Code* codes, std::span<const uint32_t> ids, uint32_t n_codes, int64_t* cells) {
  std::vector<uint64_t> words(n_codes + 1, 0);
  for (size_t first = 0; first < ids.size(); first += Rows::rows_before_flush) {
    const auto block = ids.subspan(first, std::min<size_t>(Rows::rows_before_flush, ids.size() - first));
    for (const uint32_t row : block) words[codes[row]] += rows.pack(row);
    for (uint32_t code = 0; code <= n_codes; ++code) {
      unpack_add(rows, words[code], cells + 2 * static_cast<size_t>(code));
      words[code] = 0;
    }
  }
}

template <class Rows>
void add_histogram(const Rows& rows, const void* data, int width, std::span<const uint32_t> ids, uint32_t n_codes,
                   bool counted, int64_t* cells) {
  with_codes(data, width, [&](const auto* codes) {
    if constexpr (Rows::packed) {
      if (!counted && ids.size() > n_codes) return add_packed(rows, codes, ids, n_codes, cells);
    }
    const auto lanes = static_cast<size_t>(rows.lanes());
    const size_t stride = lanes + (counted ? 1 : 0);
    for (const uint32_t row : ids) {
      int64_t* cell = cells + stride * codes[row];
      rows.add(row, cell);
      if (counted) ++cell[lanes];
    }
  });
}

// The sibling: out −= part, exact because the sums are integers.
inline void subtract_histogram(int64_t* out, const int64_t* part, size_t n) {
  for (size_t i = 0; i < n; ++i) out[i] -= part[i];
}

}  // namespace weald
