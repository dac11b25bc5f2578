// Grower, fourth part: rows that carry their 16-bit statistics with them, for boosting on many rows. Included by
// grow.h.
//
// A node's items lie in one of two buffers; splitting it writes its children's to the other, left before right, both in
// their old order. While a block of rows is written, those of the smaller child are added to the packed sums of all
// tiles: their codes come into the cache once. The larger child's histogram is the parent's less the smaller one's.
#pragma once

#include "core/tree/grow.h"

namespace weald {

inline constexpr size_t item_block = size_t{1} << 13;

template <class Rows, class Criterion>
std::span<RowItem> Grower<Rows, Criterion>::items(size_t begin, size_t end, bool in_second) const {
  return {(in_second ? buffers_->second : buffers_->first).data() + begin, end - begin};
}

// Writes the children's items and adds up the smaller child's codes. Returns how many rows go left.
template <class Rows, class Criterion>
size_t Grower<Rows, Criterion>::part_items(const Node& node, const Router& router) {
  const GrowColumn& column = columns_[static_cast<size_t>(node.split.column)];
  const auto rows = items(node.begin, node.end, node.in_second);
  const size_t n_blocks = (rows.size() + item_block - 1) / item_block;
  goes_left_.resize(std::max(goes_left_.size(), rows.size()));
  std::vector<uint64_t> left_before(n_blocks + 1, 0);
  for_columns(n_blocks, rows.size() * 2, [&](size_t block, Worker&) {
    const size_t first = block * item_block, last = std::min(rows.size(), first + item_block);
    with_codes(column.data, column.width, [&](const auto* codes) {
      constexpr size_t ahead = 32;
      uint64_t n_left = 0;
      for (size_t i = first; i < last; ++i) {
        __builtin_prefetch(codes + rows[std::min(i + ahead, rows.size() - 1)].row);
        const bool left = router.left(codes[rows[i].row]);
        goes_left_[i] = left;
        n_left += left;
      }
      left_before[block + 1] = n_left;
    });
  });
  for (size_t b = 0; b < n_blocks; ++b) left_before[b + 1] += left_before[b];
  const size_t n_left = left_before[n_blocks];
  const bool sums = node.depth + 1 < options_.max_depth;
  clear_sums(buffers_->sums);
  const bool small_left = 2 * n_left <= rows.size();
  summed_begin_ = small_left ? node.begin : node.begin + n_left;
  summed_end_ = small_left ? node.begin + n_left : node.end;
  RowItem* const to = (node.in_second ? buffers_->first : buffers_->second).data() + node.begin;
  const size_t cost = 2 + (sums ? columns_.size() : 0);
  for_columns(n_blocks, rows.size() * cost, [&](size_t block, Worker& worker) {
    const size_t first = block * item_block, last = std::min(rows.size(), first + item_block);
    size_t left = left_before[block], right = n_left + first - left;
    const size_t begin = small_left ? left : right;
    for (size_t i = first; i < last; ++i) {
      const size_t goes = goes_left_[i];
      to[goes != 0 ? left : right] = rows[i];
      left += goes;
      right += 1 - goes;
    }
    const size_t end = small_left ? left : right;
    if (sums) {
      const auto which = static_cast<size_t>(&worker - workers_.data());
      add_tiles(*tiles_, {to + begin, end - begin}, buffers_->sums[which]);
    }
  });
  return n_left;
}

// The packed sums of rows that have none yet: the root's.
template <class Rows, class Criterion>
void Grower<Rows, Criterion>::sum_items(std::span<const RowItem> rows) {
  clear_sums(buffers_->sums);
  const size_t n_blocks = (rows.size() + item_block - 1) / item_block;
  for_columns(n_blocks, rows.size() * columns_.size(), [&](size_t block, Worker& worker) {
    const size_t first = block * item_block, last = std::min(rows.size(), first + item_block);
    const auto which = static_cast<size_t>(&worker - workers_.data());
    add_tiles(*tiles_, rows.subspan(first, last - first), buffers_->sums[which]);
  });
  summed_begin_ = 0;
  summed_end_ = rows.size();
}

// One column that is in no tile, or whose rows were not summed.
template <class Rows, class Criterion>
void Grower<Rows, Criterion>::add_item_histogram(int32_t j, std::span<const RowItem> rows, int64_t* cells) const {
  const GrowColumn& column = columns_[static_cast<size_t>(j)];
  const size_t stride = cell_stride();
  with_codes(column.data, column.width, [&](const auto* codes) {
    for (const RowItem item : rows) {
      const auto value = std::bit_cast<NarrowRows::Value>(item.value);
      int64_t* cell = cells + stride * codes[item.row];
      cell[0] += value.g;
      cell[1] += value.h;
      if (counted_) ++cell[2];
    }
  });
}

// The row numbers of all leaves, when the tree is grown.
template <class Rows, class Criterion>
void Grower<Rows, Criterion>::collect_ids() {
  tree_.ids.resize(buffers_->first.size());
  parallel_for(run_, static_cast<int64_t>(tree_.nodes.size()), [&](int64_t i, int) {
    const NodeRecord& record = tree_.nodes[static_cast<size_t>(i)];
    if (record.left >= 0) return;
    const size_t end = record.begin + static_cast<size_t>(record.n_rows);
    const auto rows = items(record.begin, end, in_second_[static_cast<size_t>(i)] != 0);
    for (size_t k = 0; k < rows.size(); ++k) tree_.ids[record.begin + k] = rows[k].row;
  });
}

}  // namespace weald
