// The statistics of boosting: one per kind of rows, compiled once.
#pragma once

#include <memory>

#include "core/tree/grow/statistic.h"
#include "core/tree/split/newton_gain.h"
#include "core/tree/statistics/statistics.h"

namespace weald {

std::unique_ptr<Statistic> newton_statistic(PairRows rows, const Newton& criterion);
std::unique_ptr<Statistic> newton_statistic(NarrowRows rows, const Newton& criterion);
std::unique_ptr<Statistic> newton_statistic(LaneRows rows, const NewtonMany& criterion);

}  // namespace weald
