#include "core/tree/items/items.h"

#include <algorithm>
#include <array>

#include "core/tree/grow/histograms.h"
#include "core/tree/items/packed_search.h"
#include "core/tree/newton/statistics.h"

namespace weald {

namespace {

// Rows handled together: few enough that every thread gets some of a small node.
size_t item_block_of(size_t n_rows) {
  constexpr size_t smallest = size_t{1} << 10, largest = size_t{1} << 13, parts = 4;
  return std::clamp((n_rows + parts - 1) / parts, smallest, largest);
}

}  // namespace

void Items::begin(const std::vector<GrowColumn>& columns, size_t n_rows, const GrowOptions& options, bool counted,
                  const RowSquares& squares, Workers& workers) {
  columns_ = &columns;
  n_rows_ = n_rows;
  options_ = &options;
  counted_ = counted;
  squares_ = squares;
  workers_ = &workers;
}

void Items::make_groups(std::span<const int32_t> all_columns) {
  if (!words_ || !tiles_.listed().empty()) return;
  const auto tiles = tiles_.all();
  const size_t shares = (static_cast<size_t>(workers_->run().n_threads()) + tiles.size()) / (tiles.size() + 1) + 1;
  in_group_.assign(columns_->size(), -1);
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
  for (const int32_t j : all_columns) {
    if (in_group_[static_cast<size_t>(j)] < 0) groups_.push_back({0, 0, 0, j});
  }
}

std::unique_ptr<PackedSearch> Items::make_search() const {
  return std::make_unique<PackedSearch>(criterion_, *options_, counted_, words_);
}

void Items::fill_default(int32_t j, const int64_t* total, int64_t* cells) const {
  const uint32_t n_codes = column(j).n_codes, default_code = column(j).default_code;
  int64_t rest[] = {total[0], total[1]};
  if (words_) rest[0] = static_cast<int64_t>((static_cast<uint64_t>(total[0]) << 32) + static_cast<uint64_t>(total[1]));
  for (size_t lane = 0; lane < std::min<size_t>(stride(), 2); ++lane) {
    auto left = static_cast<uint64_t>(rest[lane]);
    for (size_t code = 0; code <= n_codes; ++code) {
      if (code != default_code) left -= static_cast<uint64_t>(cells[stride() * code + lane]);
    }
    cells[stride() * default_code + lane] = static_cast<int64_t>(left);
  }
}

template <class Rows>
PackedItems<Rows>::PackedItems(const Tiles& tiles, ItemBuffers<Rows>& buffers, const Newton& criterion)
    : Items(tiles, criterion, packed_cells), buffers_(buffers) {}

template <class Rows>
void PackedItems<Rows>::keep_cells(Histograms& histograms) {
  histograms.keep_in(buffers_.spare_cells, buffers_.cells_each);
}

template <class Rows>
void PackedItems<Rows>::begin_root(int64_t* lanes, bool sums) {
  buffers_.second.resize(buffers_.first.size());
  buffers_.sums.resize(workers_->size());
  summed_begin_ = 0;
  summed_end_ = buffers_.first.size();
  if (sums) clear_sums(buffers_.sums);
  struct Part {
    int64_t g = 0, h = 0;
    RowSquare squares;
  };
  std::vector<Part> parts(workers_->size());
  const std::span<const Item> rows = buffers_.first;
  const size_t item_block = item_block_of(rows.size());
  const size_t n_blocks = (rows.size() + item_block - 1) / item_block;
  workers_->for_each(n_blocks, rows.size() * (sums ? columns_->size() : 1), [&](size_t block, Worker& worker) {
    const size_t first = block * item_block, last = std::min(rows.size(), first + item_block);
    const auto here = rows.subspan(first, last - first);
    int64_t g = 0, h = 0;
    for (const Item item : here) {
      g += item.value.g;
      h += item.value.h;
    }
    Part& part = parts[worker.number];
    part.g += g;
    part.h += h;
    part.squares.add(squares_of(here));
    if (sums) add_tiles<Rows>(tiles_, here, buffers_.sums[worker.number]);
  });
  summed_squares_ = {};
  for (const Part& part : parts) {
    lanes[0] += part.g;
    lanes[1] += part.h;
    summed_squares_.add(part.squares);
  }
}

// Fills `goes_left` for the rows of a node, and how many go left in each block. left_of(rows, i) is copied:
// what it holds stays in registers, where the bytes written could otherwise have changed it.
template <class Rows>
template <class LeftOf>
void PackedItems<Rows>::mark(std::span<const Item> rows, std::vector<uint64_t>& left_before, LeftOf left_of) {
  const size_t item_block = item_block_of(rows.size());
  workers_->for_each(left_before.size() - 1, rows.size() * 2, [&](size_t block, Worker&) {
    const size_t first = block * item_block, last = std::min(rows.size(), first + item_block);
    const std::span<const Item> rows_here = rows;
    uint8_t* const goes_left = buffers_.goes_left.data();
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

template <class Rows>
void PackedItems<Rows>::mark_sides(std::span<const Item> rows, int32_t j, const Router& router,
                                   std::vector<uint64_t>& left_before) {
  const GrowColumn& column = this->column(j);
  const auto at = static_cast<size_t>(j);
  constexpr size_t ahead = 32;
  const auto by_codes = [&](const auto* codes, auto left_of_code) {
    mark(rows, left_before, [=](std::span<const Item> all, size_t i) {
      __builtin_prefetch(codes + all[std::min(i + ahead, all.size() - 1)].row);
      return left_of_code(codes[all[i].row]);
    });
  };
  constexpr size_t lookup_cost = 8;  // of a row in its list, beside writing a byte
  const uint64_t* bits = column.sparse ? tiles_.bits(at) : nullptr;
  if (bits != nullptr) {
    const bool left[] = {router.left(column.default_code), router.left(3 - column.default_code)};
    mark(rows, left_before,
         [=](std::span<const Item> all, size_t i) { return left[(bits[all[i].row >> 6] >> (all[i].row & 63)) & 1]; });
  } else if (!column.sparse && column.width == 1) {
    std::array<uint8_t, 256> left;  // a look into a table is quicker than asking the router
    for (uint32_t code = 0; code < left.size(); ++code) left[code] = code <= column.n_codes && router.left(code);
    by_codes(static_cast<const uint8_t*>(column.data), [left = left.data()](uint8_t code) { return left[code]; });
  } else if (!column.sparse) {
    with_codes(column.data, column.width,
               [&](const auto* codes) { by_codes(codes, [&](auto code) { return router.left(code); }); });
  } else if (rows.size() * lookup_cost < n_rows_ / 8 + column.n_entries) {
    mark(rows, left_before, [&](std::span<const Item> all, size_t i) {
      return router.left(tiles_.listed_code(at, column.n_codes, column.default_code, all[i].row));
    });
  } else {
    side_.assign(n_rows_, router.left(column.default_code));
    with_codes(column.data, column.width, [&](const auto* codes) {
      for (size_t i = 0; i < column.n_entries; ++i) side_[column.rows[i]] = router.left(codes[i]);
    });
    by_codes(side_.data(), [](uint8_t side) { return side != 0; });
  }
}

template <class Rows>
size_t PackedItems<Rows>::part(const GrowNode& node, const Router& router, bool sums) {
  const auto rows = items(node.begin, node.end, node.in_second);
  const size_t item_block = item_block_of(rows.size());
  const size_t n_blocks = (rows.size() + item_block - 1) / item_block;
  buffers_.goes_left.resize(std::max(buffers_.goes_left.size(), rows.size()));
  std::vector<uint64_t> left_before(n_blocks + 1, 0);
  mark_sides(rows, node.split.column, router, left_before);
  for (size_t b = 0; b < n_blocks; ++b) left_before[b + 1] += left_before[b];
  const size_t n_left = left_before[n_blocks];
  clear_sums(buffers_.sums);
  const bool small_left = 2 * n_left <= rows.size();
  summed_begin_ = small_left ? node.begin : node.begin + n_left;
  summed_end_ = small_left ? node.begin + n_left : node.end;
  write_children(rows, left_before, items(node.begin, node.end, !node.in_second).data(), small_left, sums);
  return n_left;
}

template <class Rows>
void PackedItems<Rows>::write_children(std::span<const Item> rows, const std::vector<uint64_t>& left_before, Item* to,
                                       bool small_left, bool sums) {
  const size_t item_block = item_block_of(rows.size());
  const size_t n_blocks = left_before.size() - 1, n_left = left_before[n_blocks];
  const size_t cost = 2 + (sums ? columns_->size() : 0);
  std::vector<RowSquare> squares(workers_->size());
  workers_->for_each(n_blocks, rows.size() * cost, [&](size_t block, Worker& worker) {
    const uint8_t* const goes_left = buffers_.goes_left.data();
    const size_t first = block * item_block, last = std::min(rows.size(), first + item_block);
    size_t left = left_before[block], right = n_left + first - left;
    const size_t begin = small_left ? left : right;
    for (size_t i = first; i < last; ++i) {
      const size_t goes = goes_left[i];
      to[right + ((left - right) & (0 - goes))] = rows[i];  // without a branch, which nothing could predict
      left += goes;
      right += 1 - goes;
    }
    const std::span<const Item> small{to + begin, (small_left ? left : right) - begin};
    squares[worker.number].add(squares_of(small));
    if (sums) add_tiles<Rows>(tiles_, small, buffers_.sums[worker.number]);
  });
  summed_squares_ = {};
  for (const RowSquare& each : squares) summed_squares_.add(each);
}

template <class Rows>
void PackedItems<Rows>::build_cells(int32_t j, size_t begin, size_t end, bool in_second, const int64_t* total,
                                    int64_t* cells, const Worker& worker) const {
  const auto at = static_cast<size_t>(j);
  const size_t n = size_t{column(j).n_codes} + 1;
  const bool summed = begin == summed_begin_ && end == summed_end_ && !counted_;
  if (!summed || tiles_.start(at) == Tiles::nowhere) {
    std::fill_n(cells, n * stride(), 0);
    add_column(j, items(begin, end, in_second), cells);
  } else if (!packed_cells) {
    unpack_words(buffers_.sums, static_cast<size_t>(tiles_.start(at)), n, cells);
  } else if (groups_.empty()) {
    copy_words(buffers_.sums, static_cast<size_t>(tiles_.start(at)), n, reinterpret_cast<uint64_t*>(cells));
  } else {
    const uint64_t* words = worker.words.data() + tile_codes * static_cast<size_t>(in_group_[at]);
    std::copy_n(words, n, reinterpret_cast<uint64_t*>(cells));
  }
  if (column(j).sparse) fill_default(j, total, cells);
}

// One column that is in no tile, or whose rows were not summed.
template <class Rows>
void PackedItems<Rows>::add_column(int32_t j, std::span<const Item> rows, int64_t* cells) const {
  const GrowColumn& column = this->column(j);
  const bool counted = counted_;
  const auto add = [=](Item item, uint32_t code) {
    if constexpr (packed_cells) {
      cells[code] = static_cast<int64_t>(static_cast<uint64_t>(cells[code]) + item.value.word());
    } else {
      int64_t* cell = cells + (counted ? 3 : 2) * size_t{code};
      cell[0] += item.value.g;
      cell[1] += item.value.h;
      if (counted) ++cell[2];
    }
  };
  if (column.sparse) {
    for (const Item item : rows) {
      const auto at = static_cast<size_t>(j);
      add(item, tiles_.listed_code(at, column.n_codes, column.default_code, item.row));
    }
    return;
  }
  with_codes(column.data, column.width, [&](const auto* codes) {
    for (const Item item : rows) add(item, codes[item.row]);
  });
}

template <class Rows>
void PackedItems<Rows>::build_flags(size_t first, size_t n, size_t begin, size_t end, bool in_second,
                                    int64_t* cells) const {
  const size_t start = tiles_.listed().first_word + first;
  if (begin == summed_begin_ && end == summed_end_) {
    if constexpr (packed_cells) return copy_words(buffers_.sums, start, n, reinterpret_cast<uint64_t*>(cells));
    return unpack_words(buffers_.sums, start, n, cells);
  }
  std::fill_n(cells, n * stride(), 0);
  for (const Item item : items(begin, end, in_second)) {
    tiles_.for_listed(item.row, [&](size_t word) {
      if (word < first || word >= first + n) return;
      if constexpr (packed_cells) {
        reinterpret_cast<uint64_t*>(cells)[word - first] += item.value.word();
      } else {
        unpack_add(Rows{}, item.value.word(), cells + 2 * (word - first));
      }
    });
  }
}

template <class Rows>
void PackedItems<Rows>::build_group(const Group& group, bool in_second, Worker& worker) const {
  worker.words.assign(group.n * tile_codes, 0);
  add_columns<Rows>(tiles_.all()[group.tile], group.first, group.n, items(summed_begin_, summed_end_, in_second),
                    worker.words.data());
}

template <class Rows>
RowSquare PackedItems<Rows>::squares_of(std::span<const Item> rows) const {
  RowSquare found;
  if (squares_.of_lanes) {
    for (const Item& item : rows) found.square += square_of_lane(item.value.g);
    found.times = static_cast<int64_t>(rows.size());
  } else if (squares_.known()) {
    for (const Item& item : rows) found.add(squares_.of_row[item.row]);
  }
  return found;
}

template <class Rows>
std::vector<RowSquare> PackedItems<Rows>::list_squares(const GrowNode& node) const {
  std::vector<RowSquare> out;
  out.reserve(node.size());
  for (const Item& item : items(node.begin, node.end, node.in_second)) {
    out.push_back(squares_.of_lanes ? RowSquare{square_of_lane(item.value.g), 1} : squares_.of_row[item.row]);
  }
  return out;
}

template <class Rows>
std::unique_ptr<Statistic> PackedItems<Rows>::take(const GrowNode& node, std::vector<uint32_t>& ids) const {
  std::vector<typename NarrowRows::Value> values;
  if constexpr (!packed_cells) {  // trees of words never set rows aside
    for (const Item item : items(node.begin, node.end, node.in_second)) {
      ids.push_back(item.row);
      values.push_back(item.value);
    }
  }
  return newton_statistic(NarrowRows{Buffer<NarrowRows::Value>::owned(values)}, criterion_);
}

template <class Rows>
void PackedItems<Rows>::collect_ids(GrownTree& tree) const {
  tree.ids.resize(buffers_.first.size());
  parallel_for(workers_->run(), static_cast<int64_t>(tree.nodes.size()), [&](int64_t i, int) {
    const NodeRecord& record = tree.nodes[static_cast<size_t>(i)];
    if (record.left >= 0) return;
    const size_t end = record.begin + static_cast<size_t>(record.n_rows);
    const auto rows = items(record.begin, end, record.in_second);
    for (size_t k = 0; k < rows.size(); ++k) tree.ids[record.begin + k] = rows[k].row;
  });
}

template class PackedItems<NarrowRows>;
template class PackedItems<WordRows>;

}  // namespace weald
