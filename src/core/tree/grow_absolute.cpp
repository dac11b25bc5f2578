#include "core/tree/grow_input.h"
#include "core/tree/grow_tree.h"

namespace weald {

TreeArrays grow_absolute_tree(const Codes& codes, std::span<const int64_t> values, std::span<const int64_t> weights,
                              std::span<const double> targets, int value_power, int weight_power, bool wide,
                              const GrowOptions& options, Run& run) {
  const auto n_rows = static_cast<size_t>(codes.n_rows);
  require(weights.size() == n_rows && values.size() == targets.size() && values.size() % n_rows == 0,
          "values, weights and targets must have one row each");
  const auto n_outputs = static_cast<int>(values.size() / n_rows);
  Spread spread;
  spread.target = targets.data();
  spread.n_outputs = n_outputs;
  spread.factor = 1.0 / n_outputs;
  spread.weight_power = weight_power;
  spread.score_power = value_power + weight_power;
  const TargetRows rows{weights.data(), values.data(), n_outputs};
  std::vector<uint32_t> ids = present_rows(codes.n_rows, weights);
  if (wide) {
    return grow_flat(codes, std::move(ids), rows, Absolute<__int128>{}, std::move(spread), options, run);
  }
  return grow_flat(codes, std::move(ids), rows, Absolute<int64_t>{}, std::move(spread), options, run);
}

}  // namespace weald
