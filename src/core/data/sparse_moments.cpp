#include "core/data/sparse_moments.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/check.h"

namespace weald {

namespace {

// Calls body(column, value, weight) for the entries of rows that count.
template <class Body>
void for_entries(const CsrEntries& entries, Body body) {
  for (size_t i = 0; i + 1 < entries.start.size(); ++i) {
    const double weight = entries.weight.empty() ? 1.0 : entries.weight[i];
    if (weight == 0) continue;
    for (auto k = static_cast<size_t>(entries.start[i]); k < static_cast<size_t>(entries.start[i + 1]); ++k) {
      body(static_cast<size_t>(entries.index[k]), entries.value[k], weight);
    }
  }
}

void check(const CsrEntries& entries) {
  const auto n = static_cast<int64_t>(entries.index.size());
  require(!entries.start.empty() && entries.start.front() == 0 && entries.start.back() == n &&
              entries.value.size() == entries.index.size(),
          "a sparse matrix has an end for each row");
  require(entries.weight.empty() || entries.weight.size() + 1 == entries.start.size(), "one weight per row");
  require(std::is_sorted(entries.start.begin(), entries.start.end()), "rows of a sparse matrix follow one another");
  for (const int32_t each : entries.index) require(each >= 0 && each < entries.n_columns, "column out of range");
}

// A power of two so that size / power is from 1 to 2: squares neither overflow nor vanish.
double power_of(double size) {
  if (!(size > 0)) return 1.0;
  int exponent = 0;
  std::frexp(size, &exponent);
  return std::ldexp(1.0, exponent - 1);
}

}  // namespace

SparseCounts count_entries(const CsrEntries& entries) {
  check(entries);
  SparseCounts counts;
  counts.known.assign(static_cast<size_t>(entries.n_columns), 0.0);
  counts.missing = counts.known;
  for_entries(entries, [&](size_t j, double value, double weight) {
    (std::isnan(value) ? counts.missing : counts.known)[j] += weight;
  });
  return counts;
}

SparseMoments moments(const CsrEntries& entries, std::span<const double> fill, double total, bool spread) {
  check(entries);
  const auto n = static_cast<size_t>(entries.n_columns);
  require(fill.size() == n, "one fill per column");
  const size_t n_rows = entries.weight.empty()
                            ? entries.start.size() - 1
                            : static_cast<size_t>(std::count_if(entries.weight.begin(), entries.weight.end(),
                                                                [](double weight) { return weight != 0; }));
  const auto known = [&](size_t j, double value) { return std::isnan(value) ? fill[j] : value; };
  constexpr double infinite = std::numeric_limits<double>::infinity();
  struct Column {  // side by side: columns come in no order
    double low = infinite, high = -infinite, power = 1, weight = 0, mean = 0, squares = 0;
    size_t count = 0;
  };
  std::vector<Column> columns(n);
  for_entries(entries, [&](size_t j, double value, double weight) {
    Column& column = columns[j];
    const double x = known(j, value);
    column.low = std::min(column.low, x);
    column.high = std::max(column.high, x);
    column.weight += weight;
    ++column.count;
  });
  for (Column& column : columns) {
    if (column.count < n_rows || n_rows == 0) {
      column.low = std::min(column.low, 0.0);
      column.high = std::max(column.high, 0.0);
    }
    column.power = power_of(std::max(-column.low, column.high));
  }
  if (spread)
    for_entries(entries, [&](size_t j, double value, double weight) {
      columns[j].mean += weight * (known(j, value) / columns[j].power);
    });
  for (Column& column : columns) column.mean /= total;
  if (spread)
    for_entries(entries, [&](size_t j, double value, double weight) {
      const double off = known(j, value) / columns[j].power - columns[j].mean;
      columns[j].squares += weight * (off * off);
    });
  SparseMoments found;
  for (const Column& column : columns) {
    const bool constant = spread && column.low == column.high;  // a rounded mean would leave a deviation
    const double squares = column.squares + std::max(0.0, total - column.weight) * column.mean * column.mean;
    found.low.push_back(column.low);
    found.high.push_back(column.high);
    found.mean.push_back(constant ? column.low : column.mean * column.power);
    found.deviation.push_back(constant ? 0.0 : std::sqrt(squares / total) * column.power);
  }
  return found;
}

}  // namespace weald
