// New rows on the lines between rows (docs/methods/resampling.md, equations R1 and R2).
#pragma once

#include <cstdint>
#include <span>

#include "core/base/pool.h"

namespace weald {

// A table of floats that somebody else owns; strides count elements.
template <class T>
struct TableView {
  const T* data = nullptr;
  int64_t n_rows = 0, n_columns = 0, row_stride = 0, column_stride = 0;

  const T* row(int64_t i) const { return data + i * row_stride; }
};

// Row i of `out`, (n, n_columns) row-major, stands at `step[i]` of the way from row `base[i]` to row `other[i]`, and
// never beyond either; sums are taken in float64. Where one of the two has a gap (NaN), the nearer one decides.
template <class T>
void rows_between(const TableView<T>& table, std::span<const int64_t> base, std::span<const int64_t> other,
                  std::span<const double> step, Run& run, T* out);

// A copy of the rows, row-major.
template <class T>
void copy_rows(const TableView<T>& table, Run& run, T* out);

}  // namespace weald
