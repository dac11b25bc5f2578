#include "core/svm/kernel/points.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"

namespace weald::svm {

namespace {

constexpr int64_t row_block = 1024;
// Rows, evenly apart, that tell the middle of a column.
constexpr int64_t most_middle_rows = 1001;

int64_t n_blocks(int64_t n_rows) {
  return (n_rows + row_block - 1) / row_block;
}

template <class Body>
void for_row_blocks(int64_t n_rows, Run& run, Body&& body) {
  parallel_for(run, n_blocks(n_rows), [&](int64_t block, int) {
    const int64_t first = block * row_block;
    body(block, first, std::min(first + row_block, n_rows));
  });
}

}  // namespace

void check(const MatrixView& matrix) {
  if (!matrix.sparse) return;
  const auto n_entries = static_cast<int64_t>(matrix.data.size());
  bool good = static_cast<int64_t>(matrix.start.size()) == matrix.n_rows + 1 && matrix.start[0] == 0 &&
              matrix.start.back() == n_entries && matrix.index.size() == matrix.data.size();
  for (size_t i = 0; good && i + 1 < matrix.start.size(); ++i) {
    good = matrix.start[i] <= matrix.start[i + 1] && matrix.start[i + 1] <= n_entries;
    for (int64_t e = matrix.start[i]; good && e < matrix.start[i + 1]; ++e) {
      const int32_t column = matrix.index[static_cast<size_t>(e)];
      const bool ascends = e == matrix.start[i] || column > matrix.index[static_cast<size_t>(e) - 1];
      good = column >= 0 && column < matrix.n_columns && ascends;
    }
  }
  if (!good) throw BadInput("a sparse matrix must have ascending columns in every row, all of them in range");
}

std::vector<double> centre_of(const MatrixView& matrix, const Program& program) {
  if (matrix.sparse || !program.of_differences()) return std::vector<double>(static_cast<size_t>(matrix.n_columns));
  return middles_of(matrix);
}

std::vector<double> middles_of(const MatrixView& matrix) {
  const auto d = static_cast<size_t>(matrix.n_columns);
  std::vector<double> centre(d, 0.0);
  if (matrix.n_rows == 0) return centre;
  const int64_t n = std::min(matrix.n_rows, most_middle_rows);
  std::vector<double> values(static_cast<size_t>(n));
  for (size_t k = 0; k < d; ++k) {
    for (int64_t i = 0; i < n; ++i) {
      values[static_cast<size_t>(i)] = matrix.dense[i * matrix.n_rows / n * matrix.n_columns + static_cast<int64_t>(k)];
    }
    const auto middle = values.begin() + n / 2;
    std::nth_element(values.begin(), middle, values.end());
    centre[k] = *middle;
  }
  return centre;
}

RowSizes sizes_of(const MatrixView& matrix, std::span<const double> centre, Run& run) {
  std::vector<RowSizes> parts(static_cast<size_t>(n_blocks(matrix.n_rows)));
  for_row_blocks(matrix.n_rows, run, [&](int64_t block, int64_t first, int64_t last) {
    RowSizes& most = parts[static_cast<size_t>(block)];
    for (int64_t i = first; i < last; ++i) {
      double square = 0.0, absolute = 0.0;
      const auto add = [&](double x) {
        square += x * x;
        absolute += std::abs(x);
      };
      if (matrix.sparse) {
        for (int64_t e = matrix.start[static_cast<size_t>(i)]; e < matrix.start[static_cast<size_t>(i) + 1]; ++e) {
          add(matrix.data[static_cast<size_t>(e)]);
        }
      } else {
        const double* row = matrix.dense + i * matrix.n_columns;
        for (int64_t k = 0; k < matrix.n_columns; ++k) add(row[k] - centre[static_cast<size_t>(k)]);
      }
      most.square = std::max(most.square, square);
      most.absolute = std::max(most.absolute, absolute);
    }
  });
  RowSizes all;
  for (const RowSizes& part : parts) {
    all.square = std::max(all.square, part.square);
    all.absolute = std::max(all.absolute, part.absolute);
  }
  return all;
}

template <class Float>
Points<Float>::Points(const MatrixView& matrix, std::span<const double> centre, Run& run)
    : n_rows_(matrix.n_rows),
      n_columns_(matrix.n_columns),
      sparse_(matrix.sparse),
      values_(matrix.sparse ? matrix.data.size() : static_cast<size_t>(matrix.n_rows * matrix.n_columns)),
      norms_(static_cast<size_t>(matrix.n_rows)),
      start_(matrix.start.begin(), matrix.start.end()),
      index_(matrix.index.begin(), matrix.index.end()) {
  for_row_blocks(n_rows_, run, [&](int64_t, int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      Float norm = 0;
      const auto keep = [&](Float x) {
        norm = std::fma(x, x, norm);
        return x;
      };
      if (sparse_) {
        for (int64_t e = start_[static_cast<size_t>(i)]; e < start_[static_cast<size_t>(i) + 1]; ++e) {
          values_[static_cast<size_t>(e)] = keep(static_cast<Float>(matrix.data[static_cast<size_t>(e)]));
        }
      } else {
        const double* from = matrix.dense + i * n_columns_;
        Float* to = values_.data() + i * n_columns_;
        for (int64_t k = 0; k < n_columns_; ++k)
          to[k] = keep(static_cast<Float>(from[k] - centre[static_cast<size_t>(k)]));
      }
      norms_[static_cast<size_t>(i)] = norm;
    }
  });
}

template class Points<float>;
template class Points<double>;

}  // namespace weald::svm
