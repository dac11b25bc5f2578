// The split search under absolute error: a column of a node is read in code order; rows leave the node's list of
// targets (medians.h) from the last code to the first, which gives the loss of every prefix, and from the first to the
// last, which gives that of every suffix.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/tree/split/random.h"
#include "core/tree/split/split.h"
#include "core/tree/statistics/medians.h"

namespace weald {

// Best candidate of one column under absolute error: the twin of Scan (split.h).
template <class Sum>
class AbsoluteScan {
 public:
  AbsoluteScan(const TargetRows& rows, Limits limits) : rows_(rows), limits_(limits) {}

  bool constant = false;
  int64_t n_missing = 0;

  void begin(const TargetNode<Sum>& node, const Constraint& constraint) {
    node_ = &node;
    constraint_ = constraint;
    constant = false;
    n_missing = 0;
    found_ = false;
    held_back_ = 0;
  }

  // Numeric or ordinal column: entries in code order, missing ones first.
  void scan(std::span<const Entry> entries) {
    split_off_missing(entries);
    if (constant) return;
    find_losses(entries);
    choose(entries, [](Entry entry) { return entry_code(entry); }, true);
  }

  // Categories: in the order of their medians, a heuristic; if a limit rules that out, all subsets of a few. Those that
  // may be ids have to gain what chance would give them, and are not split if they do not.
  void scan_categories(std::span<const Entry> entries, bool may_be_id);

  // One candidate: codes up to `last` go left.
  void scan_one(std::span<const Entry> entries, uint32_t last) {
    split_off_missing(entries);
    if (constant) return;
    const auto present = entries.subspan(static_cast<size_t>(n_missing));
    const auto after =
        std::find_if(present.begin(), present.end(), [&](Entry entry) { return entry_code(entry) > last; });
    try_sides(entries, static_cast<size_t>(after - present.begin()), last, after == present.end() ? 0 : last + 1);
  }

  // One candidate: categories by the coins of `word` (random.h).
  void scan_drawn_set(std::span<const Entry> entries, uint64_t word);

  bool found() const { return found_; }

  bool offer(int32_t column, Split& split) const {
    if (!found_) return false;
    const Ties ties = split.ties;
    const bool tied = best_loss_ == split.loss;
    if (split.found() && (tied ? ties.prefers(split.column, column) : best_loss_ > split.loss)) return false;
    split = Split{};
    split.ties = ties;
    split.score = -static_cast<double>(best_loss_);
    split.held_back = static_cast<double>(held_back_);
    split.loss = best_loss_;
    split.column = column;
    split.code = best_code_;
    split.next_code = best_next_;
    split.missing_left = best_missing_left_;
    split.saw_missing = n_missing > 0;
    split.left_codes = left_codes_;
    split.right_codes = right_codes_;
    split.left_value = best_left_value_;
    split.right_value = best_right_value_;
    split.left = {best_weight_};
    return true;
  }

 private:
  // Losses (and, if a constraint asks, medians) of a series of sets.
  struct Series {
    std::vector<Sum> loss;
    std::vector<double> median;
    void make_room(size_t n) {
      loss.resize(std::max(loss.size(), n));
      median.resize(loss.size());
    }
  };

  void split_off_missing(std::span<const Entry> entries) {
    const auto present =
        std::find_if(entries.begin(), entries.end(), [](Entry entry) { return entry_code(entry) != 0; });
    n_missing = present - entries.begin();
    constant = entry_code(entries.front()) == entry_code(entries.back());
    left_codes_.clear();
    right_codes_.clear();
    found_ = false;
  }

  template <bool Unit, class Targets>
  void note(const Targets& targets, Series& series, size_t i, size_t output) const {
    series.loss[i] = targets.loss() + (output == 0 ? 0 : series.loss[i]);
    if (constraint_.binds() && !targets.empty()) series.median[i] = targets.template median<Unit>();
  }

