// What feeds a Scan (split.h): rows in code order, the listed entries of a sparse column, or a histogram.
#pragma once

#include "core/tree/split/split.h"

namespace weald {

// The hot loop of exact trees: no missing rows, no constraint, at least two codes. Everything it touches stays in
// registers; a candidate that cannot win costs a few multiplications.
template <class Rows, class Criterion, int N>
void scan_present(const Rows& rows, std::span<const Entry> entries, Scan<Criterion, N>& scan) {
  const Criterion criterion = scan.criterion();
  const Lanes<N> total(scan.total());
  Lanes<N> left(rows.lanes()), best_left(rows.lanes());
  CandidateFilter<Criterion, N> filter(criterion, total, -std::numeric_limits<double>::infinity());
  size_t best = 0;
  constexpr size_t ahead = 24;
  const size_t n = entries.size();
  // The candidate after an entry, when that has come to the left. The last entry is followed by none.
  for (size_t i = 0; i + 1 < n; ++i) {
    if constexpr (requires { rows.prefetch(0U); }) {
      if (i + ahead < n) rows.prefetch(entry_row(entries[i + ahead]));
    }
    rows.add(entry_row(entries[i]), left.data());
    if (entry_code(entries[i]) == entry_code(entries[i + 1]) || filter.hopeless(left)) continue;
    const Lanes<N> right = without(total, left);
    const double score = criterion.score(left.data()) + criterion.score(right.data());
    if (score > filter.best_score() && scan.within_limits(left.data(), static_cast<int64_t>(i + 1), right.data())) {
      filter.raise(score);
      best = i + 1;
      best_left = left;
    }
  }
  if (best > 0) scan.take(filter.best_score(), entry_code(entries[best - 1]), entry_code(entries[best]), best_left);
}

// Numeric or ordinal column, rows in code order.
template <class Rows, class Criterion, int N>
void scan_order(const Rows& rows, std::span<const Entry> entries, Scan<Criterion, N>& scan) {
  size_t i = 0;
  for (; i < entries.size() && entry_code(entries[i]) == 0; ++i) rows.add(entry_row(entries[i]), scan.missing.data());
  scan.n_missing = static_cast<int64_t>(i);
  scan.constant = entries.empty() || entry_code(entries.front()) == entry_code(entries.back());
  if (scan.constant) return;
  if constexpr (N > 0) {
    if (scan.n_missing == 0 && !scan.constrained()) return scan_present(rows, entries, scan);
  }
  uint32_t current = entry_code(entries[i]);
  for (; i < entries.size(); ++i) {
    const uint32_t code = entry_code(entries[i]);
    if (code != current) {
      scan.consider(current, code, static_cast<int64_t>(i) - scan.n_missing);
      current = code;
    }
    rows.add(entry_row(entries[i]), scan.left.data());
  }
  if (scan.n_missing > 0) scan.consider(current, 0, static_cast<int64_t>(entries.size()) - scan.n_missing);
}

// Numeric column of which only the entries that are not `default_code` are listed, in code order; all other rows of the
// node stand at that code, and what they add up to is the rest of the node: no row of them is visited.
template <class Rows, class Criterion, int N>
void scan_sparse(const Rows& rows, std::span<const Entry> entries, uint32_t default_code, Scan<Criterion, N>& scan,
                 int64_t n_rows) {
  const auto n_default = n_rows - static_cast<int64_t>(entries.size());
  scan.constant = entries.empty() || (n_default == 0 && entry_code(entries.front()) == entry_code(entries.back()));
  if (scan.constant) return;
  Lanes<N> rest(scan.total());
  size_t first = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    Lanes<N>& to = entry_code(entries[i]) == 0 ? scan.missing : scan.left;
    rows.add(entry_row(entries[i]), to.data());
    first += entry_code(entries[i]) == 0;
  }
  for (int l = 0; l < rest.size(); ++l) rest.data()[l] -= scan.missing.data()[l] + scan.left.data()[l];
  clear_lanes(scan.left);
  scan.n_missing = static_cast<int64_t>(first);
  bool pending = n_default > 0;  // the unlisted rows have still to be passed
  if (pending && default_code == 0) {
    add_lanes(scan.missing, rest.data());
    scan.n_missing += n_default;
    pending = false;
  }
  uint32_t current = 0;
  int64_t n_left = 0;
  const auto reach = [&](uint32_t code) {
    if (current != 0 && code != current) scan.consider(current, code, n_left);
    current = code;
  };
  for (size_t i = first; i <= entries.size(); ++i) {
    const uint32_t code = i < entries.size() ? entry_code(entries[i]) : std::numeric_limits<uint32_t>::max();
    if (pending && default_code < code) {
      reach(default_code);
      add_lanes(scan.left, rest.data());
      n_left += n_default;
      pending = false;
    }
    if (i == entries.size()) break;
    reach(code);
    rows.add(entry_row(entries[i]), scan.left.data());
    ++n_left;
  }
  if (scan.n_missing > 0 && current != 0) scan.consider(current, 0, n_left);
}

// Numeric or ordinal column from its histogram. Row counts: the extra lane when `counted`, else the weight (which is
// the count where weights are 1, and is not needed where no limit asks for rows).
template <class Criterion, int N>
void scan_histogram(const int64_t* cells, uint32_t n_codes, int lanes, bool counted, Scan<Criterion, N>& scan) {
  const size_t stride = static_cast<size_t>(lanes) + (counted ? 1 : 0);
  const auto rows_of = [&](const int64_t* cell) { return counted ? cell[lanes] : scan.criterion().weight(cell); };
  const bool saw_missing = has_rows<N>(cells, lanes, counted);
  if constexpr (N > 0) {
    if (!saw_missing && !scan.constrained()) return scan.consider_cells(cells, n_codes, stride, counted);
  }
  if (saw_missing) {
    add_lanes(scan.missing, cells);
    scan.n_missing = std::max<int64_t>(1, rows_of(cells));
  }
  uint32_t current = 0;
  int64_t n_left = 0;
  uint32_t n_present = 0;
  for (uint32_t code = 1; code <= n_codes; ++code) {
    const int64_t* cell = cells + stride * code;
    if (!has_rows<N>(cell, lanes, counted)) continue;
    if (current != 0) scan.consider(current, code, n_left);
    add_lanes(scan.left, cell);
    n_left += rows_of(cell);
    current = code;
    ++n_present;
  }
  scan.constant = n_present + (saw_missing ? 1 : 0) < 2;
  if (saw_missing && current != 0) scan.consider(current, 0, n_left);
}

}  // namespace weald
