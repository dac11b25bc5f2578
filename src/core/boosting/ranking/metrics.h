// How good an order of rows is, query by query; equations by number from docs/methods/ranking.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/pool.h"

namespace weald {

enum class RankingMetric : uint8_t { ndcg = 0, average_precision = 1, precision = 2, auc = 3 };

// One value per query; NaN where the query has none: no relevant row (ndcg, average_precision), fewer than three rows
// (auc), no row (precision). `gain` (rows): gains for ndcg, 0 or 1 for the precisions, relevances for auc. The first
// `k` ranks count (k ≥ 1); auc has no k.
std::vector<double> ranking_metric(RankingMetric metric, std::span<const int64_t> start, std::span<const double> gain,
                                   std::span<const double> predictions, int64_t k, Run& run);

}  // namespace weald
