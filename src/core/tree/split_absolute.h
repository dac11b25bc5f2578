// The split search under absolute error: no sum of lanes gives the loss of a set of rows around its median, so the rows
// themselves are looked at.
//
// A column of a node is read in code order. Take the node's rows as a linked list in ascending target, with a pointer
// at the median; rows leave one by one, from the last code to the first, and the pointer follows by a step or so. So
// every prefix has its loss after one pass, and every suffix after another from the other end: no search tree, no
// logarithm. All sums are integers, so the losses are exact: `Sum` has 64 bits where Σ w·|y| is known to fit, else 128.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/base/random.h"
#include "core/tree/partition.h"
#include "core/tree/split.h"
#include "core/tree/split_random.h"
#include "core/tree/statistics.h"

namespace weald {

// Absolute error, as far as the grower asks a criterion: the one lane is Σ w.
template <class T>
struct Absolute {
  using Sum = T;
  static constexpr bool by_rows = true, ordered = false, rows_may_be_zero = false;
  static int64_t weight(const int64_t* cell) { return cell[0]; }
  static bool pure(const int64_t*) { return false; }
};

template <class Criterion>
concept ByRows = requires { Criterion::by_rows; };

// Targets in units, one or several a row, and the row's weight.
struct TargetRows {
  static constexpr int fixed_lanes = 1;
  static constexpr bool packed = false;
  static constexpr bool unit_weights = false;
  Buffer<int64_t> weight;  // (n,)
  Buffer<int64_t> value;   // (n, n_outputs)
  int n_outputs = 1;

  int lanes() const { return 1; }
  void add(uint32_t row, int64_t* cell) const { cell[0] += weight[row]; }
  TargetRows gather(std::span<const uint32_t> ids) const {
    return {Buffer<int64_t>::gathered(weight.get(), ids),
            Buffer<int64_t>::gathered(value.get(), ids, static_cast<size_t>(n_outputs)), n_outputs};
  }
};

struct OrderedTarget {
  int64_t value, weight;
  uint32_t row;
};

// Where the median of some targets stands: the first one with at least half of the weight up to and including it.
template <class Sum>
struct MedianState {
  uint32_t at = 0;                 // its place in the list
  int64_t weight = 0, before = 0;  // Σ w of all, and of those before it
  Sum sum = 0, sum_before = 0;     // Σ w·y of the same
  // Σ w |y − median|; `value` is the median's
  Sum loss(int64_t value) const { return sum - 2 * sum_before + static_cast<Sum>(value) * (2 * before - weight); }
};

// The targets of one output of a node, ascending, and their weights; no weights where all are 1.
struct TargetList {
  std::vector<int64_t> value, weight;
};

// The targets of a node as a list that only ever loses members. `Unit`: all weights are 1.
template <class Sum>
class ShrinkingTargets {
 public:
  void start(const TargetList& targets, const MedianState<Sum>& state) {
    value_ = targets.value.data();
    weight_ = targets.weight.data();
    state_ = state;
    const auto n = static_cast<uint32_t>(targets.value.size());
    if (identity_.size() < n + 2) {
      for (auto i = static_cast<uint32_t>(identity_.size()); i < n + 2; ++i) identity_.push_back({i - 1, i + 1});
    }
    links_.resize(std::max(links_.size(), identity_.size()));
    std::copy_n(identity_.begin(), n + 2, links_.begin());
    end_ = n + 1;
  }

  // Place of a target in the list = its number + 1; 0 and end_ are no targets.
  template <bool Unit>
  void remove(uint32_t number) {
    const uint32_t place = number + 1;
    const Link link = links_[place];
    links_[link.before].after = link.after;
    links_[link.after].before = link.before;
    const int64_t weight = weight_at<Unit>(place);
    const Sum weighted = static_cast<Sum>(weight) * value_[number];
    state_.weight -= weight;
    state_.sum -= weighted;
    // Written as arithmetic: which side a target stands on is a coin toss, and a branch would be mispredicted.
    const bool before = place < state_.at;
    state_.before -= before ? weight : 0;
    state_.sum_before -= before ? weighted : 0;
    if (place == state_.at) {
      state_.at = link.after;
      if (link.after == end_ && link.before != 0) {
        state_.at = link.before;
        pass<Unit>(link.before, -1);
      }
    }
    settle<Unit>();
  }

