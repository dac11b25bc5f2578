// The search of one round: weights in, the best split of all rows out. Included by adaboost.cpp alone.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "core/boosting/adaboost/rows.h"
#include "core/tree/split/categorical.h"
#include "core/tree/split/feeds.h"
#include "core/tree/split/split.h"

namespace weald {

// A cut of a column of blocks: left of the place at `position` of its order.
template <int N>
struct StumpCut {
  explicit StumpCut(int n_lanes) : left(n_lanes) {}
  Lanes<N> left;  // the rows that go left
  double score = -std::numeric_limits<double>::infinity();
  int32_t column = -1;
  uint32_t position = 0;
  bool missing_left = false;

  // Ties as in Split: lower column, lower cut, missing left first.
  bool better_than(const StumpCut& other) const {
    if (score != other.score) return score > other.score;
    if (column != other.column) return other.column < 0 || column < other.column;
    return position != other.position ? position < other.position : missing_left && !other.missing_left;
  }
};

// Adds the weight of every row to the cells of its first C bytes, byte_codes cells each.
template <size_t C>
void add_bytes(const uint64_t* word, const int64_t* weight, size_t n_rows, int64_t* sums) {
  for (size_t i = 0; i < n_rows; ++i) {
    const int64_t mine = weight[i];
    if (mine == 0) continue;  // of drawn rows most may be absent
    const uint64_t bytes = word[i];
    for (size_t c = 0; c < C; ++c) sums[c * byte_codes + ((bytes >> (8 * c)) & 255)] += mine;
  }
}

template <class Criterion, int N>
class StumpSearch {
 public:
  // `weights`: by place. `total`: their sums by class.
  StumpSearch(const StumpRows& rows, const Criterion& criterion, std::span<const int64_t> weights,
              std::span<const int64_t> total, int64_t n_present, Run& run)
      : rows_(rows),
        criterion_(criterion),
        weights_(weights),
        total_(total.begin(), total.end()),
        n_lanes_(rows.n_classes()),
        n_present_(n_present),
        run_(run),
        sums_(rows.columns().size()),
        cuts_(static_cast<size_t>(run.n_threads()), Cut(n_lanes_)),
        splits_(static_cast<size_t>(run.n_threads())) {}

  // The best split; not found() if no column has two values.
  Split best();

 private:
  using Cut = StumpCut<N>;
  using Sums = std::vector<int64_t>;  // (cells, lanes)
  struct Look {
    size_t column, block;
  };

  const int64_t* cell(size_t j, size_t b) const { return sums_[j].data() + b * static_cast<size_t>(n_lanes_); }
  template <class Body>
  void each(size_t n, Body body);
  void add_words();
  void add_categories(size_t j);
  void search_cells(size_t j, Split& best);
  void search_ends(size_t j, Cut& best);
  bool worth_looking(size_t j, size_t block, double least) const;
  bool reaches(const int64_t* left, double least) const;
  void look(size_t j, size_t block, Cut& best) const;
  void look_plain(size_t j, uint32_t first, uint32_t last, const int64_t* before, Cut& best) const;
  void consider(size_t j, uint32_t position, const Lanes<N>& left, Cut& best) const;
  void attempt(size_t j, uint32_t position, const Lanes<N>& left, bool missing_left, Cut& best) const;
  Split as_split(const Cut& cut) const;

