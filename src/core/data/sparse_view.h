// A sparse matrix where SciPy has it: compressed by rows (CSR) or by columns (CSC). Entries it does not hold are 0, or
// missing if `absent_missing`; then a 0 that it holds is missing too.
//
// Nothing in it is trusted: `check_lines` sees to the starts, and whoever reads an index asks `check_index`. Indices
// may come in any order; entries of one place are added up in the matrix' own type, in the order they are stored.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "core/base/check.h"
#include "core/data/raw_column.h"

namespace weald {

struct SparseView {
  bool by_rows = true;          // lines are rows (CSR) or columns (CSC)
  bool absent_missing = false;  // whether what it does not hold is missing instead of 0
  int64_t n_rows = 0;
  int64_t n_columns = 0;
  std::span<const int64_t> start;  // of each line, and the end of the last
  const void* index = nullptr;
  bool wide = false;  // indices are int64, or else int32
  int64_t n_indices = 0;
  const void* data = nullptr;
  DType dtype = DType::f64;
  int64_t n_data = 0;

  int64_t n_lines() const { return by_rows ? n_rows : n_columns; }
  int64_t n_entries() const { return start.back(); }
};

// Throws BadInput unless the lines lie one after another inside the arrays.
inline void check_lines(const SparseView& matrix) {
  const auto& start = matrix.start;
  const auto need = [](bool holds, const char* what) {
    if (!holds) throw BadInput(std::string("The sparse matrix is damaged: ") + what + ". Build it again.");
  };
  need(matrix.n_rows >= 0 && matrix.n_columns >= 0, "its shape is negative");
  need(static_cast<int64_t>(start.size()) == matrix.n_lines() + 1, "indptr has another length than its shape asks for");
  need(start.front() == 0, "indptr does not begin with 0");
  for (size_t i = 1; i < start.size(); ++i) need(start[i - 1] <= start[i], "indptr falls");
  need(start.back() <= matrix.n_indices && start.back() <= matrix.n_data, "indptr ends beyond indices or data");
}

[[noreturn]] inline void throw_bad_index() {
  throw BadInput("The sparse matrix is damaged: an index lies outside its shape. Build it again.");
}

inline void check_index(int64_t index, int64_t below) {
  if (index < 0 || index >= below) throw_bad_index();
}

// Calls f(a value of the index type).
template <class F>
decltype(auto) with_index_type(const SparseView& matrix, F&& f) {
  return matrix.wide ? f(int64_t{}) : f(int32_t{});
}

// Calls f(a value of the data's type, a value of the index type).
template <class F>
decltype(auto) with_types(const SparseView& matrix, F&& f) {
  return with_dtype(matrix.dtype,
                    [&](auto value) { return with_index_type(matrix, [&](auto index) { return f(value, index); }); });
}

// Two entries of one place, as SciPy adds them: integers wrap around, flags are joined.
template <class T>
T added(T a, T b, DType dtype) {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    if (dtype == DType::boolean) return static_cast<T>(a | b);
    return static_cast<T>(static_cast<Unsigned>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b)));
  } else {
    return a + b;
  }
}

}  // namespace weald
