// From the user's columns to codes, with the codebook found on the way. Native, parallel, and the same whatever the
// thread count or the order of rows (for binned columns: whenever all rows are read, see below).
//
//   exact    one code per distinct value, in ascending order
//   binned   at most max_bins codes; cuts at weighted quantiles. All rows are read up to `sample_limit`, above that a
//            sample of about that many: the rows whose hash of the global row id is small, so that the choice depends
//            on nothing but the row id
//   ordinal, categorical   code = level index + 1
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/base/random.h"
#include "core/data/codes.h"
#include "core/data/raw_column.h"

namespace weald {

inline constexpr int64_t sample_limit = int64_t{1} << 18;

struct ColumnSource {
  RawColumn raw;
  ColumnKind kind = ColumnKind::exact;
  uint32_t n_levels = 0;  // ordinal, categorical
};

inline void check_row_count(int64_t n_rows) {
  if (n_rows > std::numeric_limits<uint32_t>::max() / 2) throw BadInput("a table in memory holds at most 2^31 rows");
}

// What decides by itself whether a row is in the sample, and the bound below which it is: all rows up to `limit`.
inline uint64_t sample_draw(uint64_t row) {
  return draw(0, Purpose::cut_sample, row);
}
uint64_t sample_bound(int64_t n_present, int64_t limit = sample_limit);

// The rows that shape the cuts: every row of positive weight, or about `limit` of them by hash of the row id.
std::vector<uint32_t> sample_rows(int64_t n_rows, std::span<const int64_t> weights, int64_t limit = sample_limit);

// `weights`: whole units per row, 0 = the row does not shape the codebook; empty = all 1. `limit`: read so many rows
// for the cuts, all of them of what is a sample already.
Codes encode(std::span<const ColumnSource> columns, int64_t n_rows, std::span<const int64_t> weights, uint32_t max_bins,
             Run& run, int64_t limit = sample_limit);

}  // namespace weald
