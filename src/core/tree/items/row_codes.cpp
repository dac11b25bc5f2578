#include "core/tree/items/row_codes.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

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

// Columns [first, first + Columns) of a tile.
template <class Rows, size_t Columns>
void add_rows(const Tile& tile, size_t first, std::span<const RowItem<Rows>> items, uint64_t* words) {
  constexpr size_t ahead = 16;  // rows: about the latency of memory
  const uint8_t* data = tile.data + first;
  const size_t stride = tile.stride, n = items.size();
  size_t i = 0;
  for (; i + ahead < n; ++i) {
    __builtin_prefetch(data + stride * items[i + ahead].row);
    add_codes<Columns>(data + stride * items[i].row, items[i].value.word(), words);
  }
  for (; i < n; ++i) add_codes<Columns>(data + stride * items[i].row, items[i].value.word(), words);
}

// One function for each number of columns.
template <class Rows, size_t... Columns>
constexpr auto functions_by_count(std::index_sequence<Columns...>) {
  using Add = void (*)(const Tile&, size_t, std::span<const RowItem<Rows>>, uint64_t*);
  return std::array<Add, sizeof...(Columns)>{add_rows<Rows, Columns + 1>...};
}
template <class Rows>
constexpr auto add_by_count = functions_by_count<Rows>(std::make_index_sequence<columns_together>());

// words[column of the tile · 256 + code] += the item's word, for every column.
template <class Rows>
void add_tile(const Tile& tile, std::span<const RowItem<Rows>> items, uint64_t* words) {
  constexpr size_t rows_a_time = 512;  // their codes stay in the cache for the next columns
  const size_t n_parts = (tile.columns.size() + columns_together - 1) / columns_together;
  const size_t part = (tile.columns.size() + n_parts - 1) / n_parts;  // all about equal: 14 + 14 beats 16 + 12
  for (size_t begin = 0; begin < items.size(); begin += rows_a_time) {
    const auto rows = items.subspan(begin, std::min(rows_a_time, items.size() - begin));
    for (size_t first = 0; first < tile.columns.size(); first += part) {
      const size_t n_columns = std::min(part, tile.columns.size() - first);
      add_by_count<Rows>[n_columns - 1](tile, first, rows, words + first* tile_codes);
    }
  }
}

template <class Rows, class Word>
void add_listed(const uint32_t* row_start, const Word* listed, std::span<const RowItem<Rows>> items, uint64_t* words) {
  constexpr size_t ahead = 16;
  const size_t n = items.size();
  for (size_t i = 0; i < n; ++i) {
    if (i + ahead < n) __builtin_prefetch(listed + row_start[items[i + ahead].row]);
    const uint64_t word = items[i].value.word();
    const Word* const end = listed + row_start[items[i].row + 1];
    for (const Word* at = listed + row_start[items[i].row]; at != end; ++at) words[*at] += word;
  }
}

// Calls f with the listed words: const uint16_t* or const uint32_t*.
template <class F>
auto with_words(const ListedWords& listed, F&& f) {
  return listed.longs.empty() ? f(listed.shorts.data()) : f(listed.longs.data());
}

}  // namespace

template <class Rows>
void add_columns(const Tile& tile, size_t first, size_t n, std::span<const RowItem<Rows>> items, uint64_t* words) {
  add_by_count<Rows>[n - 1](tile, first, items, words);
}

template void add_columns<NarrowRows>(const Tile&, size_t, size_t, std::span<const RowItem<NarrowRows>>, uint64_t*);
template void add_columns<WordRows>(const Tile&, size_t, size_t, std::span<const RowItem<WordRows>>, uint64_t*);

template <class Rows>
void add_tiles(const Tiles& tiles, std::span<const RowItem<Rows>> items, PackedSums& sums) {
  if (!sums.any) {
    sums.words.assign(tiles.n_words(), 0);
    sums.any = true;
    sums.n_rows = 0;
  }
  while (!items.empty()) {
    if (sums.n_rows == Rows::rows_before_flush) {
      if (!sums.any_wide) sums.wide.assign(2 * tiles.n_words(), 0);
      sums.any_wide = true;
      for (size_t i = 0; i < sums.words.size(); ++i) unpack_add(Rows{}, sums.words[i], sums.wide.data() + 2 * i);
      std::fill(sums.words.begin(), sums.words.end(), uint64_t{0});
      sums.n_rows = 0;
    }
    const size_t n = std::min<size_t>(items.size(), Rows::rows_before_flush - sums.n_rows);
    size_t start = 0;
    for (const Tile& tile : tiles.all()) {
      add_tile<Rows>(tile, items.first(n), sums.words.data() + start);
      start += tile.columns.size() * tile_codes;
    }
    const ListedWords& listed = tiles.listed();
    if (!listed.empty()) {
      with_words(listed, [&](const auto* all) {
        add_listed<Rows>(listed.row_start.data(), all, items.first(n), sums.words.data() + listed.first_word);
      });
    }
    sums.n_rows += n;
    items = items.subspan(n);
  }
}

template void add_tiles<NarrowRows>(const Tiles&, std::span<const RowItem<NarrowRows>>, PackedSums&);
template void add_tiles<WordRows>(const Tiles&, std::span<const RowItem<WordRows>>, PackedSums&);