  // left_[i]: the first i present entries; right_[i]: all present but these; the other two: the same and the missing.
  void find_losses(std::span<const Entry> entries) {
    if (node_->unit) {
      find_losses_of<true>(entries, linked_, other_linked_);
    } else if (!find_losses_of<false>(entries, linked_, other_linked_)) {
      find_losses_of<false>(entries, indexed_, other_indexed_);
    }
  }
  // False if the pointers walked so far that it was given up.
  template <bool Unit, class Memory>
  bool find_losses_of(std::span<const Entry> entries, Memory& first, Memory& second) {
    for (Series* series : {&left_, &right_, &left_missing_, &right_missing_}) {
      if (n_missing > 0 || series == &left_ || series == &right_) series->make_room(entries.size() + 1);
    }
    numbers_.resize(std::max(numbers_.size(), entries.size()));
    for (size_t o = 0; o < node_->targets.size(); ++o) {
      for (size_t i = 0; i < entries.size(); ++i) numbers_[i] = node_->order->number(o, entry_row(entries[i]));
      const std::span<const uint32_t> numbers{numbers_.data(), entries.size()};
      if (!remove_all<Unit>(o, numbers, false, first, second)) return false;
      if (n_missing > 0 && !remove_all<Unit>(o, numbers, true, first, second)) return false;
    }
    return true;
  }

  // One output: present targets leave from the last to the first, and in another list from the first to the last.
  template <bool Unit, class Memory>
  bool remove_all(size_t o, std::span<const uint32_t> numbers, bool with_missing, Memory& first, Memory& second) {
    auto&& prefixes = first.start(node_->targets[o], node_->state[o]);
    auto&& suffixes = second.start(node_->targets[o], node_->state[o]);
    const auto n_before = static_cast<size_t>(n_missing);
    for (size_t i = 0; !with_missing && i < n_before; ++i) {
      prefixes.template remove<Unit>(numbers[i]);
      suffixes.template remove<Unit>(numbers[i]);
    }
    Series& left = with_missing ? left_missing_ : left_;
    Series& right = with_missing ? right_missing_ : right_;
    const uint32_t* present = numbers.data() + n_before;
    const size_t n = numbers.size() - n_before, most_steps = 32 * n;
    note<Unit>(prefixes, left, n, o);
    // Both in one loop: neither waits for the other, so the processor works on both at once.
    for (size_t i = 1; i < n; ++i) {
      if (!Unit && prefixes.n_steps() + suffixes.n_steps() > most_steps) return false;
      prefixes.template remove<Unit>(present[n - i]);
      suffixes.template remove<Unit>(present[i - 1]);
      note<Unit>(prefixes, left, n - i, o);
      note<Unit>(suffixes, right, i, o);
    }
    suffixes.template remove<Unit>(present[n - 1]);
    note<Unit>(suffixes, right, n, o);
    return true;
  }

  // Looks at every boundary between two keys.
  template <class Key>
  void choose(std::span<const Entry> entries, Key key, bool limited) {
    const auto present = entries.subspan(static_cast<size_t>(n_missing));
    int64_t weight = 0, missing_weight = 0;
    for (const Entry entry : entries.first(static_cast<size_t>(n_missing))) {
      missing_weight += rows_.weight[entry_row(entry)];
    }
    limited_ = limited && limits_.bind();
    for (size_t i = 1; i <= present.size(); ++i) {
      weight += rows_.weight[entry_row(present[i - 1])];
      const bool last = i == present.size();
      if (!last && key(present[i]) == key(present[i - 1])) continue;
      const uint32_t code = key(present[i - 1]), next = last ? 0 : key(present[i]);
      const auto n = static_cast<int64_t>(i);
      if (n_missing == 0) {
        if (!last) attempt(left_, right_, i, n, weight, code, next, false);
        continue;
      }
      if (!last) attempt(left_missing_, right_, i, n + n_missing, weight + missing_weight, code, next, true);
      attempt(left_, right_missing_, i, n, weight, code, next, false);
    }
  }

  void attempt(const Series& left, const Series& right, size_t i, int64_t n_left, int64_t weight, uint32_t code,
               uint32_t next, bool missing_left) {
    const Sum loss = left.loss[i] + right.loss[i];
    if (found_ && loss >= best_loss_) return;
    if (limited_ && !allowed(n_left, weight)) return;
    if (constraint_.binds() && !constraint_.keeps(left.median[i], right.median[i], next != 0)) return;
    found_ = true;
    best_loss_ = loss;
    best_code_ = code;
    best_next_ = next;
    best_missing_left_ = missing_left;
    best_n_left_ = n_left;
    best_weight_ = weight;
    if (!constraint_.binds()) return;
    best_left_value_ = left.median[i];
    best_right_value_ = right.median[i];
  }

  bool allowed(int64_t n_left, int64_t weight) const {
    const int64_t n = static_cast<int64_t>(node_->n), total = node_->state[0].weight;
    return n_left >= limits_.min_rows && n - n_left >= limits_.min_rows && weight >= limits_.min_weight &&
           total - weight >= limits_.min_weight;
  }

