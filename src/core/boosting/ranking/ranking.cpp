#include "core/boosting/ranking/ranking.h"

#include <algorithm>
#include <cmath>

#include "core/base/random.h"
#include "core/base/simd.h"
#include "core/boosting/ranking/math.h"
#include "core/boosting/ranking/order.h"

namespace weald {

namespace {

using ranking::Ranked;

constexpr double least_curvature = 1e-16;
constexpr double least_bias = 1e-16;
constexpr double least_distance = 0.01;

// The change of the measure when the rows at ranks i < j trade places: from(i) gives a function of j.
struct PairwiseChange {
  auto from(size_t) const {
    return [](size_t) { return 1.0; };
  }
};

// R5
struct NdcgChange {
  const double* gain;
  const double* discount;
  double inverse_ideal;
  auto from(size_t i) const {
    return [*this, own_gain = gain[i], own_discount = discount[i]](size_t j) {
      return std::abs((own_gain - gain[j]) * (own_discount - discount[j])) * inverse_ideal;
    };
  }
};

// R7
struct MapChange {
  const double* gain;
  const double* hits;       // relevant rows down to a rank
  const double* precision;  // their share
  const double* inverses;   // sum of 1 / rank of the relevant rows down to a rank
  double inverse_total;
  auto from(size_t i) const {
    const double place = static_cast<double>(i) + 1.0;
    return [*this, kept = hits[i] / place, gone = (hits[i] + 1.0) / place, own_gain = gain[i],
            above = inverses[i]](size_t j) {
      const double upper = own_gain < gain[j] ? gone : kept;
      return std::abs(upper - precision[j] + (inverses[j - 1] - above)) * inverse_total;
    };
  }
};

struct Lambda {
  double slope, curvature;
};

// R6: `lead` is the score of the more relevant row minus that of the other, within the range of exp; `distance` its
// size. The slope takes the sign of `change`.
template <bool normalise_scores>
[[gnu::always_inline]] inline Lambda lambda_of(double lead, double distance, double change) {
  if constexpr (normalise_scores) change /= distance + least_distance;
  const double rest = ranking::sigmoid_rest(lead);
  return {rest * change, std::max(rest * (1.0 - rest), least_curvature) * std::abs(change) * 2.0};
}

// One query in the order of its scores, with room for its results. One per thread, used again and again.
struct PairWorkspace {
  std::vector<Ranked> ranked, sort_scratch;
  std::vector<double> score, gain, hits, precision, inverses;  // by rank
  std::vector<double> g, h;                                    // by rank
  std::vector<double> pull, bend;                              // of the pairs of one row
  std::vector<int32_t> rank_of_row;
  double total;  // R8: the sum of 2 |λ|
  size_t n;
};

void place(std::span<const double> scores, std::span<const double> gain, PairWorkspace& w) {
  ranking::rank_rows(scores, w.sort_scratch, w.ranked);
  w.n = scores.size();
  for (auto* each : {&w.score, &w.gain, &w.pull, &w.bend}) each->resize(w.n);
  w.g.assign(w.n, 0.0);
  w.h.assign(w.n, 0.0);
  w.total = 0.0;
  w.rank_of_row.resize(w.n);
  for (size_t rank = 0; rank < w.n; ++rank) {
    const auto row = static_cast<size_t>(w.ranked[rank].row);
    w.score[rank] = scores[row];
    w.gain[rank] = gain[row];
    w.rank_of_row[row] = static_cast<int32_t>(rank);
  }
}

// Rank `top` against all ranks below. The first two loops have no branches and no sums across j, so that they can use
// vector units; pairs of equal gain pass through them with a worth of 0.
template <bool normalise_scores, class Change>
[[gnu::always_inline]] inline void pair_with_below(size_t top, const Change& change, PairWorkspace& w) {
  const auto change_by = change.from(top);
  const double score = w.score[top];
  const double gain = w.gain[top];
  const double* const scores = w.score.data();
  const double* const gains = w.gain.data();
  double* const g = w.g.data();
  double* const h = w.h.data();
  double* const pull = w.pull.data();
  double* const bend = w.bend.data();
  const size_t n = w.n;
  for (size_t j = top + 1; j < n; ++j) {
    const double sign = (gain > gains[j] ? 1.0 : 0.0) - (gain < gains[j] ? 1.0 : 0.0);
    pull[j] = sign * change_by(j);
    bend[j] = sign * (score - scores[j]);
  }
  for (size_t j = top + 1; j < n; ++j) {
    const Lambda pair = lambda_of<normalise_scores>(bend[j], score - scores[j], pull[j]);
    pull[j] = pair.slope;
    bend[j] = pair.curvature;
    g[j] += pair.slope;
    h[j] += pair.curvature;
  }
  double sum_g = 0, sum_h = 0, sum_size = 0;
  for (size_t j = top + 1; j < n; ++j) {
    sum_g += pull[j];
    sum_h += bend[j];
    sum_size += std::abs(pull[j]);
  }
  g[top] -= sum_g;
  h[top] += sum_h;
  w.total += 2.0 * sum_size;
}

template <bool normalise_scores, class Change>
void pair_with_below_baseline(size_t top, const Change& change, PairWorkspace& w) {
  pair_with_below<normalise_scores>(top, change, w);
}
template <bool normalise_scores, class Change>
WEALD_TARGET_AVX2 void pair_with_below_avx2(size_t top, const Change& change, PairWorkspace& w) {
  pair_with_below<normalise_scores>(top, change, w);
}

// The costs that the next biases come from, (rows of the query), and the biases of now.
struct Costs {
  std::span<const double> relevant, irrelevant;  // (positions) t+ and t−
  double* of_relevant;
  double* of_irrelevant;
};

// R10: the probability that both rows were looked at; 1 where it is not known.
double seen(const Costs& costs, size_t high_row, size_t low_row) {
  if (high_row >= costs.relevant.size() || low_row >= costs.relevant.size()) return 1.0;
  const double high = costs.relevant[high_row];
  const double low = costs.irrelevant[low_row];
  return high >= least_bias && low >= least_bias ? high * low : 1.0;
}

// R11
void add_cost(const Costs& costs, size_t high_row, size_t low_row, double cost) {
  if (high_row >= costs.relevant.size() || low_row >= costs.relevant.size()) return;
  const double high = costs.relevant[high_row];
  const double low = costs.irrelevant[low_row];
  if (low >= least_bias) costs.of_relevant[high_row] += cost / low;
  if (high >= least_bias) costs.of_irrelevant[low_row] += cost / high;
}

template <bool normalise_scores, class Change>
void add_pair(size_t a, size_t b, const Change& change, const Costs& costs, PairWorkspace& w) {
  if (w.gain[a] == w.gain[b]) return;
  const size_t high = w.gain[a] > w.gain[b] ? a : b;
  const size_t low = a + b - high;
  const double worth = change.from(std::min(a, b))(std::max(a, b));
  const double lead = w.score[high] - w.score[low];
  Lambda pair = lambda_of<normalise_scores>(lead, std::abs(lead), worth);
  if (!costs.relevant.empty()) {
    const auto high_row = static_cast<size_t>(w.ranked[high].row);
    const auto low_row = static_cast<size_t>(w.ranked[low].row);
    const double share = seen(costs, high_row, low_row);
    pair = {pair.slope / share, pair.curvature / share};
    const double near = normalise_scores ? std::abs(lead) + least_distance : 1.0;
    add_cost(costs, high_row, low_row, ranking::softplus(lead) * (worth / near));
  }
  w.g[high] -= pair.slope;
  w.g[low] += pair.slope;
  w.h[high] += pair.curvature;
  w.h[low] += pair.curvature;
  w.total += 2.0 * pair.slope;
}

// R4: every row, its partners drawn among the rows of other relevance. Draws are keyed by row, round and sample.
template <class Add>
void for_drawn_pairs(const RankingQueries& queries, const RankingOptions& options, size_t first, const PairWorkspace& w,
                     Add&& add) {
  const int32_t* const order = queries.order_by_gain.data() + first;
  const double* const gain = queries.gain.data() + first;
  for (size_t begin = 0, end = 0; begin < w.n; begin = end) {
    const double alike = gain[static_cast<size_t>(order[begin])];
    for (end = begin; end < w.n && gain[static_cast<size_t>(order[end])] == alike;) ++end;
    const size_t others = w.n - (end - begin);
    if (others == 0) continue;
    for (size_t at = begin; at < end; ++at) {
      const auto row = static_cast<size_t>(order[at]);
      for (int64_t sample = 0; sample < options.n_pairs; ++sample) {
        const uint64_t bits = draw(options.seed, Purpose::ranking_pair, first + row,
                                   (options.round << 32) ^ static_cast<uint64_t>(sample));
        auto partner = static_cast<size_t>(static_cast<double>(bits >> 11) * 0x1p-53 * static_cast<double>(others));
        if (partner >= begin) partner += end - begin;
        add(static_cast<size_t>(w.rank_of_row[row]),
            static_cast<size_t>(w.rank_of_row[static_cast<size_t>(order[partner])]));
      }
    }
  }
}

template <bool normalise_scores, class Change>
void add_pairs(const RankingQueries& queries, const RankingOptions& options, size_t first, const Change& change,
               const Costs& costs, PairWorkspace& w, Run& run) {
  const auto add = [&](size_t a, size_t b) { add_pair<normalise_scores>(a, b, change, costs, w); };
  if (options.draw_pairs) return for_drawn_pairs(queries, options, first, w, add);
  const size_t n_top = std::min(w.n, static_cast<size_t>(options.n_pairs));  // R3
  const bool avx2 = simd_level() == Simd::avx2;
  for (size_t top = 0; top < n_top; ++top) {
    if ((w.n - top) > 10'000) run.check();
    if (!costs.relevant.empty()) {
      for (size_t j = top + 1; j < w.n; ++j) add(top, j);
    } else {
      (avx2 ? pair_with_below_avx2<normalise_scores, Change>
            : pair_with_below_baseline<normalise_scores, Change>)(top, change, w);
    }
  }
}

MapChange count_hits(PairWorkspace& w) {
  for (auto* each : {&w.hits, &w.precision, &w.inverses}) each->resize(w.n);
  double hits = 0, inverses = 0;
  for (size_t rank = 0; rank < w.n; ++rank) {
    const double place = static_cast<double>(rank) + 1.0;
    w.hits[rank] = hits += w.gain[rank];
    w.precision[rank] = hits / place;
    w.inverses[rank] = inverses += w.gain[rank] / place;
  }
  return {w.gain.data(), w.hits.data(), w.precision.data(), w.inverses.data(), hits > 0 ? 1.0 / hits : 0.0};
}

template <class Use>
void with_change(const RankingQueries& queries, const RankingOptions& options, size_t query, PairWorkspace& w,
                 Use&& use) {
  switch (options.measure) {
    case RankingMeasure::pairwise:
      return use(PairwiseChange{});
    case RankingMeasure::ndcg:
      return use(NdcgChange{w.gain.data(), queries.discount.data(), queries.inverse_ideal[query]});
    case RankingMeasure::map:
      return use(count_hits(w));
  }
  throw BrokenInvariant("no such measure of ranking");
}

// R8 and R9, back in the order of the rows.
void finish(const RankingOptions& options, double weight, const PairWorkspace& w, double* g, double* h) {
  double factor = 1.0;
  if (options.normalise && options.draw_pairs) factor = 1.0 / static_cast<double>(options.n_pairs);
  if (options.normalise && !options.draw_pairs && w.total > 0) factor = log2(1.0 + w.total) / w.total;
  for (size_t rank = 0; rank < w.n; ++rank) {
    const auto row = static_cast<size_t>(w.ranked[rank].row);
    g[row] = w.g[rank] * factor * weight;
    h[row] = w.h[rank] * factor * weight;
  }
}

// R11, over the queries in their order. Queries of weight 0 left no costs.
void update_bias(std::span<const int64_t> start, const std::vector<double>& of_relevant,
                 const std::vector<double>& of_irrelevant, PositionBias bias) {
  const auto update = [&](const std::vector<double>& costs, std::span<double> out) {
    std::vector<double> sums(out.size(), 0.0);
    for (size_t q = 0; q + 1 < start.size(); ++q) {
      const auto n = std::min(static_cast<size_t>(start[q + 1] - start[q]), out.size());
      for (size_t i = 0; i < n; ++i) sums[i] += costs[static_cast<size_t>(start[q]) + i];
    }
    if (sums.empty() || sums[0] < least_bias) return;
    for (size_t i = 0; i < out.size(); ++i) out[i] = ranking::power(sums[i] / sums[0], bias.exponent);
  };
  update(of_relevant, bias.relevant);
  update(of_irrelevant, bias.irrelevant);
}

void check_shapes(const RankingQueries& queries, const RankingOptions& options, size_t n_rows, PositionBias bias) {
  const size_t n_queries = queries.start.size() - 1;
  require(static_cast<size_t>(queries.start.back()) == n_rows, "the queries have all rows");
  require(queries.gain.size() == n_rows && queries.weight.size() == n_queries, "a gain per row, a weight per query");
  require(!options.draw_pairs || queries.order_by_gain.size() == n_rows, "an order to draw from");
  require(options.n_pairs >= 1, "at least one pair");
  require(bias.relevant.size() == bias.irrelevant.size(), "two biases per position");
  if (options.measure != RankingMeasure::ndcg) return;
  require(queries.inverse_ideal.size() == n_queries, "one ideal per query");
  int64_t largest = 0;
  for (size_t q = 0; q < n_queries; ++q) largest = std::max(largest, queries.start[q + 1] - queries.start[q]);
  require(queries.discount.size() >= static_cast<size_t>(largest), "a discount a rank");
}

}  // namespace

void ranking_gradients(const RankingQueries& queries, const RankingOptions& options, std::span<const double> scores,
                       PositionBias bias, std::span<double> g, std::span<double> h, Run& run) {
  const std::vector<int64_t> blocks = ranking::query_blocks(queries.start);
  check_shapes(queries, options, scores.size(), bias);
  require(g.size() == scores.size() && h.size() == scores.size(), "g and h have a value per row");
  const size_t n_costs = bias.relevant.empty() ? 0 : scores.size();
  std::vector<double> of_relevant(n_costs, 0.0), of_irrelevant(n_costs, 0.0);
  std::vector<PairWorkspace> workspaces(static_cast<size_t>(run.n_threads()));
  parallel_for(run, static_cast<int64_t>(blocks.size()) - 1, [&](int64_t block, int worker) {
    PairWorkspace& w = workspaces[static_cast<size_t>(worker)];
    const auto b = static_cast<size_t>(block);
    for (auto q = static_cast<size_t>(blocks[b]); q < static_cast<size_t>(blocks[b + 1]); ++q) {
      const auto first = static_cast<size_t>(queries.start[q]);
      const auto n = static_cast<size_t>(queries.start[q + 1]) - first;
      place(scores.subspan(first, n), queries.gain.subspan(first, n), w);
      if (n > 1 && queries.weight[q] > 0) {
        const Costs costs{bias.relevant, bias.irrelevant, of_relevant.data() + (n_costs > 0 ? first : 0),
                          of_irrelevant.data() + (n_costs > 0 ? first : 0)};
        with_change(queries, options, q, w, [&](const auto& change) {
          const bool near = options.normalise_scores && w.score.front() != w.score.back();
          near ? add_pairs<true>(queries, options, first, change, costs, w, run)
               : add_pairs<false>(queries, options, first, change, costs, w, run);
        });
      }
      finish(options, queries.weight[q], w, g.data() + first, h.data() + first);
    }
  });
  if (n_costs > 0) update_bias(queries.start, of_relevant, of_irrelevant, bias);
}

std::vector<int32_t> order_queries(std::span<const int64_t> start, std::span<const double> values, Run& run) {
  const std::vector<int64_t> blocks = ranking::query_blocks(start);
  require(static_cast<size_t>(start.back()) == values.size(), "the queries have all rows");
  std::vector<int32_t> out(values.size());
  parallel_for(run, static_cast<int64_t>(blocks.size()) - 1, [&](int64_t block, int) {
    std::vector<Ranked> ranked, scratch;
    const auto b = static_cast<size_t>(block);
    for (auto q = static_cast<size_t>(blocks[b]); q < static_cast<size_t>(blocks[b + 1]); ++q) {
      const auto first = static_cast<size_t>(start[q]);
      ranking::rank_rows(values.subspan(first, static_cast<size_t>(start[q + 1]) - first), scratch, ranked);
      for (size_t rank = 0; rank < ranked.size(); ++rank) out[first + rank] = ranked[rank].row;
    }
  });
  return out;
}

}  // namespace weald
