// Gradients of learning to rank (LambdaMART); equations by number from docs/methods/ranking.md.
//
// Rows of a query stand together: query q has the rows [start[q], start[q + 1]). A query is worked on by one thread,
// from beginning to end, so no result depends on the number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/pool.h"

namespace weald {

// What a swap of two rows is worth: always 1, the change of NDCG, the change of average precision.
enum class RankingMeasure : uint8_t { pairwise = 0, ndcg = 1, map = 2 };

struct RankingOptions {
  RankingMeasure measure;
  bool draw_pairs;        // each row draws its partners (R4); else the top rows against all below them (R3)
  int64_t n_pairs;        // rows at the top, or partners per row
  bool normalise;         // R8
  bool normalise_scores;  // R6
  uint64_t seed;
  uint64_t round;
};

struct RankingQueries {
  std::span<const int64_t> start;          // (queries + 1)
  std::span<const double> gain;            // (rows) rises with the relevance; equal gains make no pair
  std::span<const double> weight;          // (queries) factors of R9; a query of 0 is absent
  std::span<const double> inverse_ideal;   // (queries) 1 / IDCG, 0 where that is 0; used by ndcg
  std::span<const double> discount;        // (rows of the largest query) R2; used by ndcg
  std::span<const int32_t> order_by_gain;  // (rows) positions within the query by falling gain; used by draw_pairs
};

// Unbiased ranking (R10, R11): how much seen a position of the user's list is; both empty: not asked for.
struct PositionBias {
  std::span<double> relevant;    // (positions) t+
  std::span<double> irrelevant;  // (positions) t−
  double exponent;               // 1 / (1 + lambdarank_bias_norm)
};

// Fills g and h, (rows), at these scores; then replaces the biases by those the costs at these scores give.
void ranking_gradients(const RankingQueries& queries, const RankingOptions& options, std::span<const double> scores,
                       PositionBias bias, std::span<double> g, std::span<double> h, Run& run);

// Positions within each query by falling value (R1): (rows).
std::vector<int32_t> order_queries(std::span<const int64_t> start, std::span<const double> values, Run& run);

}  // namespace weald
