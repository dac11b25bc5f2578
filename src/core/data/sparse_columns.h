// The columns of a sparse matrix, whichever way it is compressed, in groups: a group of columns takes one pass over the
// indices, so that never more than a share of the entries stands in memory a second time. Small tables take few passes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/data/ascending.h"
#include "core/data/sparse_view.h"

namespace weald {

// At most this share of the entries is held in a second form at a time, by all threads together.
inline constexpr int64_t groups_together = 8;
inline constexpr int64_t least_group = int64_t{1} << 16;

inline constexpr int64_t lines_a_check = 4096;  // lines read between two looks at whether to stop

// Columns [first, last) and how many entries they have at most.
struct ColumnRange {
  int64_t first, last, n_entries;
};

// Entries of the columns of a range, column after column: column first + c has [start[c], start[c + 1]).
template <class T>
struct Gathered {
  std::vector<size_t> start;
  std::vector<uint32_t> rows;
  std::vector<T> values;
};

// How many entries each column has; every index is checked on the way.
inline std::vector<int64_t> count_entries(const SparseView& matrix, Run& run) {
  std::vector<int64_t> count(static_cast<size_t>(matrix.n_columns), 0);
  with_index_type(matrix, [&](auto type) {
    const auto* index = static_cast<const decltype(type)*>(matrix.index);
    const int64_t below = matrix.by_rows ? matrix.n_columns : matrix.n_rows;
    for (int64_t line = 0; line < matrix.n_lines(); ++line) {
      if (line % lines_a_check == 0) run.check();
      const int64_t first = matrix.start[static_cast<size_t>(line)], last = matrix.start[static_cast<size_t>(line) + 1];
      for (int64_t i = first; i < last; ++i) {
        check_index(index[i], below);
        if (matrix.by_rows) ++count[static_cast<size_t>(index[i])];
      }
      if (!matrix.by_rows) count[static_cast<size_t>(line)] = last - first;
    }
  });
  return count;
}

inline std::vector<ColumnRange> group_columns(std::span<const int64_t> count, int n_threads) {
  const int64_t total = std::accumulate(count.begin(), count.end(), int64_t{0});
  const int64_t most = std::max(least_group, total / (groups_together * n_threads));
  std::vector<ColumnRange> ranges;
  for (int64_t j = 0; j < static_cast<int64_t>(count.size()); ++j) {
    const int64_t n = count[static_cast<size_t>(j)];
    if (ranges.empty() || ranges.back().n_entries + n > most) ranges.push_back({j, j, 0});
    ranges.back().last = j + 1;
    ranges.back().n_entries += n;
  }
  return ranges;
}

template <class T, class Index>
void gather_from_rows(const SparseView& matrix, const ColumnRange& range, Run& run, Gathered<T>& out) {
  const auto* index = static_cast<const Index*>(matrix.index);
  const auto* data = static_cast<const T*>(matrix.data);
  std::vector<size_t> next(out.start.begin(), out.start.end() - 1);
  const auto width = static_cast<uint64_t>(range.last - range.first);
  for (int64_t row = 0; row < matrix.n_rows; ++row) {
    if (row % lines_a_check == 0) run.check();
    const int64_t last = matrix.start[static_cast<size_t>(row) + 1];
    for (int64_t i = matrix.start[static_cast<size_t>(row)]; i < last; ++i) {
      const auto c = static_cast<uint64_t>(int64_t{index[i]} - range.first);
      if (c >= width) continue;
      if (next[c] == out.start[c + 1]) continue;  // left out
      const size_t at = next[c]++;
      out.rows[at] = static_cast<uint32_t>(row);
      out.values[at] = data[i];
    }
  }
}

// Puts the entries of one column in order of their rows; those of one row keep their order.
template <class T>
void sort_entries(std::span<uint32_t> rows, std::span<T> values) {
  std::vector<PlacedIndex> order(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) order[i] = {rows[i], static_cast<uint32_t>(i)};
  sort_ascending(order);
  const std::vector<T> unsorted(values.begin(), values.end());
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i] = static_cast<uint32_t>(order[i].first);
    values[i] = unsorted[order[i].second];
  }
}

template <class T, class Index>
void gather_from_columns(const SparseView& matrix, const ColumnRange& range, Gathered<T>& out) {
  const auto* index = static_cast<const Index*>(matrix.index);
  const auto* data = static_cast<const T*>(matrix.data);
  for (int64_t j = range.first; j < range.last; ++j) {
    const size_t to = out.start[static_cast<size_t>(j - range.first)];
    const size_t n = out.start[static_cast<size_t>(j - range.first) + 1] - to;
    const int64_t from = matrix.start[static_cast<size_t>(j)];
    bool ascending = true;
    for (size_t i = 0; i < n; ++i) {
      const auto at = from + static_cast<int64_t>(i);
      ascending &= i == 0 || index[at - 1] <= index[at];
      check_index(index[at], matrix.n_rows);
      out.rows[to + i] = static_cast<uint32_t>(index[at]);
      out.values[to + i] = data[at];
    }
    if (!ascending) sort_entries(std::span(out.rows).subspan(to, n), std::span(out.values).subspan(to, n));
  }
}

// The entries of a range of columns, which have `count` entries at most.
template <class T>
Gathered<T> gather(const SparseView& matrix, const ColumnRange& range, std::span<const int64_t> count, Run& run) {
  Gathered<T> out;
  out.start.resize(count.size() + 1, 0);
  std::inclusive_scan(count.begin(), count.end(), out.start.begin() + 1, std::plus<>(), size_t{0});
  out.rows.resize(out.start.back());
  out.values.resize(out.start.back());
  if (out.rows.empty()) return out;
  with_index_type(matrix, [&](auto type) {
    using Index = decltype(type);
    matrix.by_rows ? gather_from_rows<T, Index>(matrix, range, run, out)
                   : gather_from_columns<T, Index>(matrix, range, out);
  });
  return out;
}

// Adds up entries of one row, which stand together; returns how many are left.
template <class T>
size_t merge(std::span<uint32_t> rows, std::span<T> values, DType dtype) {
  size_t n = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (n > 0 && rows[n - 1] == rows[i]) {
      values[n - 1] = added(values[n - 1], values[i], dtype);
    } else {
      rows[n] = rows[i];
      values[n++] = values[i];
    }
  }
  return n;
}

}  // namespace weald
