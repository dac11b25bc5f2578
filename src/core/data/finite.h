// Finds infinite numbers in columns of floats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace weald {

// One column of n values: element i lies at data[i * stride]. `missing` is null or has one byte per row, and a
// row with a byte other than 0 does not count (what an exporter leaves under a null is arbitrary).
struct FloatColumn {
  const void* data;
  std::ptrdiff_t stride;
  bool is_double;
  const std::uint8_t* missing;
  std::ptrdiff_t missing_stride;
};

// (column, row) of an infinite value: the first such column, its first such row. All columns have n rows.
// Rows are visited in blocks over all columns, so that views of one row-major array are read once.
std::optional<std::pair<std::size_t, std::size_t>> first_infinite(std::span<const FloatColumn> columns, std::size_t n);

}  // namespace weald