  bool empty() const { return state_.weight == 0; }
  Sum loss() const { return empty() ? 0 : state_.loss(value_[state_.at - 1]); }
  // The median; halfway to the next target where exactly half of the weight ends at it.
  template <bool Unit>
  double median() const {
    const auto value = static_cast<double>(value_[state_.at - 1]);
    if (2 * (state_.before + weight_at<Unit>(state_.at)) != state_.weight) return value;
    return value + (static_cast<double>(value_[links_[state_.at].after - 1]) - value) / 2;
  }

 private:
  struct Link {
    uint32_t before, after;
  };

  template <bool Unit>
  int64_t weight_at(uint32_t place) const {
    return Unit ? 1 : weight_[place - 1];
  }
  // Counts a target among those before the pointer (sign 1), or no longer (−1).
  template <bool Unit>
  void pass(uint32_t place, int64_t sign) {
    const int64_t weight = sign * weight_at<Unit>(place);
    state_.before += weight;
    state_.sum_before += static_cast<Sum>(weight) * value_[place - 1];
  }
  // One step is the rule, and no more; it is taken without a branch.
  template <bool Unit>
  void settle() {
    if (empty()) return;
    for (;;) {
      const Link link = links_[state_.at];
      const int64_t excess = 2 * state_.before - state_.weight;
      const bool back = excess >= 0;
      const bool on = excess + 2 * weight_at<Unit>(state_.at) < 0;
      const uint32_t passed = back ? link.before : state_.at;
      pass<Unit>(passed, static_cast<int64_t>(on) - static_cast<int64_t>(back));
      state_.at = back ? link.before : on ? link.after : state_.at;
      if (Unit || settled<Unit>()) return;
    }
  }
  template <bool Unit>
  bool settled() const {
    const int64_t excess = 2 * state_.before - state_.weight;
    return excess < 0 && excess + 2 * weight_at<Unit>(state_.at) >= 0;
  }

  const int64_t* value_ = nullptr;
  const int64_t* weight_ = nullptr;
  MedianState<Sum> state_;
  std::vector<Link> links_, identity_;
  uint32_t end_ = 1;
};

// The rows of a tree in ascending target, one order an output. The range of a node is its range in the grower's ids.
template <class Sum>
class TargetOrder {
 public:
  // `real` (n_rows, n_outputs): the targets themselves. Units grow with them, and two that share a unit keep their
  // order.
  TargetOrder(const TargetRows& rows, const double* real, std::span<const uint32_t> ids, size_t n_rows) {
    const auto n_outputs = static_cast<size_t>(rows.n_outputs);
    targets_.resize(n_outputs);
    number_.resize(n_outputs);
    for (size_t o = 0; o < n_outputs; ++o) {
      number_[o].resize(n_rows);
      targets_[o].reserve(ids.size());
      for (const uint32_t row : ids) {
        targets_[o].push_back({rows.value[row * n_outputs + o], rows.weight[row], row});
      }
      std::stable_sort(targets_[o].begin(), targets_[o].end(), [&](const OrderedTarget& a, const OrderedTarget& b) {
        return real[a.row * n_outputs + o] < real[b.row * n_outputs + o];
      });
    }
    scratch_.resize(ids.size());
  }

  size_t n_outputs() const { return targets_.size(); }
  std::span<const OrderedTarget> targets(size_t output, size_t begin, size_t n) const {
    return std::span(targets_[output]).subspan(begin, n);
  }
  // The place of a row among the targets of its node; true for nodes that were numbered last.
  uint32_t number(size_t output, uint32_t row) const { return number_[output][row]; }

