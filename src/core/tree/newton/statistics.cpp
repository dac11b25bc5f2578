#include "core/tree/newton/statistics.h"

#include <utility>

#include "core/tree/grow/lane_statistic.h"
#include "core/tree/split/believed.h"

namespace weald {

namespace {

template <class Rows, class Criterion>
std::unique_ptr<Statistic> made(Rows&& rows, const Criterion& criterion) {
  Spread spread;
  spread.score_power = criterion.score_power;
  return std::make_unique<LaneStatistic<Rows, Criterion>>(std::move(rows), criterion, std::move(spread));
}

}  // namespace

std::unique_ptr<Statistic> newton_statistic(PairRows rows, const Newton& criterion) {
  return made(std::move(rows), criterion);
}
std::unique_ptr<Statistic> newton_statistic(NarrowRows rows, const Newton& criterion) {
  return made(std::move(rows), criterion);
}
std::unique_ptr<Statistic> newton_statistic(LaneRows rows, const NewtonMany& criterion) {
  return made(std::move(rows), criterion);
}

}  // namespace weald
