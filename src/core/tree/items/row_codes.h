// Codes a second time, row after row: what the packed histograms of boosting read.
//
// One-byte codes of dense columns lie in tiles of up to `tile_columns` columns, each row's codes side by side and
// padded to a multiple of eight bytes, so that one row of a tile lies within one cache line and is read eight codes at
// a time. Sparse columns lie in lists: for every row, the words of the histogram that its listed entries add to.
// Those of two values, of which one is listed, are flags: one word each, all of them subtracted and scanned together.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/data/codes.h"
#include "core/tree/statistics/statistics.h"

namespace weald {

inline constexpr size_t tile_columns = 32;
inline constexpr size_t tile_codes = 256;       // cells a column has in a packed histogram
inline constexpr size_t columns_together = 16;  // at most, whose cells, 32 KB, stay in the first-level cache

struct Tile {
  std::vector<int32_t> columns;
  size_t stride = 0;  // bytes per row: 8, 16 or 32
  const uint8_t* data = nullptr;
  const uint8_t* row(size_t i) const { return data + i * stride; }
};

// The words of every row, counted from the first one of sparse columns and ascending within a row.
struct ListedWords {
  std::vector<uint32_t> row_start;
  std::vector<uint16_t> shorts;  // if all fit
  std::vector<uint32_t> longs;   // else
  size_t first_word = 0;
  bool empty() const { return row_start.empty(); }
};

class Tiles {
 public:
  static constexpr int32_t nowhere = -1;

  Tiles(const Codes& codes, Run& run);

  // Whether the sparse columns have few enough cells for histograms in every node.
  static bool suits(const Codes& codes);

  std::span<const Tile> all() const { return tiles_; }
  const ListedWords& listed() const { return listed_; }
  // Where column j's cells begin in the words of a histogram; `nowhere` if it is in no tile and not listed.
  int32_t start(size_t j) const { return start_[j]; }
  size_t n_words() const { return n_words_; }
  // The flags' columns, ascending; their words are the first of the listed ones.
  std::span<const int32_t> flags() const { return flags_; }
  bool is_flag(size_t j) const { return listed_at(j) < flags_.size(); }
  // One bit per row, for flags of many rows; nullptr for others.
  const uint64_t* bits(size_t j) const;
  // The code of a row in a sparse column.
  uint32_t listed_code(size_t j, uint32_t n_codes, uint32_t default_code, uint32_t row) const;
  // Calls f(word) for the listed words of a row, counted from the first of them.
  template <class F>
  void for_listed(uint32_t row, F&& f) const {
    for (uint32_t i = listed_.row_start[row]; i < listed_.row_start[row + 1]; ++i) {
      f(listed_.longs.empty() ? uint32_t{listed_.shorts[i]} : listed_.longs[i]);
    }
  }

 private:
  void fill(const Codes& codes, Tile& tile, uint8_t* data, Run& run);
  void list_sparse(const Codes& codes);
  size_t listed_at(size_t j) const {
    const bool listed = start_[j] != nowhere && static_cast<size_t>(start_[j]) >= listed_.first_word;
    return listed ? static_cast<size_t>(start_[j]) - listed_.first_word : ~size_t{0};
  }

  std::vector<Tile> tiles_;
  ListedWords listed_;
  std::vector<int32_t> flags_;
  std::vector<std::vector<uint64_t>> bits_;  // per flag
  std::vector<int32_t> start_;
  std::vector<std::unique_ptr<uint8_t[]>> storage_;
  size_t n_words_ = 0;
};

// A row of a node: its number, and its gradient and hessian beside it, so that both travel together.
template <class Rows>
struct RowItem {
  uint32_t row;
  typename Rows::Value value;
};

// What one worker has added up of a node: words of all columns, moved to wide lanes before a half can overflow.
struct PackedSums {
  std::vector<uint64_t> words;  // (n_words)
  std::vector<int64_t> wide;    // (n_words, 2), once it was needed
  size_t n_rows = 0;            // in `words`
  bool any = false, any_wide = false;
};

// The rows of a tree as items, and what workers need for them: kept from tree to tree, because fresh memory costs more
// than filling it.
template <class Rows>
struct ItemBuffers {
  std::vector<RowItem<Rows>> first, second;  // a node's rows lie in one of the two; its children's in the other
  std::vector<PackedSums> sums;              // per worker
  std::vector<uint8_t> goes_left;            // per row of the node being split
  std::vector<std::unique_ptr<int64_t[]>> spare_cells;  // histograms of nodes that are done, `cells_each` cells
  size_t cells_each = 0;
};

// Adds rows to a worker's sums: the hot loop of boosting. For NarrowRows and WordRows.
template <class Rows>
void add_tiles(const Tiles& tiles, std::span<const RowItem<Rows>> items, PackedSums& sums);
// cells[2 i + lane] = Σ over workers of word start + i.
void unpack_words(std::span<const PackedSums> sums, size_t start, size_t n, int64_t* cells);
// cells[i] = Σ over workers of word start + i, as a word.
void copy_words(std::span<const PackedSums> sums, size_t start, size_t n, uint64_t* cells);
void clear_sums(std::span<PackedSums> sums);
// words[i · 256 + code] += the item's word, for columns first … first + n − 1 of a tile; at most `columns_together`.
template <class Rows>
void add_columns(const Tile& tile, size_t first, size_t n, std::span<const RowItem<Rows>> items, uint64_t* words);

}  // namespace weald
