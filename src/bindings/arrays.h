// The arrays the core accepts and returns, named once: dtype, dimensions, order. Arguments are bound with noconvert, so
// that no copy hides; weald.engine converts visibly.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/data/raw_column.h"
#include "core/data/sparse_view.h"

namespace weald::bindings {

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
// Those that a function fills.
template <class T>
using FilledVector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using FilledMatrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
// A column of a user's table: any dtype of DType, any stride.
using AnyColumn = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;
// A whole table of one dtype of DType, any strides.
using AnyTable = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;

template <class Array>
auto view(const Array& array) {
  return std::span(array.data(), array.size());
}

template <class Array>
DType dtype_of(const Array& array) {
  const auto is = [&](nb::dlpack::dtype dtype) { return array.dtype() == dtype; };
  if (is(nb::dtype<float>())) return DType::f32;
  if (is(nb::dtype<double>())) return DType::f64;
  if (is(nb::dtype<bool>())) return DType::boolean;
  if (is(nb::dtype<int8_t>())) return DType::i8;
  if (is(nb::dtype<int16_t>())) return DType::i16;
  if (is(nb::dtype<int32_t>())) return DType::i32;
  if (is(nb::dtype<int64_t>())) return DType::i64;
  if (is(nb::dtype<uint8_t>())) return DType::u8;
  if (is(nb::dtype<uint16_t>())) return DType::u16;
  if (is(nb::dtype<uint32_t>())) return DType::u32;
  if (is(nb::dtype<uint64_t>())) return DType::u64;
  throw BrokenInvariant("a column has a dtype the core does not read");
}

// (values, missing mask or None): the caller keeps both alive.
inline RawColumn raw_column(nb::handle values, nb::handle missing, int64_t n_rows) {
  const auto array = nb::cast<AnyColumn>(values, false);
  require(static_cast<int64_t>(array.shape(0)) == n_rows, "columns differ in length");
  RawColumn raw;
  raw.data = static_cast<const char*>(array.data());
  raw.dtype = dtype_of(array);
  raw.stride = array.stride(0) * static_cast<int64_t>(array.itemsize());
  if (missing.is_none()) return raw;
  const auto mask = nb::cast<AnyColumn>(missing, false);
  require(static_cast<int64_t>(mask.shape(0)) == n_rows && mask.itemsize() == 1, "a mask has one byte per row");
  raw.missing = static_cast<const char*>(mask.data());
  raw.missing_stride = mask.stride(0);
  return raw;
}

// The columns of an array of two dimensions, which the caller keeps alive: calls f(raw column) for each.
template <class F>
void for_columns(nb::handle values, int64_t n_rows, F&& f) {
  const auto array = nb::cast<AnyTable>(values, false);
  require(static_cast<int64_t>(array.shape(0)) == n_rows, "columns differ in length");
  const auto itemsize = static_cast<int64_t>(array.itemsize());
  RawColumn raw;
  raw.data = static_cast<const char*>(array.data());
  raw.dtype = dtype_of(array);
  raw.stride = array.stride(0) * itemsize;
  for (size_t j = 0; j < array.shape(1); ++j, raw.data += array.stride(1) * itemsize) f(raw);
}

// (by rows, n_rows, n_columns, indptr, indices, data, absent is missing) of a sparse matrix; the caller keeps the
// arrays alive.
inline SparseView sparse_view(const nb::tuple& parts) {
  SparseView matrix;
  matrix.by_rows = nb::cast<bool>(parts[0]);
  matrix.n_rows = nb::cast<int64_t>(parts[1]);
  matrix.n_columns = nb::cast<int64_t>(parts[2]);
  matrix.absent_missing = nb::cast<bool>(parts[6]);
  const auto start = nb::cast<Vector<int64_t>>(parts[3], false);
  const auto index = nb::cast<AnyColumn>(parts[4], false);
  const auto data = nb::cast<AnyColumn>(parts[5], false);
  matrix.start = view(start);
  matrix.index = index.data();
  matrix.wide = dtype_of(index) == DType::i64;
  require(matrix.wide || dtype_of(index) == DType::i32, "indices are int32 or int64");
  const auto dense = [](const AnyColumn& array) { return array.size() < 2 || array.stride(0) == 1; };
  require(start.size() > 0 && dense(index) && dense(data), "the arrays of a sparse matrix have no gaps");
  matrix.n_indices = static_cast<int64_t>(index.size());
  matrix.data = data.data();
  matrix.dtype = dtype_of(data);
  matrix.n_data = static_cast<int64_t>(data.size());
  return matrix;
}

// A NumPy array that owns the vector it came from.
template <class T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T>&& values, std::initializer_list<size_t> shape) {
  auto owner = std::make_unique<std::vector<T>>(std::move(values));
  T* data = owner->data();
  nb::capsule capsule(owner.release(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T>(data, shape, capsule);
}
template <class T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T>&& values) {
  const size_t n = values.size();
  return to_numpy(std::move(values), {n});
}

}  // namespace weald::bindings
