// Grower, fourth part: rows that carry their packed statistics with them, for boosting. Included by grow.h.
//
// A node's items lie in one of two buffers; splitting it writes its children's to the other, left before right, both in
// their old order. The smaller child's codes are added up, the larger one's histogram is the parent's less that:
//
//   narrow, or with sparse columns   while a block of rows is written: their codes come into the cache once
//   words of dense columns           by the thread that subtracts and scans the column: histograms stay where they are
#pragma once

#include "core/base/mathematics.h"
#include "core/tree/grow/grower.h"

namespace weald {

// Rows handled together: few enough that every thread gets some of a small node.
inline size_t item_block_of(size_t n_rows) {
  constexpr size_t smallest = size_t{1} << 10, largest = size_t{1} << 13, parts = 4;
  return std::clamp((n_rows + parts - 1) / parts, smallest, largest);
}

template <class Rows, class Criterion>
auto Grower<Rows, Criterion>::items(size_t begin, size_t end, bool in_second) const -> std::span<Item> {
  return {(in_second ? buffers_->second : buffers_->first).data() + begin, end - begin};
}

// Fills `goes_left` for the rows of a node, and how many go left in each block. left_of(rows, i) is copied:
// what it holds stays in registers, where the bytes written could otherwise have changed it.
template <class Rows, class Criterion>
template <class LeftOf>
void Grower<Rows, Criterion>::mark_items(std::span<const Item> rows, std::vector<uint64_t>& left_before,
                                         LeftOf left_of) {
  const size_t item_block = item_block_of(rows.size());
  for_columns(left_before.size() - 1, rows.size() * 2, [&](size_t block, Worker&) {
    const size_t first = block * item_block, last = std::min(rows.size(), first + item_block);
    const std::span<const Item> rows_here = rows;
    uint8_t* const goes_left = buffers_->goes_left.data();
    const LeftOf left_here = left_of;
    uint64_t n_left = 0;
    for (size_t i = first; i < last; ++i) {
      const uint8_t left = left_here(rows_here, i);
      goes_left[i] = left;
      n_left += left;
    }
    left_before[block + 1] = n_left;
  });
}

// Writes the children's items and adds up the smaller child's codes. Returns how many rows go left.
template <class Rows, class Criterion>
size_t Grower<Rows, Criterion>::part_items(const Node& node, const Router& router) {
  const GrowColumn& column = columns_[static_cast<size_t>(node.split.column)];
  const auto rows = items(node.begin, node.end, node.in_second);
  const size_t item_block = item_block_of(rows.size());
  const size_t n_blocks = (rows.size() + item_block - 1) / item_block;
  std::vector<uint8_t>& goes_left = buffers_->goes_left;
  goes_left.resize(std::max(goes_left.size(), rows.size()));
  std::vector<uint64_t> left_before(n_blocks + 1, 0);
  constexpr size_t ahead = 32;
  const auto by_codes = [&](const auto* codes, auto left_of_code) {
    mark_items(rows, left_before, [=](std::span<const Item> all, size_t i) {
      __builtin_prefetch(codes + all[std::min(i + ahead, all.size() - 1)].row);
      return left_of_code(codes[all[i].row]);
    });
  };
  constexpr size_t lookup_cost = 8;  // of a row in its list, beside writing a byte
  const uint64_t* bits = column.sparse ? tiles_->bits(static_cast<size_t>(node.split.column)) : nullptr;
  if (bits != nullptr) {
    const bool left[] = {router.left(column.default_code), router.left(3 - column.default_code)};
    mark_items(rows, left_before, [=](std::span<const Item> all, size_t i) {
      return left[(bits[all[i].row >> 6] >> (all[i].row & 63)) & 1];
    });
  } else if (!column.sparse && column.width == 1) {
    std::array<uint8_t, 256> left;  // a look into a table is quicker than asking the router
    for (uint32_t code = 0; code < left.size(); ++code) left[code] = code <= column.n_codes && router.left(code);
    by_codes(static_cast<const uint8_t*>(column.data), [left = left.data()](uint8_t code) { return left[code]; });
  } else if (!column.sparse) {
    with_codes(column.data, column.width,
               [&](const auto* codes) { by_codes(codes, [&](auto code) { return router.left(code); }); });
  } else if (rows.size() * lookup_cost < n_rows_ / 8 + column.n_entries) {
    mark_items(rows, left_before, [&](std::span<const Item> all, size_t i) {
      return router.left(
          tiles_->listed_code(static_cast<size_t>(node.split.column), column.n_codes, column.default_code, all[i].row));
    });
  } else {
    side_.assign(n_rows_, router.left(column.default_code));
    with_codes(column.data, column.width, [&](const auto* codes) {
      for (size_t i = 0; i < column.n_entries; ++i) side_[column.rows[i]] = router.left(codes[i]);
    });
    by_codes(side_.data(), [](uint8_t side) { return side != 0; });
  }
  for (size_t b = 0; b < n_blocks; ++b) left_before[b + 1] += left_before[b];
  const size_t n_left = left_before[n_blocks];
  const bool sums = node.depth + 1 < options_.max_depth && groups_.empty();
  clear_sums(buffers_->sums);
  const bool small_left = 2 * n_left <= rows.size();
  summed_begin_ = small_left ? node.begin : node.begin + n_left;
  summed_end_ = small_left ? node.begin + n_left : node.end;
  Item* const to = (node.in_second ? buffers_->first : buffers_->second).data() + node.begin;
  const size_t cost = 2 + (sums ? columns_.size() : 0);
  for_columns(n_blocks, rows.size() * cost, [&](size_t block, Worker& worker) {
    const size_t first = block * item_block, last = std::min(rows.size(), first + item_block);
    size_t left = left_before[block], right = n_left + first - left;
    const size_t begin = small_left ? left : right;
    for (size_t i = first; i < last; ++i) {
      const size_t goes = goes_left[i];
      to[right + ((left - right) & (0 - goes))] = rows[i];  // without a branch, which nothing could predict
      left += goes;
      right += 1 - goes;
    }
    const size_t end = small_left ? left : right;
    if (sums) {
      const auto which = static_cast<size_t>(&worker - workers_.data());
      add_tiles<ItemRows>(*tiles_, {to + begin, end - begin}, buffers_->sums[which]);
    }
  });
  return n_left;
}

// The packed sums of rows that have none yet: the root's.
template <class Rows, class Criterion>
void Grower<Rows, Criterion>::sum_items(std::span<const Item> rows) {
  clear_sums(buffers_->sums);
  const size_t item_block = item_block_of(rows.size());
  const size_t n_blocks = (rows.size() + item_block - 1) / item_block;
  for_columns(n_blocks, rows.size() * columns_.size(), [&](size_t block, Worker& worker) {
    const size_t first = block * item_block, last = std::min(rows.size(), first + item_block);
    const auto which = static_cast<size_t>(&worker - workers_.data());
    add_tiles<ItemRows>(*tiles_, rows.subspan(first, last - first), buffers_->sums[which]);
  });
  summed_begin_ = 0;
  summed_end_ = rows.size();
}

// Cells that are words: four candidates at a time where nothing is special, else unpacked and as usual.
template <class Rows, class Criterion>
void Grower<Rows, Criterion>::scan_words(int32_t j, const int64_t* cells, const Node& node, Worker& worker,
                                         Split& best) {
  if constexpr (words) {
    const GrowColumn& column = columns_[static_cast<size_t>(j)];
    const auto* packed = reinterpret_cast<const uint64_t*>(cells);
    ColumnScan& scan = *worker.scan;
    if (column.kind == ColumnKind::categorical || packed[0] != 0 || scan.constrained() || criterion_.max_step > 0) {
      worker.unpacked.assign(2 * (size_t{column.n_codes} + 1), 0);
      for (size_t code = 0; code <= column.n_codes; ++code) {
        unpack_add(rows_, packed[code], worker.unpacked.data() + 2 * code);
      }
      if (column.kind == ColumnKind::categorical) {
        collect_histogram(worker.unpacked.data(), column.n_codes, n_lanes_, false, scan, worker.present);
        return scan_categories(worker.present, j, category_rules(j, node), scan, best);
      }
      scan_histogram(worker.unpacked.data(), column.n_codes, n_lanes_, false, scan);
      scan.offer(j, best);
      return;
    }
    const int64_t* total = lanes_of(node.record);
    // A tie goes to the lower column, which may be this one.
    const double to_beat = best.column > j ? next_below(best.score) : best.score;
    const WordColumn cells_here{packed, column.n_codes, {total[0], total[1]}, options_.min_weight_leaf};
    scan.constant = constant_words(cells_here);
    if (scan.constant) return;
    const BestWord found = best_word(cells_here, criterion_, to_beat);
    if (found.code == 0) return;
    uint32_t next = found.code + 1;
    while (next <= column.n_codes && packed[next] == 0) ++next;
    if (next > column.n_codes) return;  // nothing on the right: worth no more than the node
    Lanes<2> left(2);
    unpack_add(rows_, found.left, left.data());
    scan.take(found.score, found.code, next, left);
    scan.offer(j, best);
  }
}

// Columns of two values, a thousand at a time.
template <class Rows, class Criterion>
void Grower<Rows, Criterion>::search_flags(std::span<Node*> children, Node* parent) {
  if constexpr (packable) {
    constexpr size_t together = 1024;
    const size_t n_flags = tiles_->flags().size(), stride = cell_stride();
    for_columns((n_flags + together - 1) / together, 4 * n_flags * children.size(), [&](size_t part, Worker& worker) {
      const size_t first = part * together, n = std::min(together, n_flags - first);
      // As in search_column.
      const bool swap = children.size() == 2 && children[0]->inherits;
      const int64_t* sibling = nullptr;
      for (size_t turn = 0; turn < children.size(); ++turn) {
        const size_t c = swap ? 1 - turn : turn;
        Node& child = *children[c];
        const auto build = [&](size_t begin, size_t end, const int64_t*, int64_t* to) {
          build_flags(first, n, begin, end, child.in_second, to);
        };
        int64_t* cells = child_cells(flags_start_ + first * stride, n * stride, child, parent, sibling, worker, build);
        if (!child.inherits) sibling = cells;
        scan_flags(first, n, cells, child, worker, worker.best[c]);
      }
    });
  }
}

template <class Rows, class Criterion>
void Grower<Rows, Criterion>::build_flags(size_t first, size_t n, size_t begin, size_t end, bool in_second,
                                          int64_t* cells) const {
  if constexpr (packable) {
    const size_t start = tiles_->listed().first_word + first;
    if (begin == summed_begin_ && end == summed_end_) {
      if constexpr (words) return copy_words(buffers_->sums, start, n, reinterpret_cast<uint64_t*>(cells));
      return unpack_words(buffers_->sums, start, n, cells);
    }
    std::fill_n(cells, n * cell_stride(), 0);
    for (const Item item : items(begin, end, in_second)) {
      tiles_->for_listed(item.row, [&](size_t word) {
        if (word < first || word >= first + n) return;
        if constexpr (words) {
          reinterpret_cast<uint64_t*>(cells)[word - first] += item.value.word();
        } else {
          unpack_add(rows_, item.value.word(), cells + 2 * (word - first));
        }
      });
    }
  }
}

template <class Rows, class Criterion>
void Grower<Rows, Criterion>::scan_flags(size_t first, size_t n, const int64_t* cells, const Node& node, Worker& worker,
                                         Split& best) {
  if constexpr (packable) {
    const auto flags = tiles_->flags().subspan(first, n);
    const int64_t* total = lanes_of(node.record);
    const bool ruled = !node.allowed.empty() || !column_rules_.all_in_tree();
    worker.usable.resize(ruled ? n : 0);
    for (size_t i = 0; i < worker.usable.size(); ++i) {
      worker.usable[i] = node.may_use(flags[i]) && column_rules_.in_tree(static_cast<size_t>(flags[i]));
    }
    // Left is code 1: the rows that are listed, or all others.
    const auto set_left = [&](int32_t j, const int64_t* listed_rows) {
      begin_scan(j, node, worker);
      const bool listed_left = columns_[static_cast<size_t>(j)].default_code == 2;
      for (int l = 0; l < 2; ++l) {
        worker.scan->left.data()[l] = listed_left ? listed_rows[l] : total[l] - listed_rows[l];
      }
    };
    if (!options_.monotone.empty() || criterion_.max_step > 0) {
      for (size_t i = 0; i < n; ++i) {
        int64_t rows[2] = {0, 0};
        if constexpr (words) {
          unpack_add(rows_, static_cast<uint64_t>(cells[i]), rows);
        } else {
          std::copy_n(cells + 2 * i, 2, rows);
        }
        const bool both = (rows[0] | rows[1]) != 0 && (rows[0] != total[0] || rows[1] != total[1]);
        if ((ruled && worker.usable[i] == 0) || !both) continue;
        set_left(flags[i], rows);
        worker.scan->consider(1, 2, 1);
        worker.scan->offer(flags[i], best);
      }
      return;
    }
    const double to_beat = best.column > flags[0] ? next_below(best.score) : best.score;
    const BestFlag found = best_flag(
        {cells, n, words, ruled ? worker.usable.data() : nullptr, {total[0], total[1]}, options_.min_weight_leaf},
        criterion_, to_beat);
    if (!found.found) return;
    set_left(flags[found.place], found.rows);
    worker.scan->take(found.score, 1, 2, worker.scan->left);
    worker.scan->offer(flags[found.place], best);
  }
}

// Words of dense columns: what a thread has built of a column it also subtracts and scans, so that histograms do not
// travel between processors.
template <class Rows, class Criterion>
void Grower<Rows, Criterion>::make_groups() {
  if constexpr (words) {
    if (tiles_ == nullptr || !tiles_->listed().empty() || !all_) return;
    const auto tiles = tiles_->all();
    const size_t shares = (static_cast<size_t>(run_.n_threads()) + tiles.size()) / (tiles.size() + 1) + 1;
    in_group_.assign(columns_.size(), -1);
    for (size_t t = 0; t < tiles.size(); ++t) {
      const size_t n = tiles[t].columns.size();
      const size_t n_parts = std::max((n + columns_together - 1) / columns_together, std::min(shares, (n + 3) / 4));
      const size_t part = (n + n_parts - 1) / n_parts;
      for (size_t first = 0; first < n; first += part) {
        groups_.push_back({t, first, std::min(part, n - first)});
        for (size_t k = 0; k < groups_.back().n; ++k) {
          in_group_[static_cast<size_t>(tiles[t].columns[first + k])] = static_cast<int32_t>(k);
        }
      }
    }
    for (const int32_t j : all_columns_) {
      if (in_group_[static_cast<size_t>(j)] < 0) groups_.push_back({0, 0, 0, j});
    }
  }
}

template <class Rows, class Criterion>
void Grower<Rows, Criterion>::search_groups(std::span<Node*> children, Node* parent,
                                            const std::vector<int32_t>& active) {
  if constexpr (words) {
    position_of_.assign(columns_.size(), -1);
    for (size_t i = 0; i < active.size(); ++i) position_of_[static_cast<size_t>(active[i])] = static_cast<int32_t>(i);
    const auto rows = items(summed_begin_, summed_end_, children[0]->in_second);
    const size_t work = (2 * rows.size() + 256 * children.size()) * active.size();
    for_columns(groups_.size(), work, [&](size_t g, Worker& worker) {
      const Group& group = groups_[g];
      const auto search = [&](int32_t j) {
        const int32_t position = position_of_[static_cast<size_t>(j)];
        if (position >= 0) search_column(j, static_cast<size_t>(position), children, parent, worker);
      };
      if (group.alone >= 0) return search(group.alone);
      const Tile& tile = tiles_->all()[group.tile];
      worker.words.assign(group.n * tile_codes, 0);
      add_columns<ItemRows>(tile, group.first, group.n, rows, worker.words.data());
      for (size_t k = 0; k < group.n; ++k) search(tile.columns[group.first + k]);
    });
  }
}

// One column that is in no tile, or whose rows were not summed.
template <class Rows, class Criterion>
void Grower<Rows, Criterion>::add_item_histogram(int32_t j, std::span<const Item> rows, int64_t* cells) const {
  const GrowColumn& column = columns_[static_cast<size_t>(j)];
  const auto add = [&](Item item, uint32_t code) {
    if constexpr (words) {
      cells[code] = static_cast<int64_t>(static_cast<uint64_t>(cells[code]) + item.value.word());
    } else {
      int64_t* cell = cells + cell_stride() * code;
      cell[0] += item.value.g;
      cell[1] += item.value.h;
      if (counted_) ++cell[2];
    }
  };
  if (column.sparse) {
    for (const Item item : rows) {
      const auto at = static_cast<size_t>(j);
      add(item, tiles_->listed_code(at, column.n_codes, column.default_code, item.row));
    }
    return;
  }
  with_codes(column.data, column.width, [&](const auto* codes) {
    for (const Item item : rows) add(item, codes[item.row]);
  });
}

// What the rows that a sparse column does not list add up to: the rest of the node.
template <class Rows, class Criterion>
void Grower<Rows, Criterion>::fill_default(int32_t j, const int64_t* total, int64_t* cells) const {
  const GrowColumn& column = columns_[static_cast<size_t>(j)];
  const size_t stride = cell_stride();
  int64_t rest[] = {total[0], total[1]};
  if constexpr (words)
    rest[0] = static_cast<int64_t>((static_cast<uint64_t>(total[0]) << 32) + static_cast<uint64_t>(total[1]));
  for (size_t lane = 0; lane < std::min<size_t>(stride, 2); ++lane) {
    auto left = static_cast<uint64_t>(rest[lane]);
    for (size_t code = 0; code <= column.n_codes; ++code) {
      if (code != column.default_code) left -= static_cast<uint64_t>(cells[stride * code + lane]);
    }
    cells[stride * column.default_code + lane] = static_cast<int64_t>(left);
  }
}

// The row numbers of all leaves, when the tree is grown, for those who cannot read the items.
template <class Rows, class Criterion>
void Grower<Rows, Criterion>::collect_ids() {
  tree_.ids.resize(buffers_->first.size());
  parallel_for(run_, static_cast<int64_t>(tree_.nodes.size()), [&](int64_t i, int) {
    const NodeRecord& record = tree_.nodes[static_cast<size_t>(i)];
    if (record.left >= 0) return;
    const size_t end = record.begin + static_cast<size_t>(record.n_rows);
    const auto rows = items(record.begin, end, record.in_second);
    for (size_t k = 0; k < rows.size(); ++k) tree_.ids[record.begin + k] = rows[k].row;
  });
}

}  // namespace weald
