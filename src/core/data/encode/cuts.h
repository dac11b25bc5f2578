// Where to cut a column: distinct values with their weights → at most max_bins bins of about equal weight. All
// decisions are comparisons of integers (docs/methods/sketch.md, equation 6), so that no order of rows and no compiler
// shows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace weald {

struct WeightedValue {
  double value;
  int64_t weight;
};

// The number halfway between two neighbours, or the lower one if rounding reaches the upper (or overflows).
inline double midpoint_below(double low, double high) {
  const double middle = low + (high - low) / 2;
  return middle < high ? middle : low;
}

// Decides where bins end, for values that come in ascending order. A value heavier than the mean bin gets a bin of its
// own; the mean is taken anew over what is left after each cut, so that heavy values do not waste bins. Few enough
// values are all kept apart.
class BinCloser {
 public:
  // `total` is the weight of all `n_values` values, below 2^62.
  BinCloser(uint64_t n_values, int64_t total, uint32_t max_bins)
      : all_apart_(n_values <= max_bins),
        bins_left_(max_bins),
        rest_(static_cast<uint64_t>(total)),
        twice_mean_(2 * rest_ / (max_bins > 0 ? max_bins : 1)) {}

  // Whether a bin ends before the value of this weight, which must be positive; the first value never ends one.
  bool ends_before(int64_t weight) {
    const auto next = static_cast<uint64_t>(weight);
    // 2 · filled + next > 2 · mean: going on would be farther above the mean than stopping is below it.
    const bool ends = filled_ > 0 && (all_apart_ || (2 * filled_ + next > twice_mean_ && bins_left_ > 1));
    if (ends) {
      rest_ -= filled_;
      filled_ = 0;
      --bins_left_;
      if (!all_apart_) twice_mean_ = 2 * rest_ / bins_left_;
    }
    filled_ += next;
    return ends;
  }

 private:
  bool all_apart_;
  uint32_t bins_left_;
  uint64_t rest_;  // weight of the open bin and of all that is still to come
  uint64_t twice_mean_;
  uint64_t filled_ = 0;
};

// `values`: ascending, distinct, weights positive.
std::vector<double> choose_cuts(std::span<const WeightedValue> values, uint32_t max_bins);

}  // namespace weald
