// What the columns of a CSR matrix are like, in passes over its entries row after row: no copy by columns, and the same
// bits for any number of threads, because there is one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace weald {

struct CsrEntries {
  std::span<const int64_t> start;  // (n_rows + 1,)
  std::span<const int32_t> index;
  std::span<const double> value;   // NaN is a gap
  std::span<const double> weight;  // (n_rows,), or empty: 1 each. Rows of weight 0 do not count
  int64_t n_columns = 0;
};

// The weight of the entries that are known, and of the gaps, by column.
struct SparseCounts {
  std::vector<double> known, missing;
};
SparseCounts count_entries(const CsrEntries& entries);

// By column, with gaps filled and what is not stored counted as 0 of the rest of `total`: smallest and largest value,
// mean, standard deviation. Without `spread` one pass tells the first two, and the others are 0.
struct SparseMoments {
  std::vector<double> low, high, mean, deviation;
};
SparseMoments moments(const CsrEntries& entries, std::span<const double> fill, double total, bool spread);

}  // namespace weald
