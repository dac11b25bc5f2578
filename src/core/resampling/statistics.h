// Statistics of bootstrap resamples: equations R2 and R3 of docs/methods/uncertainty.md.
//
// Each resample is the work of one thread, which adds up in the order of positions, so the results are the same for any
// number of threads. A thread keeps one resample at a time: 4 bytes per row for its rows and 2 for its counts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/resampling/plan.h"

namespace weald {

enum class SampleStatistic : int {
  mean = 0,
  variance = 1,
  correlation = 2,
  quantiles = 3,
  trimmed_mean = 4,
  deviation = 5
};

struct StatisticOf {
  SampleStatistic kind = SampleStatistic::mean;
  std::span<const double> x;       // (n) of moments with mean about 0; of quantiles and trimmed means ascending
  std::span<const double> y;       // (n) of a correlation, mean about 0; else empty
  std::span<const int32_t> order;  // (n) of quantiles and trimmed means: the row of each value of x; else empty
  std::span<const double> q;       // quantiles from 0 to 1; ascending ones are found in one walk
  int64_t cut = 0;                 // values that a trimmed mean leaves out at either end
  double ddof = 0;                 // what a variance, or that under a deviation, divides by: n − ddof

  size_t width() const { return kind == SampleStatistic::quantiles ? q.size() : 1; }
};

// How the standard error of the statistic in each resample is found.
enum class ErrorOf : int { none = 0, mean = 1, resamples = 2 };

struct Resampled {
  std::vector<double> values;  // (last − first, width)
  std::vector<double> errors;  // the same, or empty
};

// Resamples `first` to `last` of the statistic. Errors by s / √n (of a mean), or by `n_inner` resamples of each
// resample. A correlation of values all equal is NaN.
Resampled resample_statistic(const ResamplePlan& plan, const StatisticOf& statistic, uint64_t seed, int64_t first,
                             int64_t last, ErrorOf error, int64_t n_inner, Run& run);

// The rows of resamples: (last − first, n).
std::vector<int32_t> resample_rows(const ResamplePlan& plan, uint64_t seed, int64_t first, int64_t last, Run& run);

// How many rows of each resample are in each of some slots: slot (n), out (last − first, n_slots).
std::vector<int32_t> resample_counts(const ResamplePlan& plan, std::span<const int32_t> slot, int64_t n_slots,
                                     uint64_t seed, int64_t first, int64_t last, Run& run);

// Sums over the rows of each resample: columns (n, n_columns), out (last − first, n_columns).
std::vector<double> resample_sums(const ResamplePlan& plan, std::span<const double> columns, int64_t n_columns,
                                  uint64_t seed, int64_t first, int64_t last, Run& run);

}  // namespace weald
