// Where to cut a column: distinct values with their weights → at most max_bins bins of about equal weight.
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

// `values`: ascending, distinct, weights positive. A value heavier than the mean bin gets a bin of its own; the mean
// is taken anew over what is left after each cut, so that heavy values do not waste bins.
std::vector<double> choose_cuts(std::span<const WeightedValue> values, uint32_t max_bins);

}  // namespace weald
