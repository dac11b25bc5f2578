// The rows of a linear machine: a dense matrix or CSR, read only, with one more column for the intercept. Products with
// vectors and the weighted Gram matrix are taken by blocks of rows that depend on the number of rows alone, and
// combined in the order of the blocks, so that the bits are the same for any number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/pool.h"

namespace weald::linear {

struct Rows {
  int64_t n_rows = 0, n_columns = 0;
  const double* dense = nullptr;   // (n_rows, n_columns) row after row; nullptr: the rows are sparse
  const int64_t* start = nullptr;  // (n_rows + 1,): row i has the entries start[i] … start[i + 1]
  const int32_t* index = nullptr;
  const double* value = nullptr;
  double bias = 0;  // what every row has in the column after the last; 0: there is no such column

  bool sparse() const { return dense == nullptr; }
  // Columns, that of the intercept included.
  int64_t width() const { return n_columns + (bias != 0 ? 1 : 0); }
  const double* row(int64_t i) const { return dense + i * n_columns; }
  int64_t n_entries() const { return sparse() ? start[n_rows] - start[0] : n_rows * n_columns; }
};

// Throws unless these are the arrays of a CSR matrix whose indices rise within each row.
void check_sparse(std::span<const int64_t> start, std::span<const int32_t> index, int64_t n_values, int64_t n_rows,
                  int64_t n_columns);

// At most `most` blocks of at least 2048 rows (one block if there are fewer).
class RowBlocks {
 public:
  explicit RowBlocks(int64_t n_rows, int64_t most = 64)
      : n_rows_(n_rows),
        n_blocks_(std::clamp<int64_t>(n_rows / 2048, 1, most)),
        size_((n_rows + n_blocks_ - 1) / n_blocks_) {}
  // So many that each may have `n_values` sums of its own and all together stay small.
  static RowBlocks for_sums(int64_t n_rows, int64_t n_values) {
    return RowBlocks(n_rows, std::clamp<int64_t>((int64_t{1} << 22) / std::max<int64_t>(n_values, 1), 1, 64));
  }

  int64_t count() const { return n_blocks_; }
  int64_t first(int64_t block) const { return std::min(n_rows_, block * size_); }
  int64_t last(int64_t block) const { return std::min(n_rows_, (block + 1) * size_); }
  int64_t longest() const { return size_; }

 private:
  int64_t n_rows_, n_blocks_, size_;
};

// out[i − first] = x_i · v for the rows first … last; v has `width` values.
void multiply(const Rows& rows, const double* v, int64_t first, int64_t last, double* out);

// out += Σ u[i − first] · x_i over the rows first … last; out has `width` values.
void add_transposed(const Rows& rows, const double* u, int64_t first, int64_t last, double* out);

// x_i · v and ‖x_i‖², of one row.
double dot_row(const Rows& rows, int64_t i, const double* v);
double squared_norm(const Rows& rows, int64_t i);
// The root of the mean squared length of the rows, without the intercept's column; 1 if they are all 0.
double typical_length(const Rows& rows);
// v += u · x_i
void add_row(const Rows& rows, int64_t i, double u, double* v);

// out = X v, and out = Xᵀ u, on all threads.
void multiply(const Rows& rows, std::span<const double> v, Run& run, std::span<double> out);
void transpose_multiply(const Rows& rows, std::span<const double> u, Run& run, std::span<double> out);

// a · b, in a fixed order.
double dot(const double* a, const double* b, int64_t n);

// Adds up what blocks found: `parts` holds `n_blocks` vectors of the length of `out`, one after the other.
void combine(std::span<const double> parts, std::span<double> out);

}  // namespace weald::linear
