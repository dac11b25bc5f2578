#include "core/explain/row_values.h"

#include <algorithm>

#include "core/data/raw_column.h"

namespace weald {

RowValues::RowValues(const ExplainedForest& forest, const PredictTable& table, int64_t most_rows)
    : forest_(forest),
      table_(table),
      stride_(most_rows),
      values_(static_cast<size_t>(forest.laid.used.size() * most_rows)),
      by_rows_(table.sparse == nullptr ? 0 : static_cast<size_t>(forest.laid.used.size() * most_rows) + 1, 0.0),
      filler_(table, forest.laid.used, by_rows_.data()) {}

void RowValues::read(int64_t first, int64_t n) {
  n_ = n;
  double* values = values_.data();
  const UsedColumns& used = forest_.laid.used;
  const int64_t width = used.size();
  if (table_.sparse != nullptr) {
    filler_.fill(first, n);
    for (int64_t slot = 0; slot < width; ++slot) {
      double* to = values + slot * stride_;
      for (int64_t i = 0; i < n; ++i) to[i] = by_rows_[static_cast<size_t>(i * width + slot)];
    }
  } else {
    for (size_t j = 0; j < table_.columns.size(); ++j) {
      const int32_t slot = used.slot(static_cast<int32_t>(j));
      if (slot < 0) {
        check_finite(table_.columns[j].raw, first, n);
      } else {
        load_column(table_.columns[j], first, n, values + slot * stride_);
      }
    }
  }
  for (int64_t slot = 0; slot < width; ++slot) {
    std::fill(values + slot * stride_ + n, values + slot * stride_ + padded(), 0.0);
  }
}

}  // namespace weald
