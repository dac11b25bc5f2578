#include "core/tree/kinds/input.h"

namespace weald {

std::vector<uint32_t> present_rows(int64_t n_rows, std::span<const int64_t> weights, size_t stride, size_t at) {
  std::vector<uint32_t> ids;
  if (weights.empty()) {
    ids.resize(static_cast<size_t>(n_rows));
    std::iota(ids.begin(), ids.end(), 0U);
    return ids;
  }
  for (size_t row = 0; row < static_cast<size_t>(n_rows); ++row) {
    if (weights[row * stride + at] != 0) ids.push_back(static_cast<uint32_t>(row));
  }
  return ids;
}

std::vector<uint32_t> drawn_rows(std::span<const uint32_t> present, std::span<const uint32_t> counts) {
  std::vector<uint32_t> ids;
  ids.reserve(present.size());
  for (const uint32_t row : present) {
    if (counts.empty() || counts[row] > 0) ids.push_back(row);
  }
  return ids;
}

int64_t least_weight(double share, int64_t total_weight) {
  return static_cast<int64_t>(std::min(std::ceil(share * static_cast<double>(total_weight)), 0x1p62));
}

void take_share(GrowOptions& options, const Bags* bags, int64_t total_weight) {
  if (bags == nullptr || bags->min_weight_share <= 0) return;
  options.min_weight_leaf = least_weight(bags->min_weight_share, total_weight);
}

std::vector<int64_t> times_counts(std::span<const int64_t> values, std::span<const uint32_t> counts) {
  std::vector<int64_t> out(values.begin(), values.end());
  if (counts.empty()) return out;
  const size_t width = values.size() / counts.size();
  for (size_t i = 0; i < out.size(); ++i) out[i] *= counts[i / width];
  return out;
}

TreeArrays grow_statistic(const TreeCall& call, std::vector<uint32_t> ids, std::unique_ptr<Statistic> statistic) {
  Kept kept;
  if (call.together != nullptr) kept.scales = call.together->scales;
  Grower grower(grow_columns(call.codes), static_cast<size_t>(call.codes.n_rows), std::move(ids), std::move(statistic),
                call.options, call.run, kept);
  return flatten(grower.grow(), call.options.leaf_means_only);
}

}  // namespace weald
