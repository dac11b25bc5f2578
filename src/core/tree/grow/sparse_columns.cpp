#include "core/tree/grow/sparse_columns.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/tree/rows/order.h"
#include "core/tree/rows/partition.h"

namespace weald {

SparseOrder sort_sparse_columns(std::span<const GrowColumn> columns, size_t n_rows) {
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

void SparseColumns::carry(std::span<const GrowColumn> columns, const ColumnRules& rules, std::span<const uint32_t> ids,
                          const SparseOrder* order, std::vector<uint8_t>& side) {
  SparseOrder own;
  if (order == nullptr) order = &(own = sort_sparse_columns(columns, side.size()));
  start_ = order->start;
  entries_ = order == &own ? std::move(own.entries) : order->entries.copied();
  const bool all_rows = ids.size() == side.size();
  if (!all_rows) {
    std::fill(side.begin(), side.end(), uint8_t{0});
    for (const uint32_t row : ids) side[row] = 1;
  }
  std::vector<Entry> entries(all_rows ? 0 : order->longest);
  for (SparseRange range : order->columns) {
    if (!rules.in_tree(static_cast<size_t>(range.column))) continue;
    if (!all_rows) {
      const size_t start = start_[static_cast<size_t>(range.column)];
      const std::span<Entry> listed{entries.data(), range.end};
      entries_.load(start, listed);
      const auto out = std::remove_if(listed.begin(), listed.end(), [&](Entry e) { return side[entry_row(e)] == 0; });
      range.end = static_cast<uint32_t>(out - listed.begin());
      entries_.store(start, listed.first(range.end));
    }
    if (range.end > 0) root_.push_back(range);
  }
}

std::span<Entry> SparseColumns::load(const SparseRange& range, Worker& worker) const {
  const size_t n = range.end - range.begin;
  worker.entries.resize(std::max(worker.entries.size(), n));
  const std::span<Entry> entries{worker.entries.data(), n};
  entries_.load(start_[static_cast<size_t>(range.column)] + range.begin, entries);
  return entries;
}

size_t SparseColumns::part(const SparseRange& range, size_t i, std::span<Entry> entries, const uint8_t* side,
                           Worker& worker) {
  worker.scratch.resize(std::max(worker.scratch.size(), entries.size()));
  const size_t n_left = partition_stable(entries.data(), entries.size(), side, worker.scratch.data(), entry_row);
  entries_.store(start_[static_cast<size_t>(range.column)] + range.begin, entries);
  middle_[i] = range.begin + static_cast<uint32_t>(n_left);
  return n_left;
}

void SparseColumns::begin_search(size_t n_ranges) {
  middle_.resize(n_ranges);
  for (auto& flags : constant_) flags.resize(n_ranges);
}

void SparseColumns::end_search(std::span<GrowNode*> children, const GrowNode* parent,
                               const std::vector<SparseRange>& ranges) {
  for (size_t c = 0; c < children.size(); ++c) {
    GrowNode& child = *children[c];
    const bool right = parent != nullptr && child.begin != parent->begin;
    child.sparse.clear();
    for (size_t i = 0; i < ranges.size(); ++i) {
      if (constant_[c][i] != 0) continue;
      SparseRange range = ranges[i];
      if (parent != nullptr) (right ? range.begin : range.end) = middle_[i];
      child.sparse.push_back(range);
    }
  }
}

std::span<Entry> SparseColumns::collect(const GrowColumn& column, std::span<const uint32_t> ids, int32_t record,
                                        Worker& worker) const {
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
        if (node_of_row_[column.rows[i]] == record) take(i);
      }
    }
  });
  sort_entries(worker.entries.data(), worker.scratch.data(), n, column.n_codes);
  return {worker.entries.data(), n};
}

}  // namespace weald
