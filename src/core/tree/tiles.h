// One-byte codes a second time, row after row: what the packed histogram reads.
//
// A tile holds up to `tile_columns` columns, each row's codes side by side and padded to a multiple of eight bytes, so
// that one row of a tile lies within one cache line and is read eight codes at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/data/codes.h"

namespace weald {

inline constexpr size_t tile_columns = 32;
inline constexpr size_t tile_codes = 256;  // cells a column has in a packed histogram

struct Tile {
  std::vector<int32_t> columns;
  size_t stride = 0;  // bytes a row: 8, 16 or 32
  const uint8_t* data = nullptr;
  const uint8_t* row(size_t i) const { return data + i * stride; }
};

class Tiles {
 public:
  static constexpr int32_t nowhere = -1;

  Tiles(const Codes& codes, Run& run);

  std::span<const Tile> all() const { return tiles_; }
  // Where column j's cells begin in the words of all tiles; `nowhere` if it is in none.
  int32_t start(size_t j) const { return start_[j]; }
  size_t n_words() const { return n_words_; }

 private:
  void fill(const Codes& codes, Tile& tile, uint8_t* data, Run& run);

  std::vector<Tile> tiles_;
  std::vector<int32_t> start_;
  std::vector<std::unique_ptr<uint8_t[]>> storage_;
  size_t n_words_ = 0;
};

// A row of a node: its number, and its 16-bit gradient and hessian beside it, so that both travel together.
struct RowItem {
  uint32_t row;
  uint32_t value;  // NarrowRows::Value
};

// What one worker has added up of a node: packed words of all tiles, moved to wide lanes before a half can overflow.
struct PackedSums {
  std::vector<uint64_t> words;  // (n_words)
  std::vector<int64_t> wide;    // (n_words, 2), once it was needed
  size_t n_rows = 0;            // in `words`
  bool any = false, any_wide = false;
};

// The rows of a tree as items, and what workers need for them: kept from tree to tree, because fresh memory costs more
// than filling it.
struct ItemBuffers {
  std::vector<RowItem> first, second;  // a node's rows lie in one of the two; its children's in the other
  std::vector<PackedSums> sums;        // per worker
};

// Adds rows to a worker's sums.
void add_tiles(const Tiles& tiles, std::span<const RowItem> items, PackedSums& sums);
// cells[code · 2 + lane] = Σ over workers, for column j, which is in a tile.
void unpack_column(const Tiles& tiles, std::span<const PackedSums> sums, size_t j, uint32_t n_codes, int64_t* cells);
void clear_sums(std::span<PackedSums> sums);

// words[column of the tile · 256 + code] += the item's packed word, for every column: the hot loop of boosting.
// `words` has room for stride · 256 cells.
void add_tile(const Tile& tile, std::span<const RowItem> items, uint64_t* words);

}  // namespace weald