  const StumpRows& rows_;
  const Criterion& criterion_;
  std::span<const int64_t> weights_;
  std::vector<int64_t> total_;
  int n_lanes_;
  int64_t n_present_;
  Run& run_;
  std::vector<Sums> sums_;  // by column. Columns of blocks: of all blocks before it, but for the first, of missing rows
  std::vector<Cut> cuts_;
  std::vector<Split> splits_;
};

template <class Criterion, int N>
template <class Body>
void StumpSearch<Criterion, N>::each(size_t n, Body body) {
  constexpr size_t parallel_work = 1 << 14;  // (row, column) pairs
  if (rows_.n_rows() * rows_.columns().size() >= parallel_work) {
    parallel_for(run_, static_cast<int64_t>(n),
                 [&](int64_t i, int worker) { body(static_cast<size_t>(i), static_cast<size_t>(worker)); });
  } else {
    for (size_t i = 0; i < n; ++i) body(i, size_t{0});
  }
}

// Histograms of all columns of bytes: eight of them at once, class after class, in parts of the rows if there are few
// columns.
template <class Criterion, int N>
void StumpSearch<Criterion, N>::add_words() {
  constexpr size_t enough_tasks = 16, smallest_part = size_t{1} << 14, word_cells = columns_a_word * byte_codes;
  const size_t n = rows_.n_rows(), n_words = rows_.n_words(), n_lanes = static_cast<size_t>(n_lanes_);
  const size_t n_parts = std::clamp(std::min(enough_tasks / n_words, n / smallest_part), size_t{1}, enough_tasks);
  const size_t part_rows = (n + n_parts - 1) / n_parts;
  std::vector<std::unique_ptr<int64_t[]>> found(n_words * n_parts);
  each(found.size(), [&](size_t task, size_t) {
    found[task] = std::make_unique<int64_t[]>(n_lanes * word_cells);
    const uint64_t* word = rows_.word(task / n_parts);
    const size_t first = (task % n_parts) * part_rows, last = std::min(n, first + part_rows);
    for (size_t k = 0; k < n_lanes; ++k) {
      int64_t* sums = found[task].get() + k * word_cells;
      const size_t begin = std::max(first, size_t{rows_.class_start()[k]});
      const size_t end = std::min(last, size_t{rows_.class_start()[k + 1]});
      if (begin >= end) continue;
      // A half word if no more than four columns are left.
      if (rows_.columns().size() - columns_a_word * (task / n_parts) > columns_a_word / 2) {
        add_bytes<columns_a_word>(word + begin, weights_.data() + begin, end - begin, sums);
      } else {
        add_bytes<columns_a_word / 2>(word + begin, weights_.data() + begin, end - begin, sums);
      }
    }
  });
  each(rows_.columns().size(), [&](size_t j, size_t) {
    const StumpColumn& column = rows_.columns()[j];
    if (column.wide_categories) return add_categories(j);
    sums_[j].assign(column.n_cells() * n_lanes, 0);
    for (size_t part = 0; part < n_parts; ++part) {
      const int64_t* of_part = found[(j / columns_a_word) * n_parts + part].get() + (j % columns_a_word) * byte_codes;
      for (size_t b = 0; b < column.n_cells(); ++b) {
        for (size_t k = 0; k < n_lanes; ++k) sums_[j][b * n_lanes + k] += of_part[k * word_cells + b];
      }
    }
  });
}

template <class Criterion, int N>
void StumpSearch<Criterion, N>::add_categories(size_t j) {
  const auto n_lanes = static_cast<size_t>(n_lanes_);
  const StumpColumn& column = rows_.columns()[j];
  sums_[j].assign(column.n_cells() * n_lanes, 0);
  with_codes(*column.codes, [&](const auto* data) {
    for (size_t k = 0; k < n_lanes; ++k) {
      for (size_t i = rows_.class_start()[k]; i < rows_.class_start()[k + 1]; ++i) {
        sums_[j][static_cast<size_t>(data[rows_.row_of()[i]]) * n_lanes + k] += weights_[i];
      }
    }
  });
}

// A column whose cells are its codes: the searches of trees.
template <class Criterion, int N>
void StumpSearch<Criterion, N>::search_cells(size_t j, Split& best) {
  const StumpColumn& column = rows_.columns()[j];
  Scan<Criterion, N> scan(criterion_, n_lanes_, Limits{});
  scan.begin(total_.data(), n_present_);
  const uint32_t n_codes = column.codes->n_codes;
  if (column.categorical()) {
    PresentCategories present;
    collect_histogram(sums_[j].data(), n_codes, n_lanes_, false, scan, present);
    scan_categories(present, static_cast<int32_t>(j), CategoryRules{}, scan, best);
  } else {
    scan_histogram(sums_[j].data(), n_codes, n_lanes_, false, scan);
    if (!scan.constant) scan.offer(static_cast<int32_t>(j), best);
  }
}

template <class Criterion, int N>
void StumpSearch<Criterion, N>::attempt(size_t j, uint32_t position, const Lanes<N>& left, bool missing_left,
                                        Cut& best) const {
  Lanes<N> right(n_lanes_);
  for (int k = 0; k < right.size(); ++k) right.data()[k] = total_[static_cast<size_t>(k)] - left.data()[k];
  if (criterion_.hopeless(left.data(), right.data(), best.score)) return;
  const double score = criterion_.score(left.data()) + criterion_.score(right.data());
  if (score < best.score) return;
  Cut cut(n_lanes_);
  cut.left = left;
  cut.score = score;
  cut.column = static_cast<int32_t>(j);
  cut.position = position;
  cut.missing_left = missing_left;
  if (cut.better_than(best)) best = cut;
}

// The candidates at one place of the order: `left` has the rows before it that are present. With missing rows these are
// tried on both sides, and after the last place as a side of their own.
template <class Criterion, int N>
void StumpSearch<Criterion, N>::consider(size_t j, uint32_t position, const Lanes<N>& left, Cut& best) const {
  const int64_t* missing = cell(j, 0);
  int64_t n_missing = 0, n_left = 0, n_total = 0;
  for (int k = 0; k < n_lanes_; ++k) {
    n_missing += missing[k];
    n_left += left.data()[k];
    n_total += total_[static_cast<size_t>(k)];
  }
  if (n_left == 0) return;
  if (n_left + n_missing < n_total) {
    if (n_missing > 0) {
      Lanes<N> both(left);
      add_lanes(both, missing);
      attempt(j, position, both, true, best);
    }
    attempt(j, position, left, false, best);
  } else if (n_missing > 0) {
    attempt(j, static_cast<uint32_t>(rows_.n_rows()), left, false, best);
  }
}

// Turns the sums of blocks into sums of all blocks before, and tries the cuts between blocks.
template <class Criterion, int N>
void StumpSearch<Criterion, N>::search_ends(size_t j, Cut& best) {
  const StumpColumn& column = rows_.columns()[j];
  const auto n_lanes = static_cast<size_t>(n_lanes_);
  Lanes<N> left(n_lanes_), next(n_lanes_);
  const size_t n_cells = column.n_cells();
  for (size_t b = 1; b < n_cells; ++b) {
    set_lanes(next, left.data());
    add_lanes(next, cell(j, b));
    std::copy_n(left.data(), n_lanes, sums_[j].data() + b * n_lanes);
    set_lanes(left, next.data());
    consider(j, column.block_start[b + 1], left, best);
  }
  sums_[j].insert(sums_[j].end(), left.data(), left.data() + n_lanes);
}

// Whether rows up to `left` could score as much as `least`. A side without rows scores 0.
template <class Criterion, int N>
bool StumpSearch<Criterion, N>::reaches(const int64_t* left, double least) const {
  Lanes<N> right(n_lanes_);
  for (int k = 0; k < right.size(); ++k) right.data()[k] = total_[static_cast<size_t>(k)] - left[k];
  const bool some_left = criterion_.weight(left) > 0, some_right = criterion_.weight(right.data()) > 0;
  if (some_left && some_right && criterion_.hopeless(left, right.data(), least)) return false;
  const double score = (some_left ? criterion_.score(left) : 0.0) + (some_right ? criterion_.score(right.data()) : 0.0);
  // Rounding of scores is far below this share of the weight.
  return score >= least - 0x1p-36 * static_cast<double>(criterion_.weight(total_.data()));
}

// The corners of the box between the sums before a block and after it; of very many classes there are too many.
template <class Criterion, int N>
bool StumpSearch<Criterion, N>::worth_looking(size_t j, size_t block, double least) const {
  constexpr int most_classes = 5;
  if (n_lanes_ > most_classes) return true;
  const int64_t *before = cell(j, block), *after = cell(j, block + 1), *missing = cell(j, 0);
  const bool some_missing = criterion_.weight(missing) > 0;
  Lanes<N> corner(n_lanes_);
  for (uint32_t mask = 0; mask < uint32_t{1} << n_lanes_; ++mask) {
    for (int k = 0; k < n_lanes_; ++k) corner.data()[k] = ((mask >> k) & 1) != 0 ? after[k] : before[k];
    if (reaches(corner.data(), least)) return true;
    if (!some_missing) continue;
    add_lanes(corner, missing);
    if (reaches(corner.data(), least)) return true;
  }
  return false;
}

// The cuts inside a block: between its first rows of two codes.
template <class Criterion, int N>
void StumpSearch<Criterion, N>::look(size_t j, size_t block, Cut& best) const {
  const StumpColumn& column = rows_.columns()[j];
  const uint32_t first = column.block_start[block], last = column.block_start[block + 1];
  if constexpr (N == 2) {
    if (column.block_start[1] == 0) return look_plain(j, first, last, cell(j, block), best);
  }
  const auto& class_start = rows_.class_start();
  Lanes<N> left(n_lanes_);
  set_lanes(left, cell(j, block));
  for (uint32_t position = first; position < last; ++position) {
    const uint32_t entry = column.order[position];
    if ((entry & StumpColumn::first_of_code) != 0 && position > first) consider(j, position, left, best);
    const uint32_t place = entry & ~StumpColumn::first_of_code;
    const auto after = std::upper_bound(class_start.begin(), class_start.end(), place);
    left.data()[after - class_start.begin() - 1] += weights_[place];
  }
}

// The same for two classes and no missing rows, in registers: most cuts cost a few multiplications.
template <class Criterion, int N>
void StumpSearch<Criterion, N>::look_plain(size_t j, uint32_t first, uint32_t last, const int64_t* before,
                                           Cut& best) const {
  const uint32_t* order = rows_.columns()[j].order.get();
  const int64_t* weights = weights_.data();
  const uint32_t second_class = rows_.class_start()[1];
  const Criterion criterion = criterion_;
  int64_t left[2] = {before[0], before[1]}, right[2] = {total_[0] - before[0], total_[1] - before[1]};
  double best_score = best.score;
  for (uint32_t position = first; position < last; ++position) {
    const uint32_t entry = order[position];
    if ((entry & StumpColumn::first_of_code) != 0 && position > first && !criterion.hopeless(left, right, best_score)) {
      Lanes<N> lanes(n_lanes_);
      set_lanes(lanes, left);
      consider(j, position, lanes, best);
      best_score = best.score;
    }
    const uint32_t place = entry & ~StumpColumn::first_of_code;
    const int64_t weight = weights[place];
    const int64_t of_second = weight & -static_cast<int64_t>(place >= second_class);
    left[0] += weight - of_second;
    left[1] += of_second;
    right[0] -= weight - of_second;
    right[1] -= of_second;
  }
}

template <class Criterion, int N>
Split StumpSearch<Criterion, N>::best() {
  add_words();
  each(rows_.columns().size(), [&](size_t j, size_t worker) {
    if (rows_.columns()[j].blocked()) {
      search_ends(j, cuts_[worker]);
    } else {
      search_cells(j, splits_[worker]);
    }
  });
  Split split;
  for (const Split& other : splits_) {
    if (other.found() && other.better_than(split)) split = other;
  }
  Cut cut(n_lanes_);
  for (const Cut& other : cuts_) {
    if (other.better_than(cut)) cut = other;
  }
  // Only what reaches the best cut between blocks, of any column, is looked at.
  const double least = std::max(cut.score, split.score);
  std::vector<std::vector<size_t>> blocks(rows_.columns().size());
  each(blocks.size(), [&](size_t j, size_t) {
    if (!rows_.columns()[j].blocked()) return;
    for (size_t b = 1; b < rows_.columns()[j].n_cells(); ++b) {
      if (worth_looking(j, b, least)) blocks[j].push_back(b);
    }
  });
  std::vector<Look> looks;
  for (size_t j = 0; j < blocks.size(); ++j) {
    for (const size_t b : blocks[j]) looks.push_back({j, b});
  }
  cuts_.assign(cuts_.size(), cut);
  each(looks.size(), [&](size_t i, size_t worker) { look(looks[i].column, looks[i].block, cuts_[worker]); });
  for (const Cut& other : cuts_) {
    if (other.better_than(cut)) cut = other;
  }
  if (cut.column < 0) return split;
  Split found = as_split(cut);
  return split.found() && split.better_than(found) ? split : found;
}

// The cut with the codes on its sides: those of the nearest present rows.
template <class Criterion, int N>
Split StumpSearch<Criterion, N>::as_split(const Cut& cut) const {
  const auto j = static_cast<size_t>(cut.column);
  const StumpColumn& column = rows_.columns()[j];
  const auto place_at = [&](uint32_t position) { return column.order[position] & ~StumpColumn::first_of_code; };
  const auto code_at = [&](uint32_t position) {
    return with_codes(*column.codes, [&](const auto* data) {
      return static_cast<uint32_t>(data[rows_.row_of()[place_at(position)]]);
    });
  };
  Split split;
  split.score = cut.score;
  split.column = cut.column;
  split.missing_left = cut.missing_left;
  split.saw_missing = criterion_.weight(cell(j, 0)) > 0;
  uint32_t before = cut.position;
  while (weights_[place_at(before - 1)] == 0) --before;
  split.code = code_at(before - 1);
  uint32_t after = cut.position;
  while (after < rows_.n_rows() && weights_[place_at(after)] == 0) ++after;
  split.next_code = after < rows_.n_rows() ? code_at(after) : 0;
  split.left.assign(cut.left.data(), cut.left.data() + n_lanes_);
  return split;
}

}  // namespace weald
