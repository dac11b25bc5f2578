// Matrices as kernel machines and neighbours read them.
#pragma once

#include <nanobind/nanobind.h>

#include "bindings/arrays.h"
#include "core/svm/kernel/points.h"

namespace weald::bindings {

// (n_rows, n_columns, values), or (n_rows, n_columns, indptr, indices, data): the caller keeps the arrays alive.
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
