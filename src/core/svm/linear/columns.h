// The columns of a linear machine's rows: a copy that stands column after column without its zeros, for what goes
// through single columns or needs Xᵀu of sparse rows many times.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/svm/linear/rows.h"

namespace weald::linear {

class Columns {
 public:
  // That of the intercept comes last, if there is one. Less than 2^31 rows.
  explicit Columns(const Rows& rows);

  int64_t count() const { return static_cast<int64_t>(start_.size()) - 1; }
  int64_t start(int64_t j) const { return start_[static_cast<size_t>(j)]; }
  // The entries of column j stand from start(j) to start(j + 1), in the order of the rows.
  const int32_t* row() const { return row_.data(); }
  const double* value() const { return value_.data(); }

  // out = Xᵀ u
  void transpose_multiply(std::span<const double> u, Run& run, std::span<double> out) const;

 private:
  std::vector<int64_t> start_;
  std::vector<int32_t> row_;
  std::vector<double> value_;
};

}  // namespace weald::linear
