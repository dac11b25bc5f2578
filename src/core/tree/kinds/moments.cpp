#include <cmath>

#include "core/tree/kinds/input.h"
#include "core/tree/kinds/made.h"
#include "core/tree/kinds/poisson.h"
#include "core/tree/kinds/tree.h"
#include "core/tree/split/gain.h"

namespace weald {

namespace {

struct Powered {
  const MomentPowers& powers;
  bool poisson;
};

// One tree on lanes as they are.
TreeArrays grow_moments(const TreeCall& call, std::vector<uint32_t> ids, Buffer<int64_t> lanes, Spread spread,
                        const Powered& kind) {
  const auto& [powers, poisson] = kind;
  const size_t n_outputs = powers.sum.size();
  if (n_outputs == 1) {
    spread.score_power = poisson ? powers.sum[0] : 2 * powers.sum[0] - powers.weight;
    const PairRows rows{std::move(lanes)};
    if (poisson) return grow_poisson(call, std::move(ids), rows, powers.sum[0] - powers.weight, std::move(spread));
    return grow_flat(call, std::move(ids), rows, Squared{}, std::move(spread));
  }
  const LaneRows rows{std::move(lanes), static_cast<int>(n_outputs + 1)};
  std::vector<double> scale;
  for (const int power : powers.sum) scale.push_back(std::ldexp(1.0, power));
  if (poisson) {
    PoissonMany deviance{{std::move(scale)}, {}};
    for (const int power : powers.sum) deviance.shift.push_back(power - powers.weight);
    return grow_poisson_many(call, std::move(ids), rows, deviance, std::move(spread));
  }
  spread.score_power = -powers.weight;
  return grow_flat(call, std::move(ids), rows, SquaredMany{{std::move(scale)}}, std::move(spread));
}

Spread spread_of(const MomentPowers& powers, bool poisson) {
  Spread spread;
  spread.means = spread.squared = true;
  spread.n_outputs = static_cast<int>(powers.sum.size());
  spread.square_power = powers.square;
  spread.weight_power = powers.weight;
  constexpr double ln2 = 0x1.62e42fefa39efp-1;
  spread.factor = (poisson ? ln2 : 1.0) / spread.n_outputs;
  return spread;
}

class MomentKind final : public StatisticKind {
 public:
  MomentKind(MomentPowers powers, MomentCriterion criterion)
      : StatisticKind(0, powers.sum.size(), powers.sum.size() + 1, false, false),
        powers_(std::move(powers)),
        poisson_(criterion == MomentCriterion::poisson) {}

  MadeStatistic make(const StatisticRows& rows, Run& run) const override {
    MadeStatistic made;
    const Codes none;
    const TreeCall call{none, rows.count, {}, nullptr, run, &made};
    Spread spread = spread_of(powers_, poisson_);
    spread.target = Buffer<double>::owned(rows.targets);
    spread.squares = Buffer<int64_t>::owned(times_counts(rows.squares, rows.count));
    grow_moments(call, {}, Buffer<int64_t>::owned(times_counts(rows.lanes, rows.count)), std::move(spread),
                 {powers_, poisson_});
    return made;
  }

 private:
  MomentPowers powers_;
  bool poisson_;
};

}  // namespace

std::unique_ptr<StatisticKind> moment_kind(MomentPowers powers, MomentCriterion criterion) {
  return std::make_unique<MomentKind>(std::move(powers), criterion);
}

TreeArrays grow_moment_trees(const Codes& codes, std::span<const int64_t> lanes, std::span<const int64_t> squares,
                             std::span<const double> targets, const MomentPowers& powers, MomentCriterion criterion,
                             const GrowOptions& options, const Bags* bags, Run& run) {
  const size_t n_outputs = powers.sum.size(), n_lanes = n_outputs + 1;
  const auto n_rows = static_cast<size_t>(codes.n_rows);
  require(lanes.size() == n_rows * n_lanes && squares.size() == n_rows && targets.size() == n_rows * n_outputs,
          "lanes, squares and targets must have one row each");
  const std::vector<uint32_t> present = present_rows(codes.n_rows, lanes, n_lanes, n_outputs);
  const Powered kind{powers, criterion == MomentCriterion::poisson};
  Spread spread = spread_of(powers, kind.poisson);
  spread.target = targets.data();
  return grow_trees(codes, bags, {present}, options, true, run, [&](TreeCall call) {
    std::vector<uint32_t> ids = drawn_rows(present, call.counts);
    std::vector<int64_t> own_lanes, own_squares;  // of a bag
    std::span<const int64_t> lanes_here = lanes;
    Spread spread_here = spread;
    spread_here.squares = squares.data();
    if (!call.counts.empty()) {
      lanes_here = own_lanes = times_counts(lanes, call.counts);
      own_squares = times_counts(squares, call.counts);
      spread_here.squares = own_squares.data();
    }
    int64_t total = 0;
    for (const uint32_t row : ids) total += lanes_here[row * n_lanes + n_outputs];
    take_share(call.options, bags, total);
    return grow_moments(call, std::move(ids), lanes_here.data(), std::move(spread_here), kind);
  });
}

}  // namespace weald
