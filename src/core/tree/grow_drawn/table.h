// What the trees of a forest share when each of their nodes draws its columns (grower.h).
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/base/pool.h"
#include "core/data/codes.h"
#include "core/tree/options.h"

namespace weald {

struct DrawnColumn {
  const void* data;
  const double* marks;
  uint32_t n_codes;
  ColumnKind kind;
  uint8_t width;
  bool missing;  // some row has no value
  // Thresholds drawn in value, no row missing: the values themselves, in float32 where that loses nothing.
  std::unique_ptr<float[]> narrow;
  std::unique_ptr<double[]> wide;
};

// Some columns row by row: the codes, or the narrow values, of all columns of one width. Rows of a part of the table
// are then copied at the cost of a cache line or two each.
struct RowMajor {
  std::vector<size_t> columns;
  std::unique_ptr<unsigned char[]> cells;  // (rows, columns)
};

// A column of a part of the table.
struct DrawnCopy {
  std::unique_ptr<unsigned char[]> memory;
  unsigned char* data = nullptr;  // as it is
  uint16_t* ranks = nullptr;      // per row
  uint32_t* original = nullptr;   // per rank
};

// Memory that goes from tree to tree; each has its own while it grows.
class SpareCopies {
 public:
  std::vector<DrawnCopy> take(size_t n) {
    const std::lock_guard lock(mutex_);
    if (spare_.empty()) return std::vector<DrawnCopy>(n);
    std::vector<DrawnCopy> copies = std::move(spare_.back());
    spare_.pop_back();
    return copies;
  }
  void give_back(std::vector<DrawnCopy>&& copies) {
    const std::lock_guard lock(mutex_);
    spare_.push_back(std::move(copies));
  }

 private:
  std::mutex mutex_;
  std::vector<std::vector<DrawnCopy>> spare_;
};

struct DrawnTable {
  std::vector<DrawnColumn> columns;
  size_t n_rows;
  RowMajor rows_of_bytes, rows_of_pairs, rows_of_words;  // cells of 1, 2, 4 bytes; empty for tables of many columns

  mutable SpareCopies spare_copies;

  // Whether such trees can be grown on this table: all columns dense, nothing asked that ties nodes to each other.
  static bool fits(const Codes& codes, const GrowOptions& options);
  DrawnTable(const Codes& codes, const GrowOptions& options, Run& run);

 private:
  template <class Cell>
  void lay_out(RowMajor& rows, Run& run);
};

}  // namespace weald
