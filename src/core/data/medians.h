// Medians of the columns of a dense table, on all threads. NaN is missing and does not count.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/pool.h"

namespace weald {

struct Medians {
  std::vector<double> value;  // of each column; 0 where nothing is known. Of an even number the mean of the middle two
  bool finite = true;         // whether no value is infinite
};

// `table`: (n_rows, n_columns), row after row.
Medians column_medians(std::span<const double> table, int64_t n_rows, int64_t n_columns, Run& run);

}  // namespace weald
