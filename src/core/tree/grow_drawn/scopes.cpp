#include "core/tree/grow_drawn/scopes.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <utility>

namespace weald {

namespace {

using Copied = DrawnScope::Copied;

// What the caches hold, and no more than some megabytes if there are many columns.
std::array<size_t, DrawnScopes::n_levels> sizes_of_parts(size_t n_columns, bool random) {
  using Sizes = std::array<size_t, DrawnScopes::n_levels>;
  constexpr size_t most_cells = size_t{1} << 23;
  const size_t most = most_cells / std::max<size_t>(n_columns, 1);
  Sizes sizes = random ? Sizes{32768, 2048, 256} : Sizes{32768, 4096, 512};
  for (size_t& size : sizes) size = std::min(size, most);
  return sizes;
}

// Inline, four at a time: rows are short, and a call to copy each costs more than the copy.
inline void copy_words(const uint32_t* from, size_t n, uint32_t* to) {
  constexpr size_t together = 4;
  size_t i = 0;
  for (; i + together <= n; i += together) std::memcpy(to + i, from + i, together * sizeof(uint32_t));
  for (; i < n; ++i) to[i] = from[i];
}

}  // namespace

DrawnScopes::DrawnScopes(const DrawnTable& table, std::vector<uint32_t> ids, const Spread& spread, bool random)
    : table_(table),
      random_(random),
      part_rows_(sizes_of_parts(table.columns.size(), random)),
      copies_(table.spare_copies.take(n_levels * table.columns.size())) {
  whole_.spread = &spread;
  whole_.ids = std::move(ids);
  for (const DrawnColumn& column : table.columns) {
    whole_.views.push_back(
        {column.data, column.narrow.get(), column.wide.get(), 1, nullptr, column.n_codes, column.width});
  }
  whole_.copied.resize(table.columns.size(), Copied::no);
}

DrawnScope& DrawnScopes::make_part(DrawnScope& whole, std::span<const uint32_t> ids, const Spread& spread) {
  DrawnScope& part = parts_[whole.level];
  part.spread = &spread;
  part.whole = &whole;
  part.in_whole = ids;
  part.level = whole.level + 1;
  part.ids.resize(ids.size());
  std::iota(part.ids.begin(), part.ids.end(), 0U);
  part.views.resize(whole.views.size());
  part.copied.assign(whole.views.size(), Copied::no);
  part.in_table.resize(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) part.in_table[i] = whole.level == 0 ? ids[i] : whole.in_table[ids[i]];
  if (whole.level == 0) {
    copy_rows<uint8_t>(table_.rows_of_bytes, part);
    copy_rows<uint16_t>(table_.rows_of_pairs, part);
    copy_rows<uint32_t>(table_.rows_of_words, part);
  } else if (random_) {
    take_rows(part);
  }
  return part;
}

// All columns of one width, from rows to columns.
template <class Cell>
void DrawnScopes::copy_rows(const RowMajor& rows, DrawnScope& part) {
  const size_t n = rows.columns.size();
  if (n == 0) return;
  std::vector<Cell*> to;
  for (const size_t j : rows.columns) to.push_back(reinterpret_cast<Cell*>(copy_of(j, part).data));
  const auto* cells = reinterpret_cast<const Cell*>(rows.cells.get());
  constexpr size_t block = 16;  // rows whose cells are close at hand; a copy has room for a whole block
  const Cell* row[block];
  for (size_t first = 0; first < part.in_table.size(); first += block) {
    for (size_t i = 0; i < block; ++i) {
      row[i] = cells + n * part.in_table[std::min(first + i, part.in_table.size() - 1)];
      const size_t ahead = std::min(first + block + i, part.in_table.size() - 1);
      for (size_t c = 0; c < n; c += 64 / sizeof(Cell)) __builtin_prefetch(cells + n * part.in_table[ahead] + c);
    }
    transpose<block>(row, n, to.data(), first);
  }
  for (const size_t j : rows.columns) take_copy(j, part);
}

// Narrow values of a small part: its rows as they are in the table.
void DrawnScopes::take_rows(DrawnScope& part) {
  const RowMajor& rows = table_.rows_of_words;
  const size_t n = rows.columns.size();
  part.cells.resize(std::max(part.cells.size(), n * part.in_table.size()));
  const bool nested = !part.whole->cells.empty();
  const uint32_t* cells = nested ? part.whole->cells.data() : reinterpret_cast<const uint32_t*>(rows.cells.get());
  const uint32_t* ids = nested ? part.in_whole.data() : part.in_table.data();
  constexpr size_t ahead = 8;
  for (size_t i = 0; n > 0 && i < part.in_table.size(); ++i) {
    const uint32_t* next = cells + n * ids[std::min(i + ahead, part.in_table.size() - 1)];
    for (size_t c = 0; c < n; c += 64 / sizeof(uint32_t)) __builtin_prefetch(next + c);
    copy_words(cells + n * ids[i], n, part.cells.data() + n * i);
  }
  for (size_t c = 0; c < n; ++c) {
    DrawnView& view = part.views[rows.columns[c]] = whole_.views[rows.columns[c]];
    if (view.narrow == nullptr) continue;
    view.narrow = reinterpret_cast<const float*>(part.cells.data()) + c;
    view.stride = n;
    part.copied[rows.columns[c]] = Copied::as_is;
  }
}

DrawnCopy& DrawnScopes::copy_of(size_t j, const DrawnScope& part) {
  DrawnCopy& copy = copies_[(part.level - 1) * table_.columns.size() + j];
  if (copy.memory != nullptr) return copy;
  const DrawnView& view = whole_.views[j];
  const size_t cell = view.narrow != nullptr ? sizeof(float) : view.wide != nullptr ? sizeof(double) : view.width;
  const size_t n = (part_rows_[part.level - 1] / 16 + 1) * 16;
  // Columns start at different places of a page: the same row of many must not share a set of the cache.
  constexpr size_t line = 64, lines_a_page = 64, step = 11;
  const size_t shift = j * step % lines_a_page * line;
  const size_t of_ranks = random_ ? 0 : sizeof(uint16_t) + sizeof(uint32_t);
  copy.memory = std::make_unique_for_overwrite<unsigned char[]>(shift + n * (cell + of_ranks));
  copy.data = copy.memory.get() + shift;
  copy.original = reinterpret_cast<uint32_t*>(copy.data + n * cell);
  copy.ranks = reinterpret_cast<uint16_t*>(copy.original + n);
  return copy;
}

void DrawnScopes::take_copy(size_t j, DrawnScope& part) {
  DrawnView& view = part.views[j] = part.whole->views[j];
  const unsigned char* data = copy_of(j, part).data;
  // Ranks of a much larger part are ranked again.
  constexpr size_t sparse = 16;
  const bool dense = view.n_codes <= sparse * part.in_whole.size();
  part.copied[j] = part.whole->copied[j] == Copied::ranked && dense ? Copied::ranked : Copied::as_is;
  if (view.narrow != nullptr) {
    view.narrow = reinterpret_cast<const float*>(data);
  } else if (view.wide != nullptr) {
    view.wide = reinterpret_cast<const double*>(data);
  } else {
    view.data = data;
  }
}

void DrawnScopes::copy_column(size_t j, DrawnScope& part) {
  if (part.whole->level > 0 && part.whole->copied[j] == Copied::no) copy_column(j, *part.whole);
  const DrawnView& view = part.whole->views[j];
  const auto gather = [&](const auto* from) {
    auto* to = reinterpret_cast<std::remove_cvref_t<decltype(*from)>*>(copy_of(j, part).data);
    for (size_t i = 0; i < part.in_whole.size(); ++i) to[i] = from[part.in_whole[i]];
  };
  if (view.narrow != nullptr) {
    gather(view.narrow);
  } else if (view.wide != nullptr) {
    gather(view.wide);
  } else {
    with_codes(view.data, view.width, gather);
  }
  take_copy(j, part);
}

// Codes become ranks, from 1, among those present in the part; 0 stays missing.
void DrawnScopes::rank_column(size_t j, DrawnScope& part) {
  const DrawnCopy& copy = copy_of(j, part);
  DrawnView& view = part.views[j];
  const size_t n = part.in_whole.size();
  bits_.make_room(view.n_codes);
  if (rank_of_.size() <= view.n_codes) rank_of_.resize(size_t{view.n_codes} + 1);
  uint16_t* const rank_of = rank_of_.data();
  uint32_t* const original = copy.original;
  uint32_t n_ranks = 0;
  with_codes(view.data, view.width, [&](const auto* codes) {
    for (size_t i = 0; i < n; ++i) bits_.add(codes[i]);
    rank_of[0] = 0;
    bits_.drain(view.n_codes, [&](uint32_t code) {
      if (code == 0) return;
      original[++n_ranks] = view.in_table(code);
      rank_of[code] = static_cast<uint16_t>(n_ranks);
    });
    for (size_t i = 0; i < n; ++i) copy.ranks[i] = rank_of[codes[i]];
  });
  part.copied[j] = Copied::ranked;
  view.data = copy.ranks;
  view.width = sizeof(uint16_t);
  view.n_codes = n_ranks;
  view.original = original;
}

}  // namespace weald
