// DrawnGrower, third part: the columns of a part of the table. Included by grow_drawn.h.
#pragma once

#include "core/tree/grow_drawn/grower.h"

namespace weald {

// All columns of one width, from rows to columns.
template <class Rows, class Criterion>
template <class Cell>
void DrawnGrower<Rows, Criterion>::copy_rows(const RowMajor& rows, Scope& part) {
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

// Inline, four at a time: rows are short, and a call to copy each costs more than the copy.
inline void copy_words(const uint32_t* from, size_t n, uint32_t* to) {
  constexpr size_t together = 4;
  size_t i = 0;
  for (; i + together <= n; i += together) std::memcpy(to + i, from + i, together * sizeof(uint32_t));
  for (; i < n; ++i) to[i] = from[i];
}

// Narrow values of a small part: its rows as they are in the table.
template <class Rows, class Criterion>
void DrawnGrower<Rows, Criterion>::take_rows(Scope& part) {
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
    View& view = part.views[rows.columns[c]] = whole_.views[rows.columns[c]];
    if (view.narrow == nullptr) continue;
    view.narrow = reinterpret_cast<const float*>(part.cells.data()) + c;
    view.stride = n;
    part.copied[rows.columns[c]] = Copied::as_is;
  }
}

template <class Rows, class Criterion>
auto DrawnGrower<Rows, Criterion>::copy_of(size_t j, const Scope& part) -> DrawnCopy& {
  DrawnCopy& copy = copies_[(part.level - 1) * table_.columns.size() + j];
  if (copy.memory != nullptr) return copy;
  const View& view = whole_.views[j];
  const size_t cell = view.narrow != nullptr ? sizeof(float) : view.wide != nullptr ? sizeof(double) : view.width;
  const size_t n = (part_rows_[part.level - 1] / 16 + 1) * 16;
  // Columns start at different places of a page: the same row of many must not share a set of the cache.
  constexpr size_t line = 64, lines_a_page = 64, step = 11;
  const size_t shift = j * step % lines_a_page * line;
  const size_t of_ranks = options_.random ? 0 : sizeof(uint16_t) + sizeof(uint32_t);
  copy.memory = std::make_unique_for_overwrite<unsigned char[]>(shift + n * (cell + of_ranks));
  copy.data = copy.memory.get() + shift;
  copy.original = reinterpret_cast<uint32_t*>(copy.data + n * cell);
  copy.ranks = reinterpret_cast<uint16_t*>(copy.original + n);
  return copy;
}

template <class Rows, class Criterion>
void DrawnGrower<Rows, Criterion>::take_copy(size_t j, Scope& part) {
  View& view = part.views[j] = part.whole->views[j];
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

// Column j for a node of n rows.
template <class Rows, class Criterion>
auto DrawnGrower<Rows, Criterion>::view(int32_t j, Scope& scope, size_t n) -> const View& {
  const auto at = static_cast<size_t>(j);
  if (scope.level == 0) return scope.views[at];
  if (scope.copied[at] == Copied::no) copy_column(at, scope);
  const DrawnColumn& column = table_.columns[at];
  const bool may = !options_.random && column.width > 1 && column.kind != ColumnKind::categorical;
  if (may && scope.copied[at] != Copied::ranked && n > CodeSums<Sum>::most_few) {
    with_codes(scope.views[at].data, scope.views[at].width, [&](const auto* codes) { rank_column(codes, at, scope); });
  }
  return scope.views[at];
}

template <class Rows, class Criterion>
void DrawnGrower<Rows, Criterion>::copy_column(size_t j, Scope& part) {
  if (part.whole->level > 0 && part.whole->copied[j] == Copied::no) copy_column(j, *part.whole);
  const View& view = part.whole->views[j];
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
template <class Rows, class Criterion>
template <class Code>
void DrawnGrower<Rows, Criterion>::rank_column(const Code* codes, size_t j, Scope& part) {
  const DrawnCopy& copy = copy_of(j, part);
  View& view = part.views[j];
  const size_t n = part.in_whole.size();
  bits_.make_room(view.n_codes);
  if (rank_of_.size() <= view.n_codes) rank_of_.resize(size_t{view.n_codes} + 1);
  for (size_t i = 0; i < n; ++i) bits_.add(codes[i]);
  uint16_t* const rank_of = rank_of_.data();
  uint32_t* const original = copy.original;
  uint32_t n_ranks = 0;
  rank_of[0] = 0;
  bits_.drain(view.n_codes, [&](uint32_t code) {
    if (code == 0) return;
    original[++n_ranks] = view.in_table(code);
    rank_of[code] = static_cast<uint16_t>(n_ranks);
  });
  for (size_t i = 0; i < n; ++i) copy.ranks[i] = rank_of[codes[i]];
  part.copied[j] = Copied::ranked;
  view.data = copy.ranks;
  view.width = sizeof(uint16_t);
  view.n_codes = n_ranks;
  view.original = original;
}

}  // namespace weald
