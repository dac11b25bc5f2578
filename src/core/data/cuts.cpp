#include "core/data/cuts.h"

namespace weald {

std::vector<double> choose_cuts(std::span<const WeightedValue> values, uint32_t max_bins) {
  std::vector<double> cuts;
  if (values.size() < 2) return cuts;
  const auto cut_after = [&](size_t i) { cuts.push_back(midpoint_below(values[i].value, values[i + 1].value)); };
  if (values.size() <= max_bins) {
    for (size_t i = 0; i + 1 < values.size(); ++i) cut_after(i);
    return cuts;
  }
  double rest = 0;
  for (const auto& [value, weight] : values) rest += static_cast<double>(weight);
  uint32_t bins_left = max_bins;
  double filled = 0;
  for (size_t i = 0; i + 1 < values.size() && bins_left > 1; ++i) {
    filled += static_cast<double>(values[i].weight);
    const double mean_bin = rest / bins_left;
    // Close the bin when it is full, or when stopping here is nearer to full than going on.
    const double next = static_cast<double>(values[i + 1].weight);
    if (filled >= mean_bin || (filled + next) - mean_bin > mean_bin - filled) {
      cut_after(i);
      rest -= filled;
      filled = 0;
      --bins_left;
    }
  }
  return cuts;
}

}  // namespace weald
