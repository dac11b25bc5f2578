// The columns that the splits of a forest read, numbered without gaps: their slots. The look-up is a small hash table,
// so that nothing here grows with the columns of the table.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace weald {

class UsedColumns {
 public:
  UsedColumns() = default;
  explicit UsedColumns(std::vector<int32_t> columns) : columns_(std::move(columns)) {
    std::sort(columns_.begin(), columns_.end());
    columns_.erase(std::unique(columns_.begin(), columns_.end()), columns_.end());
    table_.resize(std::bit_ceil(2 * columns_.size() + 1), {none, none});
    for (size_t i = 0; i < columns_.size(); ++i) {
      size_t at = place(columns_[i]);
      while (table_[at].column != none) at = (at + 1) & (table_.size() - 1);
      table_[at] = {columns_[i], static_cast<int32_t>(i)};
    }
  }

  int64_t size() const { return static_cast<int64_t>(columns_.size()); }
  // Ascending: slot → column.
  std::span<const int32_t> columns() const { return columns_; }

  // The slot of a column, −1 if no split reads it.
  int32_t slot(int32_t column) const {
    for (size_t at = place(column);; at = (at + 1) & (table_.size() - 1)) {
      if (table_[at].column == column) return table_[at].slot;
      if (table_[at].column == none) return none;
    }
  }

 private:
  static constexpr int32_t none = -1;
  struct Entry {
    int32_t column, slot;
  };
  size_t place(int32_t column) const {
    const uint32_t hash = static_cast<uint32_t>(column) * 0x9e3779b1U;
    return (hash ^ (hash >> 16)) & (table_.size() - 1);
  }

  std::vector<int32_t> columns_;
  std::vector<Entry> table_ = {{none, none}};
};

}  // namespace weald
