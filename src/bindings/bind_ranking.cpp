// Ranking: queries and scores in; gradients, orders or one value of a metric per query out.

#include <nanobind/nanobind.h>

#include "bindings/arrays.h"
#include "bindings/call.h"
#include "bindings/parts.h"
#include "core/boosting/ranking/metrics.h"
#include "core/boosting/ranking/ranking.h"

namespace weald::bindings {

void bind_ranking(nb::module_& m) {
  nb::class_<RankingOptions>(m, "RankingOptions")
      .def(
          "__init__",
          [](RankingOptions* made, int measure, bool draw_pairs, int64_t n_pairs, bool normalise, bool normalise_scores,
             uint64_t seed, uint64_t round) {
            new (made) RankingOptions{
                static_cast<RankingMeasure>(measure), draw_pairs, n_pairs, normalise, normalise_scores, seed, round};
          },
          nb::arg("measure"), nb::arg("draw_pairs"), nb::arg("n_pairs"), nb::arg("normalise"),
          nb::arg("normalise_scores"), nb::arg("seed"), nb::arg("round"));
  m.def(
      "ranking_gradients",
      [](const RankingOptions& options, const Vector<int64_t>& start, const Vector<double>& gain,
         const Vector<double>& weight, const Vector<double>& inverse_ideal, const Vector<double>& discount,
         const Vector<int32_t>& order_by_gain, const Vector<double>& scores, const FilledVector<double>& relevant_bias,
         const FilledVector<double>& irrelevant_bias, double bias_exponent, const FilledVector<double>& g,
         const FilledVector<double>& h, int n_threads) {
        const RankingQueries queries{view(start),         view(gain),     view(weight),
                                     view(inverse_ideal), view(discount), view(order_by_gain)};
        const PositionBias bias{view(relevant_bias), view(irrelevant_bias), bias_exponent};
        call(n_threads,
             [&](Run& run) { ranking_gradients(queries, options, view(scores), bias, view(g), view(h), run); });
      },
      nb::arg("options"), nb::arg("start").noconvert(), nb::arg("gain").noconvert(), nb::arg("weight").noconvert(),
      nb::arg("inverse_ideal").noconvert(), nb::arg("discount").noconvert(), nb::arg("order_by_gain").noconvert(),
      nb::arg("scores").noconvert(), nb::arg("relevant_bias").noconvert(), nb::arg("irrelevant_bias").noconvert(),
      nb::arg("bias_exponent"), nb::arg("g").noconvert(), nb::arg("h").noconvert(), nb::arg("n_threads"));
  m.def(
      "order_queries",
      [](const Vector<int64_t>& start, const Vector<double>& values, int n_threads) {
        return to_numpy(call(n_threads, [&](Run& run) { return order_queries(view(start), view(values), run); }));
      },
      nb::arg("start").noconvert(), nb::arg("values").noconvert(), nb::arg("n_threads"));
  m.def(
      "ranking_metric",
      [](int metric, const Vector<int64_t>& start, const Vector<double>& gain, const Vector<double>& predictions,
         int64_t k, int n_threads) {
        return to_numpy(call(n_threads, [&](Run& run) {
          return ranking_metric(static_cast<RankingMetric>(metric), view(start), view(gain), view(predictions), k, run);
        }));
      },
      nb::arg("metric"), nb::arg("start").noconvert(), nb::arg("gain").noconvert(), nb::arg("predictions").noconvert(),
      nb::arg("k"), nb::arg("n_threads"));
}

}  // namespace weald::bindings
