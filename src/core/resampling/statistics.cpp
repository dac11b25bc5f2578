#include "core/resampling/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weald {

namespace {

// Draws that a block of work has at least, so that handing it out costs little.
constexpr int64_t draws_per_block = 1 << 15;

// What one thread needs for one resample. Counts are Poisson-like; 2^16 of one row would take a wonder.
struct Scratch {
  std::vector<int32_t> rows, inner, through;
  std::vector<uint16_t> counts;
  std::vector<double> inner_values;
};

// Sums of one term per drawn row, in four lanes that are added up at the end: a fixed order.
template <class Term>
double sum_of(std::span<const int32_t> rows, Term term) {
  double a = 0, b = 0, c = 0, d = 0;
  const size_t n = rows.size(), whole = n - n % 4;
  for (size_t j = 0; j < whole; j += 4) {
    a += term(rows[j]);
    b += term(rows[j + 1]);
    c += term(rows[j + 2]);
    d += term(rows[j + 3]);
  }
  for (size_t j = whole; j < n; ++j) a += term(rows[j]);
  return (a + b) + (c + d);
}

double mean_of(std::span<const double> x, std::span<const int32_t> rows) {
  return sum_of(rows, [&](int32_t i) { return x[static_cast<size_t>(i)]; }) / static_cast<double>(rows.size());
}

// The sum of squares about `mean`.
double squares_of(std::span<const double> x, std::span<const int32_t> rows, double mean) {
  return sum_of(rows, [&](int32_t i) {
    const double away = x[static_cast<size_t>(i)] - mean;
    return away * away;
  });
}

double correlation_of(const StatisticOf& of, std::span<const int32_t> rows) {
  const double mean_x = mean_of(of.x, rows), mean_y = mean_of(of.y, rows);
  const double xx = squares_of(of.x, rows, mean_x), yy = squares_of(of.y, rows, mean_y);
  const double xy = sum_of(rows, [&](int32_t i) {
    return (of.x[static_cast<size_t>(i)] - mean_x) * (of.y[static_cast<size_t>(i)] - mean_y);
  });
  if (!(xx > 0 && yy > 0)) return no_number;
  return std::clamp(xy / (std::sqrt(xx) * std::sqrt(yy)), -1.0, 1.0);
}

void count(std::span<const int32_t> rows, std::vector<uint16_t>& counts) {
  counts.assign(rows.size(), 0);
  for (const int32_t i : rows) ++counts[static_cast<size_t>(i)];
}

// Between the values of ranks ⌊h⌋ and ⌊h⌋ + 1, h = (n − 1) q.
void quantiles_of(const StatisticOf& of, const std::vector<uint16_t>& counts, double* out) {
  const auto n = static_cast<int64_t>(of.x.size());
  size_t k = 0;  // values of ranks below `passed` are those before k
  int64_t passed = 0;
  const auto value_at = [&](int64_t rank) {
    while (passed + counts[static_cast<size_t>(of.order[k])] <= rank) {
      passed += counts[static_cast<size_t>(of.order[k])];
      ++k;
    }
    return of.x[k];
  };
  for (size_t m = 0; m < of.q.size(); ++m) {
    const double place = static_cast<double>(n - 1) * of.q[m];
    const auto rank = std::min(static_cast<int64_t>(place), n - 1);
    const double share = place - static_cast<double>(rank), low = value_at(rank);
    const double high = rank + 1 < n && share > 0 ? value_at(rank + 1) : low;
    out[m] = low + share * (high - low);
    // The walk goes forward only: back to the start for a smaller quantile, or one at this rank again.
    if (m + 1 < of.q.size() && passed > static_cast<int64_t>(static_cast<double>(n - 1) * of.q[m + 1])) {
      k = 0;
      passed = 0;
    }
  }
}

double trimmed_of(const StatisticOf& of, const std::vector<uint16_t>& counts) {
  const auto n = static_cast<int64_t>(of.x.size());
  const int64_t first = of.cut, last = n - of.cut;  // ranks that are kept
  double sum = 0;
  int64_t passed = 0;
  for (size_t k = 0; passed < last; ++k) {
    const int64_t here = counts[static_cast<size_t>(of.order[k])];
    const int64_t kept = std::min(passed + here, last) - std::max(passed, first);
    if (kept > 0) sum += static_cast<double>(kept) * of.x[k];
    passed += here;
  }
  return sum / static_cast<double>(last - first);
}

void evaluate(const StatisticOf& of, std::span<const int32_t> rows, Scratch& scratch, double* out) {
  switch (of.kind) {
    case SampleStatistic::mean:
      out[0] = mean_of(of.x, rows);
      return;
    case SampleStatistic::variance:
    case SampleStatistic::deviation:
      out[0] = squares_of(of.x, rows, mean_of(of.x, rows)) / (static_cast<double>(rows.size()) - of.ddof);
      if (of.kind == SampleStatistic::deviation) out[0] = std::sqrt(out[0]);
      return;
    case SampleStatistic::correlation:
      out[0] = correlation_of(of, rows);
      return;
    case SampleStatistic::quantiles:
      count(rows, scratch.counts);
      quantiles_of(of, scratch.counts, out);
      return;
    case SampleStatistic::trimmed_mean:
      count(rows, scratch.counts);
      out[0] = trimmed_of(of, scratch.counts);
      return;
  }
}

double error_of_mean(const StatisticOf& of, std::span<const int32_t> rows, double mean) {
  const auto n = static_cast<double>(rows.size());
  return std::sqrt(squares_of(of.x, rows, mean) / (n - 1) / n);
}

// Standard deviations over resamples of the resample in scratch.rows.
void inner_errors(const ResamplePlan& plan, const StatisticOf& of, uint64_t seed, int64_t n_inner, Scratch& scratch,
                  double* out) {
  const size_t width = of.width(), n_values = static_cast<size_t>(n_inner);
  scratch.inner.resize(scratch.rows.size());
  scratch.through.resize(scratch.rows.size());
  scratch.inner_values.resize(n_values * width);
  for (size_t r = 0; r < n_values; ++r) {
    draw_rows(plan, seed, r, scratch.inner);
    for (size_t j = 0; j < scratch.inner.size(); ++j) {
      scratch.through[j] = scratch.rows[static_cast<size_t>(scratch.inner[j])];
    }
    evaluate(of, scratch.through, scratch, scratch.inner_values.data() + r * width);
  }
  for (size_t m = 0; m < width; ++m) {
    double sum = 0, squares = 0;
    for (size_t r = 0; r < n_values; ++r) sum += scratch.inner_values[r * width + m];
    const double mean = sum / static_cast<double>(n_values);
    for (size_t r = 0; r < n_values; ++r) {
      const double away = scratch.inner_values[r * width + m] - mean;
      squares += away * away;
    }
    out[m] = std::sqrt(squares / static_cast<double>(n_values - 1));
  }
}

// Calls work(resample, scratch of the thread) for each from `first` to `last`; scratch.rows holds its rows.
template <class Work>
void for_resamples(const ResamplePlan& plan, uint64_t seed, int64_t first, int64_t last, int64_t weight, Run& run,
                   Work&& work) {
  const int64_t together = std::max<int64_t>(1, draws_per_block / std::max<int64_t>(1, plan.n * weight));
  const int64_t n_blocks = (last - first + together - 1) / together;
  std::vector<Scratch> scratch(static_cast<size_t>(run.n_threads()));
  parallel_for(run, n_blocks, [&](int64_t block, int worker) {
    Scratch& mine = scratch[static_cast<size_t>(worker)];
    mine.rows.resize(static_cast<size_t>(plan.n));
    const int64_t end = std::min(last, first + (block + 1) * together);
    for (int64_t r = first + block * together; r < end; ++r) {
      run.check();
      draw_rows(plan, seed, static_cast<uint64_t>(r), mine.rows);
      work(r, mine);
    }
  });
}

}  // namespace