  // The candidate that sends the first `n_present` present entries left, with the missing ones on either side.
  void try_sides(std::span<const Entry> entries, size_t n_present, uint32_t code, uint32_t next) {
    const auto missing = entries.first(static_cast<size_t>(n_missing));
    const auto present = entries.subspan(static_cast<size_t>(n_missing));
    const auto left = present.first(n_present), right = present.subspan(n_present);
    limited_ = limits_.bind();
    for (const bool missing_left : {true, false}) {
      if (missing_left && (n_missing == 0 || next == 0)) continue;
      for (Series* series : {&left_, &right_}) series->make_room(1);
      for (size_t o = 0; o < node_->order->n_outputs(); ++o) {
        lose(o, {right, missing_left ? std::span<const Entry>{} : missing}, left_);
        lose(o, {left, missing_left ? missing : std::span<const Entry>{}}, right_);
      }
      int64_t weight = 0;
      for (const Entry entry : left) weight += rows_.weight[entry_row(entry)];
      if (missing_left) {
        for (const Entry entry : missing) weight += rows_.weight[entry_row(entry)];
      }
      const size_t n_left = n_present + (missing_left ? missing.size() : 0);
      attempt(left_, right_, 0, static_cast<int64_t>(n_left), weight, code, next, missing_left);
    }
  }

  void lose(size_t o, std::initializer_list<std::span<const Entry>> parts, Series& series) {
    const auto lose_all = [&]<bool Unit>(auto& memory) {
      auto&& targets = memory.start(node_->targets[o], node_->state[o]);
      for (const auto part : parts) {
        for (const Entry entry : part) targets.template remove<Unit>(node_->order->number(o, entry_row(entry)));
      }
      note<Unit>(targets, series, 0, o);
    };
    node_->unit ? lose_all.template operator()<true>(linked_) : lose_all.template operator()<false>(indexed_);
  }

  struct Category {
    uint32_t code;
    __int128 rank;         // Σ over outputs of the weight of the targets below its median
    size_t first, n_rows;  // its entries, before they are put in order
  };
  void collect(std::span<const Entry> entries);
  __int128 median_rank(std::span<const Entry> entries) const;
  void arrange(std::span<const Entry> entries);
  void scan_subsets(std::span<const Entry> entries);

