// Views never own. A matrix view is row-major.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace weald {

template <class T>
struct MatrixView {
  T* data;
  int64_t n_rows;
  int64_t n_columns;
  T* row(int64_t r) const { return data + r * n_columns; }
};

}  // namespace weald