Resampled resample_statistic(const ResamplePlan& plan, const StatisticOf& statistic, uint64_t seed, int64_t first,
                             int64_t last, ErrorOf error, int64_t n_inner, Run& run) {
  const size_t width = statistic.width(), size = static_cast<size_t>(last - first) * width;
  Resampled out{std::vector<double>(size), std::vector<double>(error == ErrorOf::none ? 0 : size)};
  const int64_t weight = error == ErrorOf::resamples ? n_inner + 1 : 1;
  for_resamples(plan, seed, first, last, weight, run, [&](int64_t r, Scratch& scratch) {
    const size_t at = static_cast<size_t>(r - first) * width;
    evaluate(statistic, scratch.rows, scratch, out.values.data() + at);
    if (error == ErrorOf::mean) out.errors[at] = error_of_mean(statistic, scratch.rows, out.values[at]);
    if (error == ErrorOf::resamples) {
      const uint64_t inner = inner_seed(seed, static_cast<uint64_t>(r));
      inner_errors(plan, statistic, inner, n_inner, scratch, out.errors.data() + at);
    }
  });
  return out;
}

std::vector<int32_t> resample_rows(const ResamplePlan& plan, uint64_t seed, int64_t first, int64_t last, Run& run) {
  const auto n = static_cast<size_t>(plan.n);
  std::vector<int32_t> out(static_cast<size_t>(last - first) * n);
  for_resamples(plan, seed, first, last, 1, run, [&](int64_t r, Scratch& scratch) {
    std::copy(scratch.rows.begin(), scratch.rows.end(), out.data() + static_cast<size_t>(r - first) * n);
  });
  return out;
}

std::vector<int32_t> resample_counts(const ResamplePlan& plan, std::span<const int32_t> slot, int64_t n_slots,
                                     uint64_t seed, int64_t first, int64_t last, Run& run) {
  std::vector<int32_t> out(static_cast<size_t>((last - first) * n_slots), 0);
  for_resamples(plan, seed, first, last, 1, run, [&](int64_t r, Scratch& scratch) {
    int32_t* counts = out.data() + (r - first) * n_slots;
    for (const int32_t i : scratch.rows) ++counts[slot[static_cast<size_t>(i)]];
  });
  return out;
}

std::vector<double> resample_sums(const ResamplePlan& plan, std::span<const double> columns, int64_t n_columns,
                                  uint64_t seed, int64_t first, int64_t last, Run& run) {
  const auto width = static_cast<size_t>(n_columns);
  std::vector<double> out(static_cast<size_t>(last - first) * width, 0.0);
  for_resamples(plan, seed, first, last, n_columns, run, [&](int64_t r, Scratch& scratch) {
    double* sums = out.data() + static_cast<size_t>(r - first) * width;
    for (size_t m = 0; m < width; ++m) {
      sums[m] = sum_of(scratch.rows, [&](int32_t i) { return columns[static_cast<size_t>(i) * width + m]; });
    }
  });
  return out;
}

}  // namespace weald
