// Rows of a table as float64, slot after slot: only the columns that a forest reads are copied. An infinite value is an
// error in any column, used or not, so that what a model refuses does not depend on its splits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/data/raw_column.h"
#include "core/data/sparse_view.h"
#include "core/predict/used_columns.h"

namespace weald {

struct PredictColumn {
  RawColumn raw;
  bool levels = false;  // int32 level indices, −1 = missing; the walk sees codes (index + 1)
};

// The rows to predict: columns, or a sparse matrix with some columns given in full instead.
struct PredictTable {
  int64_t n_rows = 0;
  std::vector<PredictColumn> columns;  // one per column of the model; of a sparse table those of `positions`
  const SparseView* sparse = nullptr;  // compressed by rows
  std::vector<int32_t> positions;

  int64_t n_columns() const { return sparse != nullptr ? sparse->n_columns : static_cast<int64_t>(columns.size()); }
};

// out[i · stride] = what the walk sees of row first + i. Throws if that is infinite.
void load_column(const PredictColumn& column, int64_t first, int64_t n, double* out, int64_t stride = 1);

// The columns of a table, unless it is sparse, where the user has them; of its rows those from `begin` on.
struct ColumnsInPlace {
  const PredictTable& table;
  int64_t begin;
  void load(int64_t first, int64_t n, int32_t column, double* out) const {
    load_column(table.columns[static_cast<size_t>(column)], begin + first, n, out);
  }
};

// Fills a buffer with blocks of rows, one block after another; the buffer is n × used.size(), 0 at first.
// What a sparse table does not hold stays 0, or becomes NaN where that is missing.
class RowFiller {
 public:
  RowFiller(const PredictTable& table, const UsedColumns& used, double* rows)
      : table_(table), used_(used), rows_(rows), width_(used.size()) {}

  // Rows first … first + n of the table into the first n rows of the buffer.
  void fill(int64_t first, int64_t n);

 private:
  void fill_columns(int64_t first, int64_t n);
  template <class T, class Index>
  void fill_sparse(int64_t first, int64_t n);
  template <class T, class Index>
  void fill_unsorted(int64_t row, int64_t to);
  void put(int64_t to, int32_t column, double value);
  void clear(int64_t n);

  const PredictTable& table_;
  const UsedColumns& used_;
  double* rows_;
  int64_t width_;
  std::vector<int64_t> touched_;  // what of the buffer the last rows of a sparse table have set
  int64_t blank_ = 0;             // rows of the buffer that have been made missing once
};

}  // namespace weald
