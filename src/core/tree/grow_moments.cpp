#include <cmath>

#include "core/tree/gain.h"
#include "core/tree/grow_input.h"
#include "core/tree/grow_tree.h"

namespace weald {

TreeArrays grow_moment_tree(const Codes& codes, std::span<const int64_t> lanes, std::span<const int64_t> squares,
                            std::span<const double> targets, const MomentPowers& powers, const GrowOptions& options,
                            Run& run) {
  const size_t n_outputs = powers.sum.size(), n_lanes = n_outputs + 1;
  const auto n_rows = static_cast<size_t>(codes.n_rows);
  require(lanes.size() == n_rows * n_lanes && squares.size() == n_rows && targets.size() == n_rows * n_outputs,
          "lanes, squares and targets must have one row each");
  std::vector<uint32_t> ids = present_rows(codes.n_rows, lanes, n_lanes, n_outputs);
  Spread spread;
  spread.target = targets.data();
  spread.squares = squares.data();
  spread.n_outputs = static_cast<int>(n_outputs);
  spread.square_power = powers.square;
  spread.weight_power = powers.weight;
  if (n_outputs == 1) {
    spread.score_power = 2 * powers.sum[0] - powers.weight;
    return grow_flat(codes, std::move(ids), PairRows{lanes.data()}, Squared{}, std::move(spread), options, run);
  }
  SquaredMany criterion;
  for (const int power : powers.sum) criterion.scale.push_back(std::ldexp(1.0, power));
  spread.score_power = -powers.weight;
  return grow_flat(codes, std::move(ids), LaneRows{lanes.data(), static_cast<int>(n_lanes)}, criterion,
                   std::move(spread), options, run);
}

}  // namespace weald
