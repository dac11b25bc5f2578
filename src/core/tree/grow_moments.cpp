#include <cmath>

#include "core/tree/gain.h"
#include "core/tree/grow_input.h"
#include "core/tree/grow_tree.h"

namespace weald {

TreeArrays grow_moment_tree(const Codes& codes, std::span<const int64_t> lanes, std::span<const int64_t> squares,
                            std::span<const double> targets, const MomentPowers& powers, MomentCriterion criterion,
                            const GrowOptions& options, Run& run) {
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
  const bool poisson = criterion == MomentCriterion::poisson;
  constexpr double ln2 = 0x1.62e42fefa39efp-1;
  spread.factor = (poisson ? ln2 : 1.0) / spread.n_outputs;
  if (n_outputs == 1) {
    spread.score_power = poisson ? powers.sum[0] : 2 * powers.sum[0] - powers.weight;
    const PairRows rows{lanes.data()};
    if (poisson) {
      return grow_flat(codes, std::move(ids), rows, Poisson(powers.sum[0] - powers.weight), std::move(spread), options,
                       run);
    }
    return grow_flat(codes, std::move(ids), rows, Squared{}, std::move(spread), options, run);
  }
  const LaneRows rows{lanes.data(), static_cast<int>(n_lanes)};
  std::vector<double> scale;
  for (const int power : powers.sum) scale.push_back(std::ldexp(1.0, power));
  if (poisson) {
    PoissonMany deviance{{std::move(scale)}, {}};
    for (const int power : powers.sum) deviance.shift.push_back(power - powers.weight);
    return grow_flat(codes, std::move(ids), rows, deviance, std::move(spread), options, run);
  }
  spread.score_power = -powers.weight;
  return grow_flat(codes, std::move(ids), rows, SquaredMany{{std::move(scale)}}, std::move(spread), options, run);
}

}  // namespace weald
