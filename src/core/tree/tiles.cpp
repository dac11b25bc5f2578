#include "core/tree/tiles.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/tree/statistics.h"

namespace weald {

namespace {

constexpr size_t row_block = 4096;
constexpr size_t line = 64;

size_t stride_of(size_t n_columns) {
  return n_columns <= 8 ? 8 : n_columns <= 16 ? 16 : 32;
}

// Eight codes of a row: byte k of `codes` counts in column first + k.
template <size_t Columns>
[[gnu::always_inline]] inline void add_codes(const uint8_t* codes, uint64_t word, uint64_t* words) {
  for (size_t at = 0; at < Columns; at += 8) {
    uint64_t eight;
    std::memcpy(&eight, codes + at, sizeof eight);
    const size_t n = std::min<size_t>(8, Columns - at);
    for (size_t k = 0; k < n; ++k) {
      words[(at + k) * tile_codes + ((eight >> (8 * k)) & 0xff)] += word;
    }
  }
}

uint64_t packed_word(RowItem item) {
  const auto value = std::bit_cast<NarrowRows::Value>(item.value);
  return (static_cast<uint64_t>(static_cast<int64_t>(value.g)) << 32) + value.h;
}

// Columns [first, first + Columns) of a tile.
template <size_t Columns>
void add_rows(const Tile& tile, size_t first, std::span<const RowItem> items, uint64_t* words) {
  constexpr size_t ahead = 16;  // rows: about the latency of memory
  const uint8_t* data = tile.data + first;
  const size_t stride = tile.stride, n = items.size();
  words += first * tile_codes;
  size_t i = 0;
  for (; i + ahead < n; ++i) {
    __builtin_prefetch(data + stride * items[i + ahead].row);
    add_codes<Columns>(data + stride * items[i].row, packed_word(items[i]), words);
  }
  for (; i < n; ++i) add_codes<Columns>(data + stride * items[i].row, packed_word(items[i]), words);
}

constexpr size_t together = 16;  // columns at most whose cells, 32 KB, stay in the first-level cache

template <size_t... Columns>
void add_by_count(const Tile& tile, size_t first, size_t n_columns, std::span<const RowItem> items, uint64_t* words,
                  std::index_sequence<Columns...>) {
  using Add = void (*)(const Tile&, size_t, std::span<const RowItem>, uint64_t*);
  static constexpr Add add[] = {add_rows<Columns + 1>...};
  add[n_columns - 1](tile, first, items, words);
}

}  // namespace

void add_tile(const Tile& tile, std::span<const RowItem> items, uint64_t* words) {
  constexpr size_t rows_a_time = 512;  // their codes stay in the cache for the next columns
  const size_t n_parts = (tile.columns.size() + together - 1) / together;
  const size_t part = (tile.columns.size() + n_parts - 1) / n_parts;  // all about equal: 14 + 14 beats 16 + 12
  for (size_t begin = 0; begin < items.size(); begin += rows_a_time) {
    const auto rows = items.subspan(begin, std::min(rows_a_time, items.size() - begin));
    for (size_t first = 0; first < tile.columns.size(); first += part) {
      const size_t n_columns = std::min(part, tile.columns.size() - first);
      add_by_count(tile, first, n_columns, rows, words, std::make_index_sequence<together>());
    }
  }
}

void add_tiles(const Tiles& tiles, std::span<const RowItem> items, PackedSums& sums) {
  if (!sums.any) {
    sums.words.assign(tiles.n_words(), 0);
    sums.any = true;
    sums.n_rows = 0;
  }
  while (!items.empty()) {
    if (sums.n_rows == NarrowRows::rows_before_flush) {
      if (!sums.any_wide) sums.wide.assign(2 * tiles.n_words(), 0);
      sums.any_wide = true;
      for (size_t i = 0; i < sums.words.size(); ++i) unpack_add(NarrowRows{}, sums.words[i], sums.wide.data() + 2 * i);
      std::fill(sums.words.begin(), sums.words.end(), uint64_t{0});
      sums.n_rows = 0;
    }
    const size_t n = std::min<size_t>(items.size(), NarrowRows::rows_before_flush - sums.n_rows);
    size_t start = 0;
    for (const Tile& tile : tiles.all()) {
      add_tile(tile, items.first(n), sums.words.data() + start);
      start += tile.columns.size() * tile_codes;
    }
    sums.n_rows += n;
    items = items.subspan(n);
  }
}

void unpack_column(const Tiles& tiles, std::span<const PackedSums> sums, size_t j, uint32_t n_codes, int64_t* cells) {
  const auto start = static_cast<size_t>(tiles.start(j));
  const size_t n_cells = size_t{n_codes} + 1;
  std::fill_n(cells, 2 * n_cells, int64_t{0});
  for (const PackedSums& part : sums) {
    if (!part.any) continue;
    const uint64_t* words = part.words.data() + start;
    for (size_t i = 0; i < n_cells; ++i) unpack_add(NarrowRows{}, words[i], cells + 2 * i);
    if (!part.any_wide) continue;
    const int64_t* wide = part.wide.data() + 2 * start;
    for (size_t i = 0; i < 2 * n_cells; ++i) cells[i] += wide[i];
  }
}

void clear_sums(std::span<PackedSums> sums) {
  for (PackedSums& part : sums) part.any = part.any_wide = false;
}

Tiles::Tiles(const Codes& codes, Run& run) : start_(codes.columns.size(), nowhere) {
  std::vector<int32_t> chosen;
  for (size_t j = 0; j < codes.columns.size(); ++j) {
    const CodeColumn& column = codes.columns[j];
    if (!column.sparse && column.width == 1 && column.n_codes > 0) chosen.push_back(static_cast<int32_t>(j));
  }
  for (size_t first = 0; first < chosen.size(); first += tile_columns) {
    Tile tile;
    tile.columns.assign(chosen.begin() + static_cast<std::ptrdiff_t>(first),
                        chosen.begin() + static_cast<std::ptrdiff_t>(std::min(chosen.size(), first + tile_columns)));
    tile.stride = stride_of(tile.columns.size());
    const size_t bytes = static_cast<size_t>(codes.n_rows) * tile.stride + line;
    storage_.push_back(std::make_unique_for_overwrite<uint8_t[]>(bytes));
    // Aligned to cache lines, so that no row straddles two.
    const auto address = reinterpret_cast<uintptr_t>(storage_.back().get());
    uint8_t* data = storage_.back().get() + (line - address % line) % line;
    tile.data = data;
    for (size_t c = 0; c < tile.columns.size(); ++c) {
      start_[static_cast<size_t>(tile.columns[c])] = static_cast<int32_t>(n_words_ + c * tile_codes);
    }
    n_words_ += tile.columns.size() * tile_codes;
    fill(codes, tile, data, run);
    tiles_.push_back(std::move(tile));
  }
}

void Tiles::fill(const Codes& codes, Tile& tile, uint8_t* data, Run& run) {
  const auto n_rows = static_cast<size_t>(codes.n_rows);
  parallel_for(run, static_cast<int64_t>((n_rows + row_block - 1) / row_block), [&](int64_t block, int) {
    const size_t first = static_cast<size_t>(block) * row_block, last = std::min(n_rows, first + row_block);
    for (size_t c = 0; c < tile.stride; ++c) {
      const uint8_t* from = nullptr;
      if (c < tile.columns.size()) {
        from = static_cast<const uint8_t*>(codes.columns[static_cast<size_t>(tile.columns[c])].data);
      }
      for (size_t i = first; i < last; ++i) data[i * tile.stride + c] = from == nullptr ? uint8_t{0} : from[i];
    }
  });
}

}  // namespace weald
