#include "core/resampling/areas.h"

#include <algorithm>
#include <limits>

namespace weald {

namespace {

// `times(row)`: how often the row counts.
template <class Times>
double roc_area(const RankedRows& rows, Times times) {
  double positives = 0, negatives = 0, above = 0;  // above: pairs with the negative first
  double step_positive = 0, step_negative = 0;
  for (size_t k = 0; k < rows.order.size(); ++k) {
    const double mass = rows.weight[k] * times(rows.order[k]);
    step_positive += rows.positive[k] != 0 ? mass : 0.0;
    step_negative += rows.positive[k] != 0 ? 0.0 : mass;
    if (rows.last[k] != 0) {
      above += step_positive * (negatives + 0.5 * step_negative);
      positives += step_positive;
      negatives += step_negative;
      step_positive = step_negative = 0;
    }
  }
  const double pairs = positives * negatives;
  return pairs > 0 ? (pairs - above) / pairs : no_number;
}

template <class Times>
double average_precision(const RankedRows& rows, Times times) {
  double positives = 0, said = 0, step_positive = 0, sum = 0;
  for (size_t k = 0; k < rows.order.size(); ++k) {
    const double mass = rows.weight[k] * times(rows.order[k]);
    step_positive += rows.positive[k] != 0 ? mass : 0.0;
    said += mass;
    if (rows.last[k] != 0) {
      positives += step_positive;
      if (step_positive > 0) sum += step_positive * (positives / said);
      step_positive = 0;
    }
  }
  return positives > 0 ? sum / positives : no_number;
}

template <class Times>
double area_of(const RankedRows& rows, Area area, Times times) {
  return area == Area::roc ? roc_area(rows, times) : average_precision(rows, times);
}

}  // namespace

std::vector<double> resample_areas(const ResamplePlan& plan, const RankedRows& rows, Area area, uint64_t seed,
                                   int64_t first, int64_t last, Run& run) {
  const auto n = static_cast<size_t>(plan.n);
  std::vector<double> out(static_cast<size_t>(last - first));
  std::vector<std::vector<int32_t>> drawn(static_cast<size_t>(run.n_threads()));
  std::vector<std::vector<uint32_t>> counts(drawn.size());
  parallel_for(run, last - first, [&](int64_t r, int worker) {
    run.check();
    auto& mine = drawn[static_cast<size_t>(worker)];
    auto& times = counts[static_cast<size_t>(worker)];
    mine.resize(n);
    times.assign(n, 0);
    draw_rows(plan, seed, static_cast<uint64_t>(first + r), mine);
    for (const int32_t i : mine) ++times[static_cast<size_t>(i)];
    out[static_cast<size_t>(r)] =
        area_of(rows, area, [&](int32_t i) { return static_cast<double>(times[static_cast<size_t>(i)]); });
  });
  return out;
}

std::vector<double> areas_without(const RankedRows& rows, Area area, std::span<const int32_t> group, int64_t n_groups,
                                  Run& run) {
  std::vector<double> out(static_cast<size_t>(n_groups));
  parallel_for(run, n_groups, [&](int64_t g, int) {
    run.check();
    out[static_cast<size_t>(g)] =
        area_of(rows, area, [&](int32_t i) { return group[static_cast<size_t>(i)] == g ? 0.0 : 1.0; });
  });
  return out;
}

}  // namespace weald
