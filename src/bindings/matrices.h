// Matrices as linear methods, kernel machines and neighbours read them; limits and progress of the first.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

#include "bindings/arrays.h"
#include "core/base/check.h"
#include "core/svm/kernel/points.h"
#include "core/svm/linear/problem.h"
#include "core/svm/linear/rows.h"

namespace weald::bindings {

// (n_rows, n_columns, values), or (n_rows, n_columns, indptr, indices, data): the caller keeps the arrays alive.
inline linear::Rows linear_rows(const nb::tuple& parts, double bias) {
  linear::Rows rows;
  rows.n_rows = nb::cast<int64_t>(parts[0]);
  rows.n_columns = nb::cast<int64_t>(parts[1]);
  rows.bias = bias;
  if (parts.size() == 3) {
    const auto values = nb::cast<Matrix<double>>(parts[2], false);
    require(
        static_cast<int64_t>(values.shape(0)) == rows.n_rows && static_cast<int64_t>(values.shape(1)) == rows.n_columns,
        "a matrix has its own shape");
    rows.dense = values.data();
    return rows;
  }
  const auto start = nb::cast<Vector<int64_t>>(parts[2], false);
  const auto index = nb::cast<Vector<int32_t>>(parts[3], false);
  const auto value = nb::cast<Vector<double>>(parts[4], false);
  linear::check_sparse(view(start), view(index), static_cast<int64_t>(value.size()), rows.n_rows, rows.n_columns);
  rows.start = start.data();
  rows.index = index.data();
  rows.value = value.data();
  return rows;
}

// Beyond, the clock could not count them.
inline constexpr double longest_seconds = 1e9;

inline linear::Limits limits_of(double tol, int64_t max_iter, double max_seconds, uint64_t seed) {
  linear::Limits limits;
  limits.tol = tol;
  limits.max_iter = max_iter;
  limits.seed = seed;
  if (max_seconds < longest_seconds) {
    const std::chrono::duration<double> span(max_seconds);
    limits.deadline =
        std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(span);
  }
  return limits;
}

// Calls told(iterations of all problems, largest gap) with the GIL held.
inline std::function<void()> teller(const nb::object& told, const std::vector<linear::Progress>& progress) {
  if (told.is_none()) return {};
  return [&] {
    int64_t n_iter = 0;
    double gap = 0;
    for (const linear::Progress& each : progress) {
      n_iter += each.n_iter.load(std::memory_order_relaxed);
      gap = std::max(gap, each.gap.load(std::memory_order_relaxed));
    }
    told(n_iter, gap);
  };
}

// The same as kernel machines and neighbours read it.
inline svm::MatrixView matrix_view(const nb::tuple& parts) {
  svm::MatrixView matrix;
  matrix.n_rows = nb::cast<int64_t>(parts[0]);
  matrix.n_columns = nb::cast<int64_t>(parts[1]);
  matrix.sparse = parts.size() == 5;
  if (matrix.sparse) {
    matrix.start = view(nb::cast<Vector<int64_t>>(parts[2], false));
    matrix.index = view(nb::cast<Vector<int32_t>>(parts[3], false));
    matrix.data = view(nb::cast<Vector<double>>(parts[4], false));
  } else {
    const auto values = nb::cast<Matrix<double>>(parts[2], false);
    require(static_cast<int64_t>(values.shape(0)) == matrix.n_rows &&
                static_cast<int64_t>(values.shape(1)) == matrix.n_columns,
            "a matrix has its own shape");
    matrix.dense = values.data();
  }
  svm::check(matrix);
  return matrix;
}

}  // namespace weald::bindings
