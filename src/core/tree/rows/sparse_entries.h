// The listed entries of all sparse columns of a tree, one column after another, each in code order within a node's
// range. Kept in four bytes where a code and a row fit them together, else in eight: a text table has more entries than
// anything else in memory.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/tree/rows/order.h"

namespace weald {

class SparseEntries {
 public:
  void allocate(size_t n, uint32_t largest_code, uint32_t largest_row) {
    n_ = n;
    row_bits_ = static_cast<int>(std::bit_width(largest_row));
    narrow_ = row_bits_ + static_cast<int>(std::bit_width(largest_code)) <= 32;
    if (narrow_) {
      words_ = std::make_unique_for_overwrite<uint32_t[]>(n);
    } else {
      entries_ = std::make_unique_for_overwrite<Entry[]>(n);
    }
  }

  SparseEntries copied() const {
    SparseEntries out;
    out.n_ = n_;
    out.row_bits_ = row_bits_;
    out.narrow_ = narrow_;
    if (words_ != nullptr) {
      out.words_ = std::make_unique_for_overwrite<uint32_t[]>(n_);
      std::copy_n(words_.get(), n_, out.words_.get());
    }
    if (entries_ != nullptr) {
      out.entries_ = std::make_unique_for_overwrite<Entry[]>(n_);
      std::copy_n(entries_.get(), n_, out.entries_.get());
    }
    return out;
  }

  void load(size_t begin, std::span<Entry> out) const {
    if (!narrow_) {
      std::copy_n(entries_.get() + begin, out.size(), out.begin());
      return;
    }
    const uint64_t row_mask = (uint64_t{1} << row_bits_) - 1;
    for (size_t i = 0; i < out.size(); ++i) {
      const uint64_t word = words_[begin + i];
      out[i] = (word >> row_bits_ << 32) | (word & row_mask);
    }
  }

  void store(size_t begin, std::span<const Entry> in) {
    if (!narrow_) {
      std::copy_n(in.begin(), in.size(), entries_.get() + begin);
      return;
    }
    for (size_t i = 0; i < in.size(); ++i) {
      words_[begin + i] = static_cast<uint32_t>(uint64_t{entry_code(in[i])} << row_bits_) | entry_row(in[i]);
    }
  }

 private:
  size_t n_ = 0;
  int row_bits_ = 32;
  bool narrow_ = false;
  std::unique_ptr<uint32_t[]> words_;
  std::unique_ptr<Entry[]> entries_;
};

// The entries of a sparse column that belong to a node.
struct SparseRange {
  int32_t column;
  uint32_t begin, end;
};

// The sparse columns of a table in code order. Sorting is most of the cost of a small tree, and the order is the same
// for every tree of a fit: boosting makes it once (sort_sparse_columns) and each tree takes a copy.
struct SparseOrder {
  SparseEntries entries;
  std::vector<size_t> start;         // per column, in `entries`
  std::vector<SparseRange> columns;  // those with entries
  size_t longest = 0;
};

}  // namespace weald
