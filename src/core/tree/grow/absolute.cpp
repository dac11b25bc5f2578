#include "core/tree/grow/input.h"
#include "core/tree/grow/tree.h"

namespace weald {

TreeArrays grow_absolute_trees(const Codes& codes, std::span<const int64_t> values, std::span<const int64_t> weights,
                               std::span<const double> targets, int value_power, int weight_power, bool wide,
                               const GrowOptions& options, const Bags* bags, Run& run) {
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
  const std::vector<uint32_t> present = present_rows(codes.n_rows, weights);
  return grow_trees(codes, bags, present, options, run,
                    [&](std::span<const uint32_t> counts, const GrowOptions& of_tree, Run& part) {
                      const std::vector<int64_t> weights_here = times_counts(weights, counts);
                      const int64_t total = std::accumulate(weights_here.begin(), weights_here.end(), int64_t{0});
                      const TargetRows rows{weights_here.data(), values.data(), n_outputs};
                      const GrowOptions mine = with_share(of_tree, bags, total);
                      std::vector<uint32_t> ids = drawn_rows(present, counts);
                      if (wide) return grow_flat(codes, std::move(ids), rows, Absolute<__int128>{}, spread, mine, part);
                      return grow_flat(codes, std::move(ids), rows, Absolute<int64_t>{}, spread, mine, part);
                    });
}

}  // namespace weald
