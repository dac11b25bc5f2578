// A column as the user's frame stores it, read through (pointer, stride, dtype), and the one place where its values
// become float64: integers and bool by conversion, masked rows to NaN, −0 to +0. Fit and predict both read through
// here.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "core/base/check.h"

namespace weald {

enum class DType : int { f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, boolean };

// Whether float32 holds every value of such a column.
inline bool fits_float(DType dtype) {
  return dtype == DType::f32 || dtype == DType::i8 || dtype == DType::u8 || dtype == DType::i16 ||
         dtype == DType::u16 || dtype == DType::boolean;
}

struct RawColumn {
  const char* data = nullptr;
  int64_t stride = 0;  // bytes from one row to the next
  DType dtype = DType::f64;
  const char* missing = nullptr;  // one byte per row, non-zero = missing; may be null
  int64_t missing_stride = 0;
};

// An infinite value in a table. Blocks run in any order, so the caller finds the first one (finite.h) and names it.
struct InfiniteValue : BadInput {
  InfiniteValue() : BadInput("a column holds an infinite value") {}
};

// Calls f(a value of the column's type).
template <class F>
decltype(auto) with_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32:
      return f(float{});
    case DType::f64:
      return f(double{});
    case DType::i8:
      return f(int8_t{});
    case DType::i16:
      return f(int16_t{});
    case DType::i32:
      return f(int32_t{});
    case DType::i64:
      return f(int64_t{});
    case DType::u8:
      return f(uint8_t{});
    case DType::u16:
      return f(uint16_t{});
    case DType::u32:
      return f(uint32_t{});
    case DType::u64:
      return f(uint64_t{});
    case DType::boolean:
      return f(uint8_t{});
  }
  throw BrokenInvariant("unknown dtype");
}

// The float64 value of one row; T is the column's dtype.
template <class T>
double load_row(const RawColumn& raw, int64_t row) {
  if (raw.missing != nullptr && raw.missing[row * raw.missing_stride] != 0) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return static_cast<double>(*reinterpret_cast<const T*>(raw.data + row * raw.stride)) + 0.0;
}

// Throws if one of the rows first … first + n is infinite.
inline void check_finite(const RawColumn& raw, int64_t first, int64_t n) {
  if (raw.dtype != DType::f32 && raw.dtype != DType::f64) return;
  with_dtype(raw.dtype, [&](auto type) {
    for (int64_t row = first; row < first + n; ++row) {
      if (std::isinf(load_row<decltype(type)>(raw, row))) throw InfiniteValue();
    }
  });
}

// out[i * out_stride] = value of row first + i: as float64, or as float32 where that holds every value of the column.
// Throws if one is infinite.
template <class Float>
void load_rows(const RawColumn& raw, int64_t first, int64_t n, Float* out, int64_t out_stride = 1) {
  with_dtype(raw.dtype, [&](auto type) {
    using T = decltype(type);
    const char* at = raw.data + first * raw.stride;
    bool finite = true;
    for (int64_t i = 0; i < n; ++i, at += raw.stride) {
      const Float value = static_cast<Float>(*reinterpret_cast<const T*>(at)) + Float{0};
      finite &= !(std::abs(value) > std::numeric_limits<Float>::max());
      out[i * out_stride] = value;
    }
    if (raw.missing != nullptr) {
      const char* mask = raw.missing + first * raw.missing_stride;
      for (int64_t i = 0; i < n; ++i, mask += raw.missing_stride) {
        if (*mask != 0) out[i * out_stride] = std::numeric_limits<Float>::quiet_NaN();
      }
    }
    if (!finite) check_finite(raw, first, n);
  });
}

}  // namespace weald
