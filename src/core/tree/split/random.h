// The random splitter: one candidate per column and node, drawn from (seed, path of the node, column).
//
//   exact numbers   a threshold uniform in value between the node's smallest and largest value
//   bins            the cut nearest to a number uniform between the node's first and last cut
//   ranks           one of the ranks below the highest, each as likely
//   categories      each one left or right by a coin; if all fall the same way, the one drawn lowest goes the other
//
// Missing rows are tried on both sides, and stand against the rest where only one other code is left.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "core/base/random.h"
#include "core/data/codes.h"
#include "core/tree/split/categorical.h"
#include "core/tree/split/split.h"

namespace weald {

// Uniform in [0, 1), 53 bits.
inline double uniform(uint64_t word) {
  return static_cast<double>(word >> 11) * 0x1p-53;
}

struct DrawnCut {
  uint32_t code = 0;     // the largest code that goes left, at least of those present
  uint32_t next = 0;     // 0: missing stands against present
  double threshold = 0;  // exact numbers only
};

// A threshold from `least` to below `most`, which is larger.
inline double threshold_within(double least, double most, uint64_t word) {
  const double u = uniform(word);
  const double threshold = std::max(least, least * (1 - u) + most * u);
  return threshold < most ? threshold : least;
}

// The same between the values of the lowest and the highest code present in a node; low < high.
inline double draw_threshold(const double* marks, uint32_t low, uint32_t high, uint64_t word) {
  return threshold_within(marks[low - 1], marks[high - 1], word);
}

// A cut between the lowest and the highest code present in a node; low < high.
inline DrawnCut draw_cut(ColumnKind kind, const double* marks, uint32_t low, uint32_t high, uint64_t word) {
  if (kind == ColumnKind::exact) {
    const double threshold = draw_threshold(marks, low, high, word);
    const auto code = static_cast<uint32_t>(std::upper_bound(marks + low, marks + high - 1, threshold) - marks);
    return {code, code + 1, threshold};
  }
  const double u = uniform(word);
  const auto between = [&](double a, double b) { return a * (1 - u) + b * u; };
  uint32_t code = low + std::min(high - low - 1, static_cast<uint32_t>(u * (high - low)));
  if (kind == ColumnKind::binned) {
    const double at = between(marks[low - 1], marks[high - 2]);
    code = static_cast<uint32_t>(std::lower_bound(marks + low - 1, marks + high - 2, at) - marks) + 1;
    if (code > low && at - marks[code - 2] <= marks[code - 1] - at) --code;
  }
  return {code, code + 1, 0};
}

// Lowest and highest code present; low = 0 if there is none.
struct CodeRange {
  uint32_t low = 0, high = 0;
  bool missing = false;
  void include(uint32_t code) {
    if (code == 0) {
      missing = true;
      return;
    }
    low = low == 0 ? code : std::min(low, code);
    high = std::max(high, code);
  }
  bool constant() const { return missing ? low == 0 : low == high; }
  DrawnCut draw(ColumnKind kind, const double* marks, uint64_t word) const {
    return low == high ? DrawnCut{low, 0, 0} : draw_cut(kind, marks, low, high, word);
  }
};

// Numeric or ordinal column of a dense node.
template <class Rows, class Criterion, int N, class Code>
DrawnCut scan_random(const Rows& rows, const Code* codes, std::span<const uint32_t> ids, ColumnKind kind,
                     const double* marks, uint64_t word, Scan<Criterion, N>& scan) {
  CodeRange range;
  for (const uint32_t row : ids) range.include(codes[row]);
  scan.constant = range.constant();
  if (scan.constant) return {};
  DrawnCut cut;
  // In a small node, asking the rows for the largest code below the threshold is quicker than a search in all marks.
  constexpr size_t few_rows = 16;
  if (kind == ColumnKind::exact && ids.size() <= few_rows && range.low < range.high) {
    cut = {range.low, range.high, draw_threshold(marks, range.low, range.high, word)};
    for (const uint32_t row : ids) {
      const uint32_t code = codes[row];
      if (code > cut.code && marks[code - 1] <= cut.threshold) cut.code = code;
    }
  } else {
    cut = range.draw(kind, marks, word);
  }
  int64_t n_left = 0;
  if constexpr (N > 0) {
    if (!range.missing) {
      // Without a branch, which nothing could predict.
      Lanes<N> one(N), sum(N);
      for (const uint32_t row : ids) {
        const int64_t mask = -static_cast<int64_t>(codes[row] <= cut.code);
        clear_lanes(one);
        rows.add(row, one.data());
        for (int k = 0; k < N; ++k) sum.data()[k] += one.data()[k] & mask;
        n_left -= mask;
      }
      add_lanes(scan.left, sum.data());
      scan.consider(cut.code, cut.next, n_left);
      return cut;
    }
  }
  for (const uint32_t row : ids) {
    const uint32_t code = codes[row];
    if (code > cut.code) continue;
    rows.add(row, code == 0 ? scan.missing.data() : scan.left.data());
    (code == 0 ? scan.n_missing : n_left) += 1;
  }
  scan.consider(cut.code, cut.next, n_left);
  return cut;
}

// The same from a sparse column's entries, in any order.
template <class Rows, class Criterion, int N>
DrawnCut scan_random_sparse(const Rows& rows, std::span<const Entry> entries, uint32_t default_code, ColumnKind kind,
                            const double* marks, uint64_t word, Scan<Criterion, N>& scan, int64_t n_rows) {
  CodeRange range;
  const auto n_default = n_rows - static_cast<int64_t>(entries.size());
  if (n_default > 0) range.include(default_code);
  for (const Entry entry : entries) range.include(entry_code(entry));
  scan.constant = range.constant();
  if (scan.constant) return {};
  const DrawnCut cut = range.draw(kind, marks, word);
  Lanes<N> rest(scan.total());
  Lanes<N> row(rows.lanes());
  int64_t n_left = 0;
  for (const Entry entry : entries) {
    const uint32_t code = entry_code(entry);
    clear_lanes(row);
    rows.add(entry_row(entry), row.data());
    for (int l = 0; l < rest.size(); ++l) rest.data()[l] -= row.data()[l];
    if (code > cut.code) continue;
    add_lanes(code == 0 ? scan.missing : scan.left, row.data());
    (code == 0 ? scan.n_missing : n_left) += 1;
  }
  if (n_default > 0 && default_code <= cut.code) {
    add_lanes(default_code == 0 ? scan.missing : scan.left, rest.data());
    (default_code == 0 ? scan.n_missing : n_left) += n_default;
  }
  scan.consider(cut.code, cut.next, n_left);
  return cut;
}

// The same from a histogram.
template <class Criterion, int N>
DrawnCut scan_random_cells(const int64_t* cells, uint32_t n_codes, int lanes, bool counted, ColumnKind kind,
                           const double* marks, uint64_t word, Scan<Criterion, N>& scan) {
  const size_t stride = static_cast<size_t>(lanes) + (counted ? 1 : 0);
  const auto rows_of = [&](const int64_t* cell) { return counted ? cell[lanes] : scan.criterion().weight(cell); };
  CodeRange range;
  for (uint32_t code = 0; code <= n_codes; ++code) {
    if (has_rows<N>(cells + stride * code, lanes, counted)) range.include(code);
  }
  scan.constant = range.constant();
  if (scan.constant) return {};
  const DrawnCut cut = range.draw(kind, marks, word);
  if (range.missing) {
    add_lanes(scan.missing, cells);
    scan.n_missing = std::max<int64_t>(1, rows_of(cells));
  }
  int64_t n_left = 0;
  for (uint32_t code = range.low; code <= std::min(cut.code, range.high); ++code) {
    const int64_t* cell = cells + stride * code;
    add_lanes(scan.left, cell);
    n_left += rows_of(cell);
  }
  scan.consider(cut.code, cut.next, n_left);
  return cut;
}

// Whether the coin sends a category left.
inline bool category_left(uint64_t word, uint32_t code) {
  return (draw(word, Purpose::random_category, code) & 1) != 0;
}

// The category that changes sides because the coins sent all the same way; 0 if none has to.
template <class CodeOf>
uint32_t odd_category(uint64_t word, size_t n, CodeOf code_of) {
  size_t n_left = 0, lowest = 0;
  uint64_t lowest_draw = ~uint64_t{0};
  for (size_t i = 0; i < n; ++i) {
    n_left += category_left(word, code_of(i));
    const uint64_t drawn = draw(word, Purpose::random_category, code_of(i), 1);
    if (drawn < lowest_draw) lowest_draw = drawn, lowest = i;
  }
  return n > 1 && (n_left == 0 || n_left == n) ? code_of(lowest) : 0;
}

template <class Criterion, int N>
void scan_random_categories(const PresentCategories& present, int32_t column, uint64_t word, Scan<Criterion, N>& scan,
                            Split& split) {
  if (scan.constant) return;
  const uint32_t odd = odd_category(word, present.size(), [&](size_t i) { return present.code[i]; });
  const auto left = [&](size_t i) { return category_left(word, present.code[i]) != (present.code[i] == odd); };
  // One category alone stands against missing.
  const bool alone = present.size() == 1;
  int64_t n_left = 0;
  for (size_t i = 0; i < present.size(); ++i) {
    if (!alone && !left(i)) continue;
    add_lanes(scan.left, present.cell(i));
    n_left += present.n_rows[i];
  }
  scan.consider(1, alone ? 0 : 2, n_left);
  if (!scan.offer(column, split)) return;
  for (size_t i = 0; i < present.size(); ++i) {
    (alone || left(i) ? split.left_codes : split.right_codes).push_back(present.code[i]);
  }
}

}  // namespace weald
