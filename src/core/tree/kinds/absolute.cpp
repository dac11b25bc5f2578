#include "core/tree/grow/absolute_statistic.h"
#include "core/tree/kinds/input.h"
#include "core/tree/kinds/tree.h"

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
  spread.means = true;
  spread.n_outputs = n_outputs;
  spread.factor = 1.0 / n_outputs;
  spread.weight_power = weight_power;
  spread.score_power = value_power + weight_power;
  const std::vector<uint32_t> present = present_rows(codes.n_rows, weights);
  return grow_trees(codes, bags, {present}, options, false, run, [&](TreeCall call) {
    const std::vector<int64_t> weights_here = times_counts(weights, call.counts);
    take_share(call.options, bags, std::accumulate(weights_here.begin(), weights_here.end(), int64_t{0}));
    std::vector<uint32_t> ids = drawn_rows(present, call.counts);
    if (ids.empty()) throw BadInput("no row has a positive weight");
    TargetRows rows{weights_here.data(), values.data(), n_outputs};
    std::unique_ptr<Statistic> statistic;
    if (wide) {
      statistic = std::make_unique<AbsoluteStatistic<__int128>>(std::move(rows), spread, ids, n_rows);
    } else {
      statistic = std::make_unique<AbsoluteStatistic<int64_t>>(std::move(rows), spread, ids, n_rows);
    }
    return grow_statistic(call, std::move(ids), std::move(statistic));
  });
}

}  // namespace weald
