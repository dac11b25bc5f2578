#include "core/data/medians.h"

#include <algorithm>
#include <atomic>
#include <cmath>

namespace weald {

namespace {

constexpr int64_t columns_together = 8;                     // one line of the cache
constexpr size_t least_bracketed = 4096, looked_at = 1024;  // values; of which a bracket is found by so many

// The value of a rank and the one before it, of values in any order, which they are not in afterwards.
double middle(std::vector<double>& values, size_t rank, bool even) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(values.begin(), at, values.end());
  const double high = *at;
  if (!even) return high + 0.0;  // 0 for −0
  const double low = *std::max_element(values.begin(), at);
  return (low == high ? low : 0.5 * low + 0.5 * high) + 0.0;  // a sum first may leave float64
}

// Most values are set aside by comparing with two of a small sample, between which the median nearly always lies.
double median_of(std::vector<double>& values, std::vector<double>& between) {
  const size_t n = values.size(), half = n / 2;
  if (n == 0) return 0;
  const bool even = n % 2 == 0;
  if (n < least_bracketed) return middle(values, half, even);
  between.clear();
  for (size_t k = 0; k < looked_at; ++k) between.push_back(values[k * (n / looked_at)]);
  std::sort(between.begin(), between.end());
  const double low = between[looked_at * 45 / 100], high = between[looked_at * 55 / 100];
  size_t below = 0, kept = 0;
  between.resize(n);
  for (const double each : values) {  // without a branch that nobody could predict
    below += each < low ? 1 : 0;
    between[kept] = each;
    kept += each >= low && each <= high ? 1 : 0;
  }
  if (below >= half || half >= below + kept) return middle(values, half, even);
  between.resize(kept);
  return middle(between, half - below, even);
}

}  // namespace

Medians column_medians(std::span<const double> table, int64_t n_rows, int64_t n_columns, Run& run) {
  Medians found;
  found.value.assign(static_cast<size_t>(n_columns), 0.0);
  std::atomic<bool> finite{true};
  parallel_for(run, (n_columns + columns_together - 1) / columns_together, [&](int64_t b, int) {
    const int64_t first = b * columns_together, n = std::min(columns_together, n_columns - first);
    std::vector<std::vector<double>> known(static_cast<size_t>(n));
    for (auto& each : known) each.resize(static_cast<size_t>(n_rows));
    size_t count[columns_together] = {};
    bool all_finite = true;
    for (int64_t i = 0; i < n_rows; ++i) {
      const double* row = table.data() + i * n_columns + first;
      for (int64_t j = 0; j < n; ++j) {
        const auto column = static_cast<size_t>(j);
        known[column][count[column]] = row[j];
        count[column] += row[j] == row[j] ? 1 : 0;
        all_finite = all_finite && !(std::abs(row[j]) > 1.7976931348623157e308);
      }
    }
    if (!all_finite) finite.store(false);
    std::vector<double> between;
    for (int64_t j = 0; j < n; ++j) {
      run.check();
      auto& values = known[static_cast<size_t>(j)];
      values.resize(count[j]);
      found.value[static_cast<size_t>(first + j)] = median_of(values, between);
    }
  });
  found.finite = finite.load();
  return found;
}

}  // namespace weald
