#include "core/data/finite.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace weald {
namespace {

template <class Float, class Bits>
bool block_has_infinite(const Float* data, std::ptrdiff_t stride, std::size_t n) {
  // Without its sign bit, infinity is the exponent field alone; comparing bits needs no branch per value.
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (sizeof(Bits) * 8 - 1));
  constexpr Bits kInfinity = std::bit_cast<Bits>(std::numeric_limits<Float>::infinity());
  Bits found = 0;
  if (stride == 1) {
    for (std::size_t i = 0; i < n; ++i) {
      found |= static_cast<Bits>((std::bit_cast<Bits>(data[i]) & ~kSign) == kInfinity);
    }
  } else {
    for (std::size_t i = 0; i < n; ++i, data += stride) {
      found |= static_cast<Bits>((std::bit_cast<Bits>(*data) & ~kSign) == kInfinity);
    }
  }
  return found != 0;
}

bool block_has_infinite(const FloatColumn& column, std::size_t first, std::size_t n) {
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(first) * column.stride;
  if (column.is_double) {
    return block_has_infinite<double, std::uint64_t>(static_cast<const double*>(column.data) + at, column.stride, n);
  }
  return block_has_infinite<float, std::uint32_t>(static_cast<const float*>(column.data) + at, column.stride, n);
}

bool is_infinite(const FloatColumn& column, std::size_t row) {
  const auto i = static_cast<std::ptrdiff_t>(row);
  if (column.missing != nullptr && column.missing[i * column.missing_stride] != 0) return false;
  const std::ptrdiff_t at = i * column.stride;
  return column.is_double ? std::isinf(static_cast<const double*>(column.data)[at])
                          : std::isinf(static_cast<const float*>(column.data)[at]);
}

}  // namespace

std::optional<std::pair<std::size_t, std::size_t>> first_infinite(std::span<const FloatColumn> columns, std::size_t n) {
  constexpr std::size_t kBlock = 512;
  std::optional<std::pair<std::size_t, std::size_t>> best;
  std::size_t searched = columns.size();  // columns from here on cannot beat `best`
  for (std::size_t first = 0; first < n; first += kBlock) {
    const std::size_t rows = std::min(kBlock, n - first);
    for (std::size_t j = 0; j < searched; ++j) {
      if (!block_has_infinite(columns[j], first, rows)) continue;
      for (std::size_t row = first; row < first + rows; ++row) {
        if (!is_infinite(columns[j], row)) continue;
        best = {j, row};
        searched = j;
        break;
      }
    }
  }
  return best;
}

}  // namespace weald
