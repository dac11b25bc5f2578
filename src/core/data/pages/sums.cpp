#include "core/data/pages/sums.h"

#include <algorithm>

#include "core/base/random.h"

namespace weald {

namespace {

constexpr int64_t block_rows = 8192;  // their marks stay in the cache while columns pass

// Odd, so that no code is lost.
uint64_t mark(uint64_t row) {
  return scramble(row + 1) | 1;
}

// What the listed rows have beyond the default code that all rows of a sparse column were counted with.
uint64_t listed(const CodeColumn& column, uint64_t first_row) {
  return with_codes(column, [&](const auto* code) {
    uint64_t sum = 0;
    for (uint32_t e = 0; e < column.n_entries; ++e)
      sum += mark(first_row + column.rows[e]) * (uint64_t{code[e]} - column.default_code);
    return sum;
  });
}

}  // namespace

std::vector<uint64_t> code_sums(const Codes& codes, uint64_t first_row) {
  std::vector<uint64_t> sums(codes.columns.size());
  std::vector<uint64_t> marks(static_cast<size_t>(std::min(block_rows, codes.n_rows)));
  uint64_t all = 0;
  for (int64_t first = 0; first < codes.n_rows; first += block_rows) {
    const auto n = static_cast<size_t>(std::min(block_rows, codes.n_rows - first));
    for (size_t i = 0; i < n; ++i) all += marks[i] = mark(first_row + static_cast<uint64_t>(first) + i);
    for (size_t j = 0; j < sums.size(); ++j) {
      if (codes.columns[j].sparse) continue;
      sums[j] += with_codes(codes.columns[j], [&](const auto* code) {
        uint64_t sum = 0;
        for (size_t i = 0; i < n; ++i) sum += marks[i] * code[static_cast<size_t>(first) + i];
        return sum;
      });
    }
  }
  for (size_t j = 0; j < sums.size(); ++j) {
    const CodeColumn& column = codes.columns[j];
    if (column.sparse) sums[j] = all * column.default_code + listed(column, first_row);
  }
  return sums;
}

}  // namespace weald
