// The order of a column's categories among all rows of a tree, by which its small nodes may split as well: there the
// order by a node's own rows is mostly chance (docs/methods/forests.md, 5b).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/data/codes.h"
#include "core/tree/grow/histogram.h"
#include "core/tree/options.h"
#include "core/tree/split/categorical.h"

namespace weald {

inline bool wants_tree_orders(const GrowOptions& options) {
  return options.tree_orders && options.category_chance > 0 && !options.random;
}

// Whether so many categories of so many rows may be ids.
inline bool rare_categories(size_t n_categories, size_t n_rows) {
  constexpr size_t few_rows = 5;
  return n_categories > 2 && n_rows < few_rows * n_categories;
}

// Per code, whether one of the rows has it and no other.
inline std::vector<uint8_t> alone_categories(const void* codes, int width, uint32_t n_codes,
                                             std::span<const uint32_t> ids) {
  std::vector<uint8_t> n_rows(size_t{n_codes} + 1, 0);  // up to 2
  with_codes(codes, width, [&](const auto* code) {
    for (const uint32_t row : ids) n_rows[code[row]] = static_cast<uint8_t>(std::min(n_rows[code[row]] + 1, 2));
  });
  for (uint8_t& n : n_rows) n = n == 1;
  return n_rows;
}

// What the rows of each category of a column add up to.
struct CategoryCells {
  const int64_t* cells;  // (n_codes + 1) of `stride`, the lanes first
  size_t stride;
  uint32_t n_codes;
  size_t n_rows;               // of the tree
  std::vector<uint8_t> alone;  // as of alone_categories
};

// Without places if the tree has fewer than three categories, which leave no choice of orders.
template <class Criterion>
TreeOrder order_of_cells(const CategoryCells& column, int n_lanes, const Criterion& criterion) {
  const uint32_t n_codes = column.n_codes;
  PresentCategories present;
  present.clear(n_lanes);
  TreeOrder found;
  found.weight.resize(size_t{n_codes} + 1, 0);
  for (uint32_t code = 1; code <= n_codes; ++code) {
    const int64_t* cell = column.cells + column.stride * code;
    found.weight[code] = criterion.weight(cell);
    if (found.weight[code] > 0) std::copy_n(cell, n_lanes, present.append(code));
  }
  if (present.size() < 3) return found;
  found.rare = rare_categories(present.size(), column.n_rows);
  found.alone = column.alone;
  found.place.resize(size_t{n_codes} + 1, 0);
  const std::vector<size_t> order = category_order(criterion, present);
  for (uint32_t i = 0; i < order.size(); ++i) found.place[present.code[order[i]]] = i;
  return found;
}

// Of the rows `ids`.
template <class Rows, class Criterion>
TreeOrder tree_order(const void* codes, int width, uint32_t n_codes, std::span<const uint32_t> ids, const Rows& rows,
                     const Criterion& criterion) {
  const auto lanes = static_cast<size_t>(rows.lanes());
  std::vector<int64_t> cells((size_t{n_codes} + 1) * lanes, 0);
  add_histogram(rows, codes, width, ids, n_codes, false, cells.data());
  return order_of_cells({cells.data(), lanes, n_codes, ids.size(), alone_categories(codes, width, n_codes, ids)},
                        rows.lanes(), criterion);
}

// Per column; none for those that are not categorical.
template <class Column, class Rows, class Criterion>
std::vector<TreeOrder> tree_orders(const std::vector<Column>& columns, std::span<const uint32_t> ids, const Rows& rows,
                                   const Criterion& criterion) {
  std::vector<TreeOrder> found(columns.size());
  for (size_t j = 0; j < columns.size(); ++j) {
    const Column& column = columns[j];
    if (column.kind != ColumnKind::categorical || column.n_codes < 3) continue;
    found[j] = tree_order(column.data, column.width, column.n_codes, ids, rows, criterion);
  }
  return found;
}

// The same without orders: only whether a column's categories are rare.
template <class Column>
std::vector<TreeOrder> tree_rarities(const std::vector<Column>& columns, std::span<const uint32_t> ids) {
  std::vector<TreeOrder> found(columns.size());
  for (size_t j = 0; j < columns.size(); ++j) {
    const Column& column = columns[j];
    if (column.kind != ColumnKind::categorical || !rare_categories(column.n_codes, ids.size())) continue;
    std::vector<uint8_t> seen(size_t{column.n_codes} + 1, 0);
    with_codes(column.data, column.width, [&](const auto* codes) {
      for (const uint32_t row : ids) seen[codes[row]] = 1;
    });
    const auto n_seen = static_cast<size_t>(std::count(seen.begin() + 1, seen.end(), uint8_t{1}));
    found[j].rare = rare_categories(n_seen, ids.size());
  }
  return found;
}

// What is known of a column in the whole tree, if anything.
inline const TreeOrder* in_tree(std::span<const TreeOrder> orders, int32_t column) {
  if (orders.empty()) return nullptr;
  const TreeOrder& order = orders[static_cast<size_t>(column)];
  return order.place.empty() && !order.rare ? nullptr : &order;
}

}  // namespace weald