  void split(size_t begin, size_t n, const uint8_t* side) {
    for (auto& targets : targets_) {
      partition_stable(targets.data() + begin, n, side, scratch_.data(), [](const OrderedTarget& t) { return t.row; });
    }
  }
  void number_rows(size_t begin, size_t n) {
    for (size_t o = 0; o < n_outputs(); ++o) {
      for (size_t i = 0; i < n; ++i) number_[o][targets_[o][begin + i].row] = static_cast<uint32_t>(i);
    }
  }
  bool alike(size_t begin, size_t n) const {
    return std::all_of(targets_.begin(), targets_.end(), [&](const std::vector<OrderedTarget>& targets) {
      return targets[begin].value == targets[begin + n - 1].value;
    });
  }
  MedianState<Sum> state(size_t output, size_t begin, size_t n) const {
    MedianState<Sum> state;
    const auto targets = this->targets(output, begin, n);
    for (const OrderedTarget& target : targets) {
      state.weight += target.weight;
      state.sum += static_cast<Sum>(target.weight) * target.value;
    }
    while (2 * (state.before + targets[state.at].weight) < state.weight) {
      state.before += targets[state.at].weight;
      state.sum_before += static_cast<Sum>(targets[state.at].weight) * targets[state.at].value;
      ++state.at;
    }
    ++state.at;  // places count from 1
    return state;
  }
  Sum loss(size_t begin, size_t n) const {
    Sum total = 0;
    for (size_t o = 0; o < n_outputs(); ++o) {
      const MedianState<Sum> at = state(o, begin, n);
      total += at.loss(targets_[o][begin + at.at - 1].value);
    }
    return total;
  }

 private:
  std::vector<std::vector<OrderedTarget>> targets_;
  std::vector<std::vector<uint32_t>> number_;
  std::vector<OrderedTarget> scratch_;
};

// A node as the search sees it: its targets in order, and where their medians stand.
template <class Sum>
struct TargetNode {
  const TargetOrder<Sum>* order = nullptr;
  size_t n = 0;
  bool unit = true;                     // all weights are 1
  std::vector<TargetList> targets;      // per output
  std::vector<MedianState<Sum>> state;  // per output

