#include "core/data/encode/cuts.h"

namespace weald {

std::vector<double> choose_cuts(std::span<const WeightedValue> values, uint32_t max_bins) {
  int64_t total = 0;
  for (const auto& [value, weight] : values) total += weight;
  BinCloser closer(values.size(), total, max_bins);
  std::vector<double> cuts;
  for (size_t i = 0; i < values.size(); ++i) {
    if (closer.ends_before(values[i].weight)) cuts.push_back(midpoint_below(values[i - 1].value, values[i].value));
  }
  return cuts;
}

}  // namespace weald