  const TargetRows& rows_;
  Limits limits_;
  bool limited_ = false;
  const TargetNode<Sum>* node_ = nullptr;
  Constraint constraint_;
  LinkedTargets<Sum> linked_, other_linked_;
  IndexedTargets<Sum> indexed_, other_indexed_;
  std::vector<uint32_t> numbers_;  // of the entries, in the order of the targets
  Series left_, right_, left_missing_, right_missing_;
  std::vector<Category> categories_;
  std::vector<Entry> arranged_;  // missing first, then category by category
  bool found_ = false;
  Sum best_loss_ = 0, held_back_ = 0;  // the loss has what is held back in it
  uint32_t best_code_ = 0, best_next_ = 0;
  bool best_missing_left_ = false;
  int64_t best_n_left_ = 0, best_weight_ = 0;
  double best_left_value_ = 0, best_right_value_ = 0;
  std::vector<uint32_t> left_codes_, right_codes_;
};

// The weight of the node's targets below a category's lower median: equal targets have equal ranks, and a row of weight
// 2 is two rows.
template <class Sum>
__int128 AbsoluteScan<Sum>::median_rank(std::span<const Entry> entries) const {
  __int128 rank = 0;
  std::vector<uint32_t> numbers(entries.size());
  for (size_t o = 0; o < node_->targets.size(); ++o) {
    const std::vector<int64_t>& values = node_->targets[o].value;
    int64_t weight = 0, before = 0;
    for (size_t i = 0; i < entries.size(); ++i) {
      numbers[i] = node_->order->number(o, entry_row(entries[i]));
      weight += node_->weight(o, numbers[i]);
    }
    std::sort(numbers.begin(), numbers.end());
    size_t at = 0;
    while (2 * (before + node_->weight(o, numbers[at])) < weight) before += node_->weight(o, numbers[at++]);
    const auto equal = std::lower_bound(values.begin(), values.end(), values[numbers[at]]);
    rank += node_->weight_below(o, static_cast<size_t>(equal - values.begin()));
  }
  return rank;
}

template <class Sum>
void AbsoluteScan<Sum>::collect(std::span<const Entry> entries) {
  categories_.clear();
  for (size_t i = static_cast<size_t>(n_missing); i < entries.size(); ++i) {
    const uint32_t code = entry_code(entries[i]);
    if (categories_.empty() || categories_.back().code != code) categories_.push_back({code, 0, i, 0});
    ++categories_.back().n_rows;
  }
}

// Entries category by category; the new code of a category is its place, from 1.
template <class Sum>
void AbsoluteScan<Sum>::arrange(std::span<const Entry> entries) {
  arranged_.assign(entries.begin(), entries.begin() + n_missing);
  for (size_t c = 0; c < categories_.size(); ++c) {
    for (size_t i = 0; i < categories_[c].n_rows; ++i) {
      arranged_.push_back((static_cast<Entry>(c + 1) << 32) | entry_row(entries[categories_[c].first + i]));
    }
  }
}

template <class Sum>
void AbsoluteScan<Sum>::scan_categories(std::span<const Entry> entries, bool may_be_id) {
  split_off_missing(entries);
  if (constant) return;
  collect(entries);
  for (Category& category : categories_) category.rank = median_rank(entries.subspan(category.first, category.n_rows));
  std::stable_sort(categories_.begin(), categories_.end(),
                   [](const Category& a, const Category& b) { return a.rank < b.rank; });
  arrange(entries);
  find_losses(arranged_);
  const auto key = [](Entry entry) { return entry_code(entry); };
  choose(arranged_, key, false);
  constexpr size_t few = 10;
  bool prefix = true;
  if (found_ && limits_.bind() && !allowed(best_n_left_, best_weight_)) {
    found_ = false;
    prefix = categories_.size() > few;
    prefix ? choose(arranged_, key, true) : scan_subsets(entries);
  }
  if (found_ && may_be_id) {  // a median more takes about a row's worth of the loss by chance
    const double share = static_cast<double>(categories_.size() - 1) / static_cast<double>(node_->n - 1);
    held_back_ = share < 1 ? static_cast<Sum>(static_cast<double>(node_->loss) * share) : node_->loss;
    best_loss_ += held_back_;
    found_ = best_loss_ < node_->loss;
  }
  if (!found_ || !prefix) return;
  for (size_t c = 0; c < categories_.size(); ++c) {
    (c < best_code_ ? left_codes_ : right_codes_).push_back(categories_[c].code);
  }
}

template <class Sum>
void AbsoluteScan<Sum>::scan_drawn_set(std::span<const Entry> entries, uint64_t word) {
  split_off_missing(entries);
  if (constant) return;
  collect(entries);
  const uint32_t odd = odd_category(word, categories_.size(), [&](size_t i) { return categories_[i].code; });
  const bool alone = categories_.size() == 1;
  const auto right_begin = std::stable_partition(categories_.begin(), categories_.end(), [&](const Category& category) {
    return alone || category_left(word, category.code) != (category.code == odd);
  });
  const auto n_left = static_cast<uint32_t>(right_begin - categories_.begin());
  size_t n_rows = 0;
  for (uint32_t c = 0; c < n_left; ++c) n_rows += categories_[c].n_rows;
  arrange(entries);
  try_sides(arranged_, n_rows, n_left, alone ? 0 : n_left + 1);
  for (size_t c = 0; found_ && c < categories_.size(); ++c) {
    (c < n_left ? left_codes_ : right_codes_).push_back(categories_[c].code);
  }
}

// Every subset that holds the first category, within the limits.
template <class Sum>
void AbsoluteScan<Sum>::scan_subsets(std::span<const Entry> entries) {
  std::sort(categories_.begin(), categories_.end(),
            [](const Category& a, const Category& b) { return a.code < b.code; });
  const std::vector<Category> all = categories_;
  const uint32_t full = (uint32_t{1} << all.size()) - 1;
  uint32_t best = 0;
  for (uint32_t mask = 1; mask <= full; mask += 2) {
    categories_.clear();
    size_t n_rows = 0;
    for (const bool left : {true, false}) {
      for (size_t c = 0; c < all.size(); ++c) {
        if ((((mask >> c) & 1) != 0) != left) continue;
        categories_.push_back(all[c]);
        n_rows += left ? all[c].n_rows : 0;
      }
    }
    arrange(entries);
    const Sum before = best_loss_;
    const bool had = found_;
    try_sides(arranged_, n_rows, mask, mask == full ? 0 : mask + 2);
    if (found_ && (!had || best_loss_ != before)) best = mask;
  }
  for (size_t c = 0; found_ && c < all.size(); ++c) {
    (((best >> c) & 1) != 0 ? left_codes_ : right_codes_).push_back(all[c].code);
  }
}

}  // namespace weald
