// The rows of a matrix as kernels read them: float or double, dense or compressed, moved to the middle of the columns
// where only differences count (float then keeps the digits that matter), with ‖x‖² of each.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/svm/kernel/program.h"

namespace weald::svm {

// A matrix that somebody else owns. Dense: (n_rows, n_columns), row-major. Else compressed rows: the entries of row i
// are [start[i], start[i + 1]), their columns ascend.
struct MatrixView {
  int64_t n_rows = 0, n_columns = 0;
  bool sparse = false;
  const double* dense = nullptr;
  std::span<const int64_t> start;
  std::span<const int32_t> index;
  std::span<const double> data;
};

// Throws BadInput unless a compressed matrix is one: ascending starts and columns, all in range.
void check(const MatrixView& matrix);

// About the median of each column of a dense matrix, which single values cannot move far from the others.
std::vector<double> middles_of(const MatrixView& matrix);
// The same for kernels of differences; all 0 for others, and for a compressed matrix, which must not be moved.
std::vector<double> centre_of(const MatrixView& matrix, const Program& program);
RowSizes sizes_of(const MatrixView& matrix, std::span<const double> centre, Run& run);

template <class Float>
class Points {
 public:
  Points(const MatrixView& matrix, std::span<const double> centre, Run& run);

  int64_t n_rows() const { return n_rows_; }
  int64_t n_columns() const { return n_columns_; }
  bool sparse() const { return sparse_; }
  const Float* row(int64_t i) const { return values_.data() + i * n_columns_; }
  Float norm(int64_t i) const { return norms_[static_cast<size_t>(i)]; }

  // Entries of a compressed row.
  struct Entries {
    const int32_t* column;
    const Float* value;
    int64_t n;
  };
  Entries entries(int64_t i) const {
    const int64_t first = start_[static_cast<size_t>(i)];
    return {index_.data() + first, values_.data() + first, start_[static_cast<size_t>(i) + 1] - first};
  }

 private:
  int64_t n_rows_, n_columns_;
  bool sparse_;
  std::vector<Float> values_;  // dense rows, or the entries of compressed ones
  std::vector<Float> norms_;   // ‖x‖², added up as x·x is: the distance of a row to itself is 0
  std::vector<int64_t> start_;
  std::vector<int32_t> index_;
};

}  // namespace weald::svm