void unpack_words(std::span<const PackedSums> sums, size_t start, size_t n, int64_t* cells) {
  std::fill_n(cells, 2 * n, int64_t{0});
  for (const PackedSums& part : sums) {
    if (!part.any) continue;
    const uint64_t* words = part.words.data() + start;
    for (size_t i = 0; i < n; ++i) unpack_add(NarrowRows{}, words[i], cells + 2 * i);
    if (!part.any_wide) continue;
    const int64_t* wide = part.wide.data() + 2 * start;
    for (size_t i = 0; i < 2 * n; ++i) cells[i] += wide[i];
  }
}

void copy_words(std::span<const PackedSums> sums, size_t start, size_t n, uint64_t* cells) {
  bool first = true;
  for (const PackedSums& part : sums) {
    if (!part.any) continue;
    const uint64_t* words = part.words.data() + start;
    if (first) {
      std::copy_n(words, n, cells);
    } else {
      for (size_t i = 0; i < n; ++i) cells[i] += words[i];
    }
    first = false;
  }
  if (first) std::fill_n(cells, n, uint64_t{0});
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
  list_sparse(codes);
}

bool Tiles::suits(const Codes& codes) {
  // Cells are cleared, subtracted and scanned in every node: they must be few beside the entries.
  constexpr size_t entries_a_cell = 16, few_cells = 4096;
  size_t n_cells = 0, n_entries = 0;
  for (const CodeColumn& column : codes.columns) {
    if (!column.sparse) continue;
    n_cells += size_t{column.n_codes} + 1;
    n_entries += column.n_entries;
  }
  return n_entries < ~uint32_t{0} && (n_cells <= few_cells || n_cells * entries_a_cell <= n_entries);
}

namespace {

bool two_values(const CodeColumn& column) {
  if (column.n_codes != 2 || column.default_code == 0 || column.kind == ColumnKind::categorical) return false;
  return with_codes(column, [&](const auto* codes) {
    return std::none_of(codes, codes + column.n_entries, [](auto code) { return code == 0; });
  });
}

}  // namespace

void Tiles::list_sparse(const Codes& codes) {
  listed_.first_word = n_words_;
  const auto n_rows = static_cast<size_t>(codes.n_rows);
  std::vector<size_t> others;
  for (size_t j = 0; j < codes.columns.size(); ++j) {
    const CodeColumn& column = codes.columns[j];
    if (!column.sparse || column.n_codes == 0) continue;
    listed_.row_start.resize(n_rows + 1, 0);
    for (size_t i = 0; i < column.n_entries; ++i) ++listed_.row_start[column.rows[i] + 1];
    if (!two_values(column)) {
      others.push_back(j);
      continue;
    }
    start_[j] = static_cast<int32_t>(n_words_++);
    flags_.push_back(static_cast<int32_t>(j));
    constexpr size_t dense = 32;  // bits take no more memory than row numbers
    bits_.emplace_back(column.n_entries * dense >= n_rows ? (n_rows + 63) / 64 : 0, 0);
    if (bits_.back().empty()) continue;
    for (size_t i = 0; i < column.n_entries; ++i) {
      bits_.back()[column.rows[i] >> 6] |= uint64_t{1} << (column.rows[i] & 63);
    }
  }
  for (const size_t j : others) {
    start_[j] = static_cast<int32_t>(n_words_);
    n_words_ += size_t{codes.columns[j].n_codes} + 1;
  }
  if (listed_.empty()) return;
  std::partial_sum(listed_.row_start.begin(), listed_.row_start.end(), listed_.row_start.begin());
  std::vector<uint32_t> next(listed_.row_start.begin(), listed_.row_start.end() - 1);
  const auto fill = [&](auto& words) {
    words.resize(listed_.row_start.back());
    using Word = typename std::remove_reference_t<decltype(words)>::value_type;
    // Flags first: a row's words ascend.
    for (const int32_t j : flags_) {
      const CodeColumn& column = codes.columns[static_cast<size_t>(j)];
      const auto word = static_cast<Word>(listed_at(static_cast<size_t>(j)));
      for (size_t i = 0; i < column.n_entries; ++i) words[next[column.rows[i]]++] = word;
    }
    for (const size_t j : others) {
      const CodeColumn& column = codes.columns[j];
      const size_t start = listed_at(j);
      with_codes(column, [&](const auto* code) {
        for (size_t i = 0; i < column.n_entries; ++i) {
          words[next[column.rows[i]]++] = static_cast<Word>(start + code[i]);
        }
      });
    }
  };
  constexpr size_t most_shorts = size_t{1} << 16;
  n_words_ - listed_.first_word <= most_shorts ? fill(listed_.shorts) : fill(listed_.longs);
}

const uint64_t* Tiles::bits(size_t j) const {
  return !is_flag(j) || bits_[listed_at(j)].empty() ? nullptr : bits_[listed_at(j)].data();
}

uint32_t Tiles::listed_code(size_t j, uint32_t n_codes, uint32_t default_code, uint32_t row) const {
  const auto first = static_cast<uint32_t>(listed_at(j));
  const bool flag = is_flag(j);
  const uint32_t last = flag ? first : first + n_codes;
  return with_words(listed_, [&](const auto* words) {
    const auto* const end = words + listed_.row_start[row + 1];
    const auto* const at = std::lower_bound(words + listed_.row_start[row], end, first);
    if (at == end || *at > last) return default_code;
    return flag ? 3 - default_code : static_cast<uint32_t>(*at) - first;
  });
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
