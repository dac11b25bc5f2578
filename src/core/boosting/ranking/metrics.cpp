#include "core/boosting/ranking/metrics.h"

#include <algorithm>
#include <limits>

#include "core/base/mathematics.h"
#include "core/boosting/ranking/order.h"

namespace weald {

namespace {

using ranking::Ranked;

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

struct MetricWorkspace {
  std::vector<Ranked> ranked, ideal, scratch;
  std::vector<double> values;
  std::vector<int64_t> tree;
};

double gain_at(std::span<const double> gain, const std::vector<Ranked>& ranked, size_t rank) {
  return gain[static_cast<size_t>(ranked[rank].row)];
}

// R12
double ndcg(std::span<const double> gain, size_t k, const std::vector<double>& discount, MetricWorkspace& w) {
  ranking::rank_rows(gain, w.scratch, w.ideal);
  double dcg = 0, ideal = 0;
  for (size_t rank = 0; rank < std::min(k, gain.size()); ++rank) {
    dcg += gain_at(gain, w.ranked, rank) * discount[rank];
    ideal += gain_at(gain, w.ideal, rank) * discount[rank];
  }
  return ideal > 0 ? std::min(dcg / ideal, 1.0) : no_value;
}

// R13
double average_precision(std::span<const double> gain, size_t k, const MetricWorkspace& w) {
  double hits = 0, sum = 0;
  for (size_t rank = 0; rank < gain.size(); ++rank) {
    const double relevant = gain_at(gain, w.ranked, rank);
    hits += relevant;
    if (rank < k) sum += relevant * (hits / (static_cast<double>(rank) + 1.0));
  }
  return hits > 0 ? sum / std::min(hits, static_cast<double>(k)) : no_value;
}

// R14
double precision(std::span<const double> gain, size_t k, const MetricWorkspace& w) {
  const size_t n = std::min(k, gain.size());
  double hits = 0;
  for (size_t rank = 0; rank < n; ++rank) hits += gain_at(gain, w.ranked, rank);
  return n > 0 ? hits / static_cast<double>(n) : no_value;
}

// R15: rows in the order of their relevance, then, for each, how many before it score higher, and how many the same:
// counted by a tree of partial sums over the ranks of the scores, equal scores sharing one.
double auc(std::span<const double> gain, std::span<const double> predictions, MetricWorkspace& w) {
  const size_t n = gain.size();
  if (n < 3) return no_value;
  ranking::rank_rows(gain, w.scratch, w.ideal);
  w.values.resize(n);
  for (size_t at = 0; at < n; ++at) w.values[at] = predictions[static_cast<size_t>(w.ideal[at].row)];
  ranking::rank_rows(w.values, w.scratch, w.ranked);
  std::vector<Ranked>& level = w.ideal;  // its rows are not needed any more: `row` becomes the level of a score, from 1
  int32_t levels = 0;
  for (size_t rank = 0; rank < n; ++rank) {
    if (rank == 0 || w.ranked[rank].key != w.ranked[rank - 1].key) ++levels;
    level[static_cast<size_t>(w.ranked[rank].row)].row = levels;
  }
  w.tree.assign(static_cast<size_t>(levels) + 1, 0);
  const auto up_to = [&](int32_t top) {
    int64_t count = 0;
    for (int32_t i = top; i > 0; i -= i & -i) count += w.tree[static_cast<size_t>(i)];
    return count;
  };
  int64_t halves = 0;
  for (size_t at = 0; at < n; ++at) {
    const int32_t own = level[at].row;
    halves += up_to(own - 1) + up_to(own);  // higher ones count twice, equal ones once
    for (int32_t i = own; i <= levels; i += i & -i) ++w.tree[static_cast<size_t>(i)];
  }
  return static_cast<double>(halves) / (static_cast<double>(n) * (static_cast<double>(n) - 1.0));
}

std::vector<double> discounts(std::span<const int64_t> start, size_t k) {
  size_t largest = 0;
  for (size_t q = 0; q + 1 < start.size(); ++q) {
    largest = std::max(largest, static_cast<size_t>(start[q + 1] - start[q]));
  }
  std::vector<double> out(std::min(largest, k));
  for (size_t rank = 0; rank < out.size(); ++rank) out[rank] = 1.0 / log2(static_cast<double>(rank) + 2.0);  // R2
  return out;
}

}  // namespace

std::vector<double> ranking_metric(RankingMetric metric, std::span<const int64_t> start, std::span<const double> gain,
                                   std::span<const double> predictions, int64_t k, Run& run) {
  const std::vector<int64_t> blocks = ranking::query_blocks(start);
  require(static_cast<size_t>(start.back()) == gain.size() && gain.size() == predictions.size(),
          "the queries have all rows");
  require(k >= 1, "at least one rank counts");
  const auto top = static_cast<size_t>(k);
  const std::vector<double> discount = metric == RankingMetric::ndcg ? discounts(start, top) : std::vector<double>();
  std::vector<double> out(start.size() - 1);
  std::vector<MetricWorkspace> workspaces(static_cast<size_t>(run.n_threads()));
  const auto value = [&](std::span<const double> gains, std::span<const double> scores, MetricWorkspace& w) {
    if (metric == RankingMetric::auc) return auc(gains, scores, w);
    ranking::rank_rows(scores, w.scratch, w.ranked);
    if (metric == RankingMetric::ndcg) return ndcg(gains, top, discount, w);
    if (metric == RankingMetric::average_precision) return average_precision(gains, top, w);
    return precision(gains, top, w);
  };
  parallel_for(run, static_cast<int64_t>(blocks.size()) - 1, [&](int64_t block, int worker) {
    const auto b = static_cast<size_t>(block);
    for (auto q = static_cast<size_t>(blocks[b]); q < static_cast<size_t>(blocks[b + 1]); ++q) {
      const auto first = static_cast<size_t>(start[q]);
      const auto n = static_cast<size_t>(start[q + 1]) - first;
      out[q] = value(gain.subspan(first, n), predictions.subspan(first, n), workspaces[static_cast<size_t>(worker)]);
    }
  });
  return out;
}

}  // namespace weald
