#include "core/tree/gain.h"
#include "core/tree/grow_input.h"
#include "core/tree/grow_tree.h"

namespace weald {

namespace {

template <class Rows>
TreeArrays grow_two(const Codes& codes, std::vector<uint32_t> ids, Rows rows, int64_t total, const Spread& spread,
                    ClassCriterion criterion, const GrowOptions& options, Run& run) {
  if (criterion == ClassCriterion::gini) {
    return grow_flat(codes, std::move(ids), std::move(rows), GiniTwo{}, spread, options, run);
  }
  if (criterion == ClassCriterion::errors) {
    return grow_flat(codes, std::move(ids), std::move(rows), ErrorsTwo{}, spread, options, run);
  }
  const EntropyTerms terms(total);
  return grow_flat(codes, std::move(ids), std::move(rows), EntropyTwo(&terms), spread, options, run);
}

}  // namespace

TreeArrays grow_class_tree(const Codes& codes, std::span<const int32_t> lane, std::vector<int> output_start,
                           std::span<const int64_t> weights, int weight_power, ClassCriterion criterion,
                           const GrowOptions& options, Run& run) {
  const int n_lanes = output_start.back();
  const auto n_outputs = output_start.size() - 1;
  const auto n_rows = static_cast<size_t>(codes.n_rows);
  require(lane.size() == n_rows * n_outputs, "one class a row and output");
  require(weights.empty() || weights.size() == n_rows, "one weight a row");
  for (size_t i = 0; i < lane.size(); ++i) {
    const size_t output = i % n_outputs;
    require(lane[i] >= output_start[output] && lane[i] < output_start[output + 1], "class out of range");
  }
  std::vector<uint32_t> ids = present_rows(codes.n_rows, weights);
  const int64_t total = weights.empty() ? codes.n_rows : std::accumulate(weights.begin(), weights.end(), int64_t{0});
  Spread spread;
  spread.n_outputs = static_cast<int>(n_outputs);
  spread.factor = 1.0 / spread.n_outputs;
  spread.weight_power = spread.score_power = weight_power;
  if (n_outputs == 1 && n_lanes == 2) {
    if (weights.empty()) {
      std::vector<uint8_t> labels(lane.begin(), lane.end());
      return grow_two(codes, std::move(ids), LabelRows{labels.data()}, total, spread, criterion, options, run);
    }
    std::vector<int64_t> pairs(2 * n_rows, 0);
    for (size_t row = 0; row < n_rows; ++row) pairs[2 * row + static_cast<size_t>(lane[row])] = weights[row];
    return grow_two(codes, std::move(ids), PairRows{pairs.data()}, total, spread, criterion, options, run);
  }
  ClassRows rows{lane.data(), weights.empty() ? nullptr : weights.data(), static_cast<int>(n_outputs), n_lanes};
  if (criterion == ClassCriterion::gini) {
    return grow_flat(codes, std::move(ids), std::move(rows), GiniMany(std::move(output_start)), spread, options, run);
  }
  if (criterion == ClassCriterion::errors) {
    return grow_flat(codes, std::move(ids), std::move(rows), ErrorsMany(std::move(output_start)), spread, options, run);
  }
  const EntropyTerms terms(total);
  return grow_flat(codes, std::move(ids), std::move(rows), EntropyMany(std::move(output_start), &terms), spread,
                   options, run);
}

}  // namespace weald
