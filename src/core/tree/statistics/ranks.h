// Rows of small nodes in code order without sorting them: every column of a part of the table is ranked once; a node
// then sets one bit per row at the row's rank, and reads the bits from left to right.
//
// For trees that draw columns anew in every node, where nothing can be carried from a node to its children.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/tree/rows/order.h"

namespace weald {

// Where the rows of a part are in the whole it was taken from.
struct RankedWhole {
  const class Ranks* ranks = nullptr;
  std::span<const uint32_t> ids;        // the rows of the part, by the numbers of the whole
  const uint32_t* number_of = nullptr;  // and their numbers in the part, by those of the whole
};

class Ranks {
 public:
  static constexpr size_t most_rows = size_t{1} << 13;  // beyond, reading the bits of a small node costs too much

  Ranks() = default;
  Ranks(size_t n_columns, size_t n_rows) : n_rows_(n_rows), columns_(n_columns) {}

  bool empty() const { return columns_.empty(); }
  bool has(size_t j) const { return columns_[j].entry != nullptr; }

  // Ranks the rows 0 … n_rows − 1 of a column.
  void add(size_t j, const void* data, int width, uint32_t largest_code, std::vector<Entry>& scratch) {
    Column& column = make(j);
    scratch.resize(std::max(scratch.size(), n_rows_));
    with_codes(data, width, [&](const auto* codes) {
      for (uint32_t row = 0; row < n_rows_; ++row) column.entry[row] = (static_cast<Entry>(codes[row]) << 32) | row;
    });
    sort_entries(column.entry.get(), scratch.data(), n_rows_, largest_code);
    for (size_t rank = 0; rank < n_rows_; ++rank) {
      column.rank[entry_row(column.entry[rank])] = static_cast<uint16_t>(rank);
    }
  }

  // The same for some rows of a ranked column: number_of[row] is what they are called here.
  void add_some(size_t j, const Ranks& whole, std::span<const uint32_t> ids, const uint32_t* number_of,
                std::vector<uint64_t>& bits) {
    Column& column = make(j);
    whole.read(j, ids, bits, column.entry.get());
    for (size_t rank = 0; rank < n_rows_; ++rank) {
      const Entry entry = column.entry[rank];
      const uint32_t row = number_of[entry_row(entry)];
      column.entry[rank] = (entry >> 32 << 32) | row;
      column.rank[row] = static_cast<uint16_t>(rank);
    }
  }

  // The entries of some rows in code order. `bits` is all 0 before and after.
  void read(size_t j, std::span<const uint32_t> ids, std::vector<uint64_t>& bits, Entry* out) const {
    const size_t n_words = (n_rows_ + 63) / 64;
    bits.resize(std::max(bits.size(), n_words), 0);
    uint64_t* const words = bits.data();
    const uint16_t* const rank = columns_[j].rank.get();
    const Entry* const entry = columns_[j].entry.get();
    for (const uint32_t row : ids) words[rank[row] >> 6] |= uint64_t{1} << (rank[row] & 63);
    for (size_t w = 0; w < n_words; ++w) {
      for (uint64_t left = words[w]; left != 0; left &= left - 1) {
        *out++ = entry[64 * w + static_cast<size_t>(std::countr_zero(left))];
      }
      words[w] = 0;
    }
  }

 private:
  struct Column {
    std::unique_ptr<uint16_t[]> rank;  // per row
    std::unique_ptr<Entry[]> entry;    // per rank
  };
  Column& make(size_t j) {
    columns_[j].rank = std::make_unique_for_overwrite<uint16_t[]>(n_rows_);
    columns_[j].entry = std::make_unique_for_overwrite<Entry[]>(n_rows_);
    return columns_[j];
  }

  size_t n_rows_ = 0;
  std::vector<Column> columns_;
};

}  // namespace weald
