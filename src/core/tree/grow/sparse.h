// Grower, third part: sparse columns, of which each node has a range of listed entries. Included by grow.h.
#pragma once

#include <bit>
#include <iterator>

#include "core/tree/grow/grower.h"

namespace weald {

inline SparseOrder sort_sparse_columns(std::span<const GrowColumn> columns, size_t n_rows) {
  SparseOrder order;
  order.start.resize(columns.size());
  size_t n_entries = 0;
  uint32_t largest_code = 0;
  for (size_t j = 0; j < columns.size(); ++j) {
    order.start[j] = n_entries;
    n_entries += columns[j].n_entries;
    order.longest = std::max<size_t>(order.longest, columns[j].n_entries);
    if (columns[j].sparse) largest_code = std::max(largest_code, columns[j].n_codes);
  }
  order.entries.allocate(n_entries, largest_code, static_cast<uint32_t>(n_rows));
  std::vector<Entry> entries(order.longest), scratch(order.longest);
  for (size_t j = 0; j < columns.size(); ++j) {
    const GrowColumn& column = columns[j];
    if (!column.sparse || column.n_entries == 0) continue;
    with_codes(column.data, column.width, [&](const auto* codes) {
      for (size_t i = 0; i < column.n_entries; ++i) entries[i] = (static_cast<Entry>(codes[i]) << 32) | column.rows[i];
    });
    sort_entries(entries.data(), scratch.data(), column.n_entries, column.n_codes);
    order.entries.store(order.start[j], {entries.data(), column.n_entries});
    order.columns.push_back({static_cast<int32_t>(j), 0, column.n_entries});
  }
  return order;
}

// The sparse columns: many, of few entries each, so workers take them by the hundred.
template <class Rows, class Criterion>
void Grower<Rows, Criterion>::search_sparse(std::span<Node*> children, Node* parent) {
  const std::vector<SparseRange>& ranges = parent == nullptr ? sparse_columns_ : parent->sparse;
  size_t n_entries = 0;
  for (const SparseRange& range : ranges) n_entries += range.end - range.begin;
  sparse_middle_.resize(ranges.size());
  for (auto& flags : sparse_constant_) flags.resize(ranges.size());
  constexpr size_t together = 256;
  for_columns((ranges.size() + together - 1) / together, n_entries + ranges.size(), [&](size_t block, Worker& worker) {
    const size_t last = std::min(ranges.size(), (block + 1) * together);
    for (size_t i = block * together; i < last; ++i) search_sparse_column(ranges[i], i, children, parent, worker);
  });
  for (size_t c = 0; c < children.size(); ++c) {
    Node& child = *children[c];
    const bool right = parent != nullptr && child.begin != parent->begin;
    child.sparse.clear();
    for (size_t i = 0; i < ranges.size(); ++i) {
      if (sparse_constant_[c][i] != 0) continue;
      SparseRange range = ranges[i];
      if (parent != nullptr) (right ? range.begin : range.end) = sparse_middle_[i];
      child.sparse.push_back(range);
    }
  }
}

template <class Rows, class Criterion>
void Grower<Rows, Criterion>::search_sparse_column(const SparseRange& range, size_t position, std::span<Node*> children,
                                                   const Node* parent, Worker& worker) {
  const std::span<Entry> entries = load_sparse(range, worker);
  size_t n_left = 0;
  if (parent != nullptr) {
    worker.scratch.resize(std::max(worker.scratch.size(), entries.size()));
    n_left = partition_stable(entries.data(), entries.size(), side_.data(), worker.scratch.data(), entry_row);
    sparse_entries_.store(sparse_start_[static_cast<size_t>(range.column)] + range.begin, entries);
    sparse_middle_[position] = range.begin + static_cast<uint32_t>(n_left);
  }
  for (size_t c = 0; c < children.size(); ++c) {
    const Node& child = *children[c];
    const bool right = parent != nullptr && child.begin != parent->begin;
    const auto part = parent == nullptr ? entries : right ? entries.subspan(n_left) : entries.first(n_left);
    sparse_constant_[c][position] = 1;
    if (part.empty()) continue;
    begin_scan(range.column, child, worker);
    if (!child.may_use(range.column)) {
      sparse_constant_[c][position] = 0;
      continue;
    }
    scan_listed(range.column, part, child, worker, worker.best[c]);
    sparse_constant_[c][position] = worker.scan->constant;
  }
}

template <class Rows, class Criterion>
std::span<Entry> Grower<Rows, Criterion>::load_sparse(const SparseRange& range, Worker& worker) const {
  const size_t n = range.end - range.begin;
  worker.entries.resize(std::max(worker.entries.size(), n));
  const std::span<Entry> entries{worker.entries.data(), n};
  sparse_entries_.load(sparse_start_[static_cast<size_t>(range.column)] + range.begin, entries);
  return entries;
}

// The entries of this tree's columns and rows, and their ranges in the root; `order` is that of the whole table, made
// here if nobody has it.
template <class Rows, class Criterion>
void Grower<Rows, Criterion>::take_sparse_entries(const SparseOrder* order) {
  SparseOrder own;
  if (order == nullptr) order = &(own = sort_sparse_columns(columns_, side_.size()));
  sparse_start_ = order->start;
  sparse_entries_ = order == &own ? std::move(own.entries) : order->entries.copied();
  const bool all_rows = ids_.size() == side_.size();
  if (!all_rows) {
    std::fill(side_.begin(), side_.end(), uint8_t{0});
    for (const uint32_t row : ids_) side_[row] = 1;
  }
  std::vector<Entry> entries(all_rows ? 0 : order->longest);
  for (SparseRange range : order->columns) {
    if (!column_rules_.in_tree(static_cast<size_t>(range.column))) continue;
    if (!all_rows) {
      const size_t start = sparse_start_[static_cast<size_t>(range.column)];
      const std::span<Entry> listed{entries.data(), range.end};
      sparse_entries_.load(start, listed);
      const auto out = std::remove_if(listed.begin(), listed.end(), [&](Entry e) { return side_[entry_row(e)] == 0; });
      range.end = static_cast<uint32_t>(out - listed.begin());
      sparse_entries_.store(start, listed.first(range.end));
    }
    if (range.end > 0) sparse_columns_.push_back(range);
  }
}

// The entries of a sparse column among the rows of a node, in code order: by looking up the node's rows in the column,
// or by looking through the column, whichever is less.
template <class Rows, class Criterion>
std::span<Entry> Grower<Rows, Criterion>::collect_sparse(int32_t j, const Node& node, Worker& worker) {
  const GrowColumn& column = columns_[static_cast<size_t>(j)];
  const auto ids = ids_of(node);
  const auto steps = static_cast<size_t>(std::bit_width(column.n_entries));
  const size_t room = std::min<size_t>(column.n_entries, ids.size());
  worker.entries.resize(std::max(worker.entries.size(), room));
  worker.scratch.resize(std::max(worker.scratch.size(), room));
  size_t n = 0;
  with_codes(column.data, column.width, [&](const auto* codes) {
    const auto take = [&](size_t i) { worker.entries[n++] = (static_cast<Entry>(codes[i]) << 32) | column.rows[i]; };
    if (ids.size() * steps < column.n_entries) {
      const uint32_t* at = column.rows;
      const uint32_t* end = column.rows + column.n_entries;
      for (const uint32_t row : ids) {
        at = std::lower_bound(at, end, row);
        if (at != end && *at == row) take(static_cast<size_t>(at - column.rows));
      }
    } else {
      for (size_t i = 0; i < column.n_entries; ++i) {
        if (node_of_row_[column.rows[i]] == node.record) take(i);
      }
    }
  });
  sort_entries(worker.entries.data(), worker.scratch.data(), n, column.n_codes);
  return {worker.entries.data(), n};
}

// A sparse column from its listed entries, in code order.
template <class Rows, class Criterion>
void Grower<Rows, Criterion>::scan_listed(int32_t j, std::span<const Entry> entries, const Node& node, Worker& worker,
                                          Split& best) {
  const GrowColumn& column = columns_[static_cast<size_t>(j)];
  if constexpr (by_rows) {
    worker.scan->constant = entries.empty();
    if (entries.empty()) return;
    list_all_rows(j, entries, node, worker.all_rows);
    scan_targets(j, worker.all_rows, node, worker, best);
  } else if (options_.random) {
    const DrawnCut cut = scan_random_sparse(rows_, entries, column.default_code, column.kind, column.marks,
                                            word_of(j, node), *worker.scan, static_cast<int64_t>(node.size()));
    offer_drawn(j, cut, worker, best);
  } else {
    scan_sparse(rows_, entries, column.default_code, *worker.scan, static_cast<int64_t>(node.size()));
    worker.scan->offer(j, best);
  }
}

// All rows of the node in code order: the listed ones and, at their place, those of the default code.
template <class Rows, class Criterion>
void Grower<Rows, Criterion>::list_all_rows(int32_t j, std::span<const Entry> listed, const Node& node,
                                            std::vector<Entry>& out) const {
  const uint32_t default_code = columns_[static_cast<size_t>(j)].default_code;
  const auto ids = ids_of(node);
  std::vector<uint32_t> rows, others;
  for (const Entry entry : listed) rows.push_back(entry_row(entry));
  std::sort(rows.begin(), rows.end());
  std::set_difference(ids.begin(), ids.end(), rows.begin(), rows.end(), std::back_inserter(others));
  const auto at =
      std::find_if(listed.begin(), listed.end(), [&](Entry entry) { return entry_code(entry) > default_code; });
  out.assign(listed.begin(), at);
  for (const uint32_t row : others) out.push_back((static_cast<Entry>(default_code) << 32) | row);
  out.insert(out.end(), at, listed.end());
}

// Writes which rows of the node go left into side_. Returns how many do.
template <class Rows, class Criterion>
size_t Grower<Rows, Criterion>::mark_rows(Node& node, const Router& router) {
  const int32_t j = node.split.column;
  const GrowColumn& column = columns_[static_cast<size_t>(j)];
  const auto ids = ids_of(node);
  if (!column.sparse) {
    return with_codes(column.data, column.width,
                      [&](const auto* codes) { return mark_sides(codes, router, ids, side_.data()); });
  }
  std::span<const Entry> listed;
  if (all_) {
    const auto range = std::lower_bound(node.sparse.begin(), node.sparse.end(), j,
                                        [](const SparseRange& r, int32_t wanted) { return r.column < wanted; });
    listed = load_sparse(*range, workers_[0]);
  } else {
    listed = collect_sparse(j, node, workers_[0]);
  }
  const bool default_left = router.left(column.default_code);
  for (const uint32_t row : ids) side_[row] = default_left;
  size_t n_left = default_left ? ids.size() - listed.size() : 0;
  for (const Entry entry : listed) {
    side_[entry_row(entry)] = router.left(entry_code(entry));
    n_left += side_[entry_row(entry)];
  }
  return n_left;
}

}  // namespace weald
