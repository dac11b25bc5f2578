#include "core/svm/linear/columns.h"

#include <algorithm>

#include "core/base/check.h"

namespace weald::linear {

namespace {

// Calls body(row, column, value) for all entries, row after row.
template <class Body>
void for_entries(const Rows& rows, Body body) {
  for (int64_t i = 0; i < rows.n_rows; ++i) {
    if (rows.sparse()) {
      for (int64_t k = rows.start[i]; k < rows.start[i + 1]; ++k) body(i, rows.index[k], rows.value[k]);
    } else {
      const double* x = rows.row(i);
      for (int64_t j = 0; j < rows.n_columns; ++j) {
        if (x[j] != 0) body(i, j, x[j]);
      }
    }
    if (rows.bias != 0) body(i, rows.n_columns, rows.bias);
  }
}

}  // namespace

Columns::Columns(const Rows& rows) {
  require(rows.n_rows <= INT32_MAX, "row numbers fit into four bytes");
  start_.assign(static_cast<size_t>(rows.width()) + 1, 0);
  for_entries(rows, [&](int64_t, int64_t j, double) { ++start_[static_cast<size_t>(j) + 1]; });
  for (size_t j = 1; j < start_.size(); ++j) start_[j] += start_[j - 1];
  row_.resize(static_cast<size_t>(start_.back()));
  value_.resize(row_.size());
  std::vector<int64_t> next(start_.begin(), start_.end() - 1);
  for_entries(rows, [&](int64_t i, int64_t j, double x) {
    const auto at = static_cast<size_t>(next[static_cast<size_t>(j)]++);
    row_[at] = static_cast<int32_t>(i);
    value_[at] = x;
  });
}

void Columns::transpose_multiply(std::span<const double> u, Run& run, std::span<double> out) const {
  constexpr int64_t at_once = 256;
  parallel_for(run, (count() + at_once - 1) / at_once, [&](int64_t block, int) {
    for (int64_t j = block * at_once; j < std::min(count(), (block + 1) * at_once); ++j) {
      double even = 0, odd = 0;  // two running sums: additions wait for one another
      auto k = static_cast<size_t>(start(j));
      const auto end = static_cast<size_t>(start(j + 1));
      for (; k + 2 <= end; k += 2) {
        even += value_[k] * u[static_cast<size_t>(row_[k])];
        odd += value_[k + 1] * u[static_cast<size_t>(row_[k + 1])];
      }
      if (k < end) even += value_[k] * u[static_cast<size_t>(row_[k])];
      out[static_cast<size_t>(j)] = even + odd;
    }
  });
}

}  // namespace weald::linear
