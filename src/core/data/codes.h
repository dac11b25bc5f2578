// Codes: every column as small integers. Code 0 is missing; codes 1 … n_codes stand for values in ascending order
// (exact ranks, quantile bins, ordinal levels) or for categories.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/base/check.h"

namespace weald {

enum class ColumnKind : uint8_t { exact, binned, ordinal, categorical };

// One coded column; what it points into belongs to `Codes`. `marks` gives codes their values: exact: the distinct
// values (n_codes); binned: the cuts (n_codes − 1; the value of a row with code c is ≤ marks[c − 1]); levels: empty.
// Members are ordered by size: there may be hundreds of thousands of columns.
struct CodeColumn {
  const void* data = nullptr;
  std::span<const double> marks;
  // A sparse column lists only the rows whose code is not `default_code` (that of 0, or 0 where no row is left out or
  // those left out are missing):
  // `rows`, ascending, and in `data` their codes, n_entries of each. A dense one has rows = nullptr, data for all.
  const uint32_t* rows = nullptr;
  uint32_t n_codes = 0;
  uint32_t n_entries = 0;
  uint32_t default_code = 0;
  ColumnKind kind = ColumnKind::exact;
  uint8_t width = 1;    // bytes per code: 1, 2 or 4
  bool sparse = false;  // also of a column without entries
};

inline uint8_t code_width(uint64_t n_codes) {
  return n_codes <= 255 ? 1 : n_codes <= 65535 ? 2 : 4;
}

// What the sparse columns of one group point into.
struct SparseGroup {
  std::vector<uint32_t> rows;
  std::vector<unsigned char> codes;
  std::vector<double> marks;
};

// Owns the codes of all columns.
struct Codes {
  Codes() = default;
  Codes(Codes&&) = default;
  Codes& operator=(Codes&&) = default;
  Codes(const Codes&) = delete;
  Codes& operator=(const Codes&) = delete;

  int64_t n_rows = 0;
  std::vector<CodeColumn> columns;
  std::vector<std::unique_ptr<unsigned char[]>> storage;  // codes of dense columns
  std::vector<std::vector<double>> mark_storage;          // marks of dense columns
  std::vector<SparseGroup> groups;
  std::shared_ptr<const void> kept;  // what else columns point into: a page, a codebook

  // Room for n dense columns, whose memory `allocate` and `set_marks` give them.
  void resize_dense(size_t n) {
    columns.resize(n);
    storage.resize(n);
    mark_storage.resize(n);
  }

  // Gives dense column j its memory (not cleared) and returns it.
  void* allocate(size_t j, uint32_t n_codes) {
    CodeColumn& column = columns[j];
    column.n_codes = n_codes;
    column.width = code_width(n_codes);
    const auto bytes = static_cast<size_t>(n_rows) * static_cast<size_t>(column.width);
    storage[j] = std::make_unique_for_overwrite<unsigned char[]>(bytes);
    column.data = storage[j].get();
    return storage[j].get();
  }

  void set_marks(size_t j, std::vector<double>&& marks) {
    mark_storage[j] = std::move(marks);
    columns[j].marks = mark_storage[j];
  }
};

// Calls f(const uint8_t* | const uint16_t* | const uint32_t*).
template <class F>
decltype(auto) with_codes(const void* data, int width, F&& f) {
  switch (width) {
    case 1:
      return f(static_cast<const uint8_t*>(data));
    case 2:
      return f(static_cast<const uint16_t*>(data));
    default:
      return f(static_cast<const uint32_t*>(data));
  }
}

template <class F>
decltype(auto) with_codes(const CodeColumn& column, F&& f) {
  return with_codes(column.data, column.width, static_cast<F&&>(f));
}

template <class F>
decltype(auto) with_code_type(int width, F&& f) {
  switch (width) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    default:
      return f(uint32_t{});
  }
}

}  // namespace weald
