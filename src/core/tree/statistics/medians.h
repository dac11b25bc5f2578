// Medians and absolute errors of sets of rows: the statistic that is no sum.
//
// Take a node's rows as a linked list in ascending target, with a pointer at the median. Rows leave one by one, and the
// pointer follows by a step or so: after each removal the loss of what is left is known, without a search tree and
// without a logarithm (docs/methods/trees.md, 12). All sums are integers, so the losses are exact: `Sum` has 64 bits
// where Σ w·|y| is known to fit, else 128.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "core/tree/rows/partition.h"
#include "core/tree/statistics/statistics.h"

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

// Targets in units, one or several per row, and the row's weight.
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

// The targets of a node as a list that only ever loses members. Methods with `Unit` are for weights that are all 1.
// Small enough to live in registers while a loop removes; the links are in a LinkedTargets.
template <class Sum>
class ShrinkingTargets {
 public:
  struct Link {
    uint32_t before, after;
  };
  ShrinkingTargets(const TargetList& targets, const MedianState<Sum>& state, Link* links)
      : value_(targets.value.data()),
        weight_(targets.weight.data()),
        links_(links),
        end_(static_cast<uint32_t>(targets.value.size()) + 1),
        state_(state) {}

  // Place of a target in the list = its number + 1; 0 and end_ are no targets.
  template <bool Unit>
  [[gnu::always_inline]] void remove(uint32_t number) {
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

  // Steps of the pointer beyond the first of each removal.
  size_t n_steps() const { return n_steps_; }

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
  template <bool Unit>
  int64_t weight_at(uint32_t place) const {
    return Unit ? 1 : weight_[place - 1];
  }
  // Counts a target among those before the pointer (sign 1), or no longer (−1).
  template <bool Unit>
  [[gnu::always_inline]] void pass(uint32_t place, int64_t sign) {
    const int64_t weight = sign * weight_at<Unit>(place);
    state_.before += weight;
    state_.sum_before += static_cast<Sum>(weight) * value_[place - 1];
  }
  // One step is the rule, and no more; it is taken without a branch.
  template <bool Unit>
  [[gnu::always_inline]] void settle() {
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
      ++n_steps_;
    }
  }
  template <bool Unit>
  bool settled() const {
    const int64_t excess = 2 * state_.before - state_.weight;
    return excess < 0 && excess + 2 * weight_at<Unit>(state_.at) >= 0;
  }

  const int64_t* value_;
  const int64_t* weight_;
  Link* links_;
  uint32_t end_;
  size_t n_steps_ = 0;
  MedianState<Sum> state_;
};

// The memory of such a list, used again and again.
template <class Sum>
class LinkedTargets {
 public:
  // All targets of a node, ascending.
  ShrinkingTargets<Sum> start(const TargetList& targets, const MedianState<Sum>& state) {
    const auto n = static_cast<uint32_t>(targets.value.size());
    for (auto i = static_cast<uint32_t>(identity_.size()); i < n + 2; ++i) identity_.push_back({i - 1, i + 1});
    links_.resize(std::max(links_.size(), identity_.size()));
    std::copy_n(identity_.begin(), n + 2, links_.begin());
    return {targets, state, links_.data()};
  }

 private:
  std::vector<typename ShrinkingTargets<Sum>::Link> links_, identity_;
};

// The same by a Fenwick tree of weights and weighted targets: log n a removal whatever the weights. It takes over where
// the list's pointer would have to walk far: light rows in the middle, heavy ones outside.
template <class Sum>
class IndexedTargets {
 public:
  IndexedTargets& start(const TargetList& targets, const MedianState<Sum>& state) {
    value_ = targets.value.data();
    given_ = targets.weight.data();
    n_ = targets.value.size();
    weight_.assign(n_ + 1, 0);
    sum_.assign(n_ + 1, 0);
    left_.assign(targets.weight.begin(), targets.weight.end());
    state_ = state;
    for (size_t i = 1; i <= n_; ++i) {
      weight_[i] += given_[i - 1];
      sum_[i] += static_cast<Sum>(given_[i - 1]) * value_[i - 1];
      const size_t above = i + (i & (~i + 1));
      if (above > n_) continue;
      weight_[above] += weight_[i];
      sum_[above] += sum_[i];
    }
    return *this;
  }

  template <bool>
  void remove(uint32_t number) {
    const int64_t weight = given_[number];
    const Sum weighted = static_cast<Sum>(weight) * value_[number];
    for (size_t i = size_t{number} + 1; i <= n_; i += i & (~i + 1)) {
      weight_[i] -= weight;
      sum_[i] -= weighted;
    }
    left_[number] = 0;
    state_.weight -= weight;
    state_.sum -= weighted;
    if (state_.weight > 0) find();
  }

  static size_t n_steps() { return 0; }
  bool empty() const { return state_.weight == 0; }
  Sum loss() const { return empty() ? 0 : state_.loss(value_[state_.at - 1]); }
  template <bool>
  double median() const {
    const auto value = static_cast<double>(value_[state_.at - 1]);
    if (2 * (state_.before + left_[state_.at - 1]) != state_.weight) return value;
    size_t next = state_.at;  // the number after the median's
    while (left_[next] == 0) ++next;
    return value + (static_cast<double>(value_[next]) - value) / 2;
  }

 private:
  // Down the tree to the first target with at least half of the weight up to and including it.
  void find() {
    size_t at = 0;
    state_.before = 0;
    state_.sum_before = 0;
    for (size_t step = std::bit_floor(n_); step > 0; step >>= 1) {
      if (at + step > n_ || 2 * (state_.before + weight_[at + step]) >= state_.weight) continue;
      at += step;
      state_.before += weight_[at];
      state_.sum_before += sum_[at];
    }
    state_.at = static_cast<uint32_t>(at + 1);
  }

  const int64_t* value_ = nullptr;
  const int64_t* given_ = nullptr;
  size_t n_ = 0;
  MedianState<Sum> state_;
  std::vector<int64_t> weight_, left_;  // of ranges; of each target, 0 once it is removed
  std::vector<Sum> sum_;
};

// The rows of a tree in ascending target, one order per output. The range of a node is its range in the grower's ids.
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
  Sum loss = 0;                         // of all rows around their medians
  bool unit = true;                     // all weights are 1
  std::vector<TargetList> targets;      // per output
  std::vector<MedianState<Sum>> state;  // per output

  TargetNode() = default;
  TargetNode(const TargetOrder<Sum>& of, size_t begin, size_t size) : order(&of), n(size), targets(of.n_outputs()) {
    for (const OrderedTarget& target : of.targets(0, begin, size)) unit &= target.weight == 1;
    for (size_t o = 0; o < targets.size(); ++o) {
      state.push_back(of.state(o, begin, size));
      targets[o].value.reserve(size);
      if (!unit) targets[o].weight.reserve(size);
      for (const OrderedTarget& target : of.targets(o, begin, size)) {
        targets[o].value.push_back(target.value);
        if (!unit) targets[o].weight.push_back(target.weight);
      }
      loss += state[o].loss(targets[o].value[state[o].at - 1]);
    }
  }
  // Forgets all but the loss.
  void release() {
    targets.clear();
    state.clear();
  }
  int64_t weight(size_t output, uint32_t number) const { return unit ? 1 : targets[output].weight[number]; }
  // Σ w of the first `n_below` targets.
  int64_t weight_below(size_t output, size_t n_below) const {
    if (unit) return static_cast<int64_t>(n_below);
    const std::vector<int64_t>& weights = targets[output].weight;
    return std::accumulate(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(n_below), int64_t{0});
  }
};

}  // namespace weald
