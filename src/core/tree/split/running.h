// The search of one column in code order where there are many classes: both sides of a candidate are known by a few
// sums (ManyClasses in gain.h), and a row that changes sides changes one term of each. Rows times columns, whatever the
// number of classes; the same candidates and the same floats as scan_order of feeds.h.
#pragma once

#include <vector>

#include "core/tree/split/feeds.h"
#include "core/tree/split/gain.h"
#include "core/tree/statistics/statistics.h"

namespace weald {

// One side of a split: its lanes, and per output their sum and that of their inner terms.
template <class Criterion>
class RunningSide {
 public:
  RunningSide(const Criterion& criterion, const Lanes<0>& lanes)
      : criterion_(criterion), lanes_(lanes), sum_(criterion.start.size() - 1), inner_(sum_.size(), 0) {
    for (size_t o = 0; o < sum_.size(); ++o) {
      sum_[o] = criterion.sum(lanes.data(), o);
      for (int l = criterion.start[o]; l < criterion.start[o + 1]; ++l) inner_[o] += criterion.inner(lanes.data()[l]);
    }
  }
  // `times` 1: the row comes; −1: it goes.
  void add(const ClassRows& rows, uint32_t row, int64_t times) {
    const int64_t by = times * (rows.weight ? rows.weight[row] : 1);
    for (size_t o = 0; o < sum_.size(); ++o) {
      int64_t& lane = lanes_.data()[rows.lane[row * sum_.size() + o]];
      inner_[o] += criterion_.inner(lane + by) - criterion_.inner(lane);
      lane += by;
      sum_[o] += by;
    }
  }
  double score() const {
    double total = 0;
    for (size_t o = 0; o < sum_.size(); ++o) total -= criterion_.loss(sum_[o], inner_[o]);
    return total;
  }
  int64_t weight() const { return sum_[0]; }

 private:
  const Criterion& criterion_;
  Lanes<0> lanes_;
  std::vector<int64_t> sum_;
  std::vector<typename Criterion::Inner> inner_;
};

struct RunningBest {
  double score = -std::numeric_limits<double>::infinity();
  size_t end = 0;  // the entries before it go left
};

// The best of the candidates that have `left`, and of the entries from `first` on all before a change of code, on the
// left side; also all of them if `after_last`.
template <class Criterion>
RunningBest best_running(const ClassRows& rows, std::span<const Entry> entries, size_t first, const Lanes<0>& left,
                         int64_t n_left, bool after_last, const Scan<Criterion, 0>& scan) {
  Lanes<0> rest(scan.total());
  for (int l = 0; l < rest.size(); ++l) rest.data()[l] -= left.data()[l];
  RunningSide<Criterion> on_left(scan.criterion(), left), on_right(scan.criterion(), rest);
  RunningBest best;
  for (size_t i = first; i < entries.size() + (after_last ? 1 : 0); ++i) {
    const bool ends = i > first && (i == entries.size() || entry_code(entries[i]) != entry_code(entries[i - 1]));
    const int64_t n = n_left + static_cast<int64_t>(i - first);
    if (ends && scan.within_limits(n, on_left.weight(), on_right.weight())) {
      const double score = on_left.score() + on_right.score();
      if (score > best.score) best = {score, i};
    }
    if (i == entries.size()) break;
    on_left.add(rows, entry_row(entries[i]), 1);
    on_right.add(rows, entry_row(entries[i]), -1);
  }
  return best;
}

template <class Criterion>
void scan_running(const ClassRows& rows, std::span<const Entry> entries, Scan<Criterion, 0>& scan) {
  size_t first = 0;
  for (; first < entries.size() && entry_code(entries[first]) == 0; ++first) {
    rows.add(entry_row(entries[first]), scan.missing.data());
  }
  scan.n_missing = static_cast<int64_t>(first);
  scan.constant = entries.empty() || entry_code(entries.front()) == entry_code(entries.back());
  if (scan.constant) return;
  RunningBest best = best_running(rows, entries, first, scan.left, 0, first > 0, scan);
  bool missing_left = false;
  if (first > 0) {
    const RunningBest with = best_running(rows, entries, first, scan.missing, scan.n_missing, false, scan);
    missing_left = with.score > best.score || (with.score == best.score && with.end != 0 && with.end <= best.end);
    if (missing_left) best = with;
  }
  if (best.end == 0) return;
  Lanes<0> left(missing_left ? scan.missing : scan.left);
  for (size_t i = first; i < best.end; ++i) rows.add(entry_row(entries[i]), left.data());
  const uint32_t next = best.end < entries.size() ? entry_code(entries[best.end]) : 0;
  scan.take(best.score, entry_code(entries[best.end - 1]), next, left, missing_left);
}

// Rows in code order, by whichever search suits.
template <class Rows, class Criterion, int N>
void scan_ordered(const Rows& rows, std::span<const Entry> entries, Scan<Criterion, N>& scan) {
  if constexpr (requires { typename Criterion::Inner; }) {
    if (scan.criterion().by_inner && !scan.constrained()) return scan_running(rows, entries, scan);
  }
  scan_order(rows, entries, scan);
}

}  // namespace weald