  TargetNode() = default;
  TargetNode(const TargetOrder<Sum>& of, size_t begin, size_t size) : order(&of), n(size), targets(of.n_outputs()) {
    for (const OrderedTarget& target : of.targets(0, begin, size)) unit &= target.weight == 1;
    for (size_t o = 0; o < targets.size(); ++o) {
      state.push_back(of.state(o, begin, size));
      for (const OrderedTarget& target : of.targets(o, begin, size)) {
        targets[o].value.push_back(target.value);
        if (!unit) targets[o].weight.push_back(target.weight);
      }
    }
  }
  int64_t weight(size_t output, uint32_t number) const { return unit ? 1 : targets[output].weight[number]; }
};

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
  }

  // Numeric or ordinal column: entries in code order, missing ones first.
  void scan(std::span<const Entry> entries) {
    split_off_missing(entries);
    if (constant) return;
    find_losses(entries);
    choose(entries, [](Entry entry) { return entry_code(entry); }, true);
  }

  // Categories: in the order of their medians, a heuristic; if a limit rules that out, all subsets of a few.
  void scan_categories(std::span<const Entry> entries);

  // One candidate: codes up to `last` go left.
  void scan_one(std::span<const Entry> entries, uint32_t last) {
    split_off_missing(entries);
    if (constant) return;
    const auto present = entries.subspan(static_cast<size_t>(n_missing));
    const auto after =
        std::find_if(present.begin(), present.end(), [&](Entry entry) { return entry_code(entry) > last; });
    try_sides(entries, static_cast<size_t>(after - present.begin()), last, after == present.end() ? 0 : last + 1);
  }

  // One candidate: categories by the coins of `word` (split_random.h).
  void scan_drawn_set(std::span<const Entry> entries, uint64_t word);

  bool found() const { return found_; }

  bool offer(int32_t column, Split& split) const {
    if (!found_) return false;
    if (split.found() && (best_loss_ != split.loss ? best_loss_ > split.loss : column > split.column)) return false;
    split = Split{};
    split.score = -static_cast<double>(best_loss_);
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

  template <bool Unit>
  void note(const ShrinkingTargets<Sum>& targets, Series& series, size_t i, size_t output) const {
    series.loss[i] = targets.loss() + (output == 0 ? 0 : series.loss[i]);
    if (constraint_.binds() && !targets.empty()) series.median[i] = targets.template median<Unit>();
  }

  // left_[i]: the first i present entries; right_[i]: all present but these; the other two: the same and the missing.
  void find_losses(std::span<const Entry> entries) {
    node_->unit ? find_losses_of<true>(entries) : find_losses_of<false>(entries);
  }
  template <bool Unit>
  void find_losses_of(std::span<const Entry> entries) {
    const auto missing = entries.first(static_cast<size_t>(n_missing));
    const auto present = entries.subspan(static_cast<size_t>(n_missing));
    for (Series* series : {&left_, &right_, &left_missing_, &right_missing_}) {
      if (n_missing > 0 || series == &left_ || series == &right_) series->make_room(present.size() + 1);
    }
    for (size_t o = 0; o < node_->order->n_outputs(); ++o) {
      for (const bool with_missing : {false, true}) {
        if (with_missing && n_missing == 0) continue;
        for (ShrinkingTargets<Sum>* targets : {&targets_, &others_}) {
          targets->start(node_->targets[o], node_->state[o]);
          if (with_missing) continue;
          for (const Entry entry : missing) targets->template remove<Unit>(node_->order->number(o, entry_row(entry)));
        }
        Series& left = with_missing ? left_missing_ : left_;
        Series& right = with_missing ? right_missing_ : right_;
        // Both passes in one loop: neither waits for the other, so the processor works on both at once.
        const size_t n = present.size();
        note<Unit>(targets_, left, n, o);
        for (size_t i = 1; i < n; ++i) {
          targets_.template remove<Unit>(node_->order->number(o, entry_row(present[n - i])));
          others_.template remove<Unit>(node_->order->number(o, entry_row(present[i - 1])));
          note<Unit>(targets_, left, n - i, o);
          note<Unit>(others_, right, i, o);
        }
        others_.template remove<Unit>(node_->order->number(o, entry_row(present[n - 1])));
        note<Unit>(others_, right, n, o);
      }
    }
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
    targets_.start(node_->targets[o], node_->state[o]);
    const auto lose_all = [&]<bool Unit>() {
      for (const auto part : parts) {
        for (const Entry entry : part) targets_.template remove<Unit>(node_->order->number(o, entry_row(entry)));
      }
      note<Unit>(targets_, series, 0, o);
    };
    node_->unit ? lose_all.template operator()<true>() : lose_all.template operator()<false>();
  }

  struct Category {
    uint32_t code;
    uint64_t rank;         // Σ over outputs of the rank of its median
    size_t first, n_rows;  // its entries, before they are put in order
  };
  void collect(std::span<const Entry> entries);
  uint64_t median_rank(std::span<const Entry> entries) const;
  void arrange(std::span<const Entry> entries);
  void scan_subsets(std::span<const Entry> entries);

  const TargetRows& rows_;
  Limits limits_;
  bool limited_ = false;
  const TargetNode<Sum>* node_ = nullptr;
  Constraint constraint_;
  ShrinkingTargets<Sum> targets_, others_;
  Series left_, right_, left_missing_, right_missing_;
  std::vector<Category> categories_;
  std::vector<Entry> arranged_;  // missing first, then category by category
  bool found_ = false;
  Sum best_loss_ = 0;
  uint32_t best_code_ = 0, best_next_ = 0;
  bool best_missing_left_ = false;
  int64_t best_n_left_ = 0, best_weight_ = 0;
  double best_left_value_ = 0, best_right_value_ = 0;
  std::vector<uint32_t> left_codes_, right_codes_;
};

// The rank, among the node's targets, of a category's lower median: equal targets have equal ranks.
template <class Sum>
uint64_t AbsoluteScan<Sum>::median_rank(std::span<const Entry> entries) const {
  uint64_t rank = 0;
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
    rank += static_cast<uint64_t>(equal - values.begin());
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
void AbsoluteScan<Sum>::scan_categories(std::span<const Entry> entries) {
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
