// The distance that decides: float64, columns in ascending order, no fused operations, so that every path through this
// folder, and the plain loop of the tests, gives the same bits. `sum` is what is compared (Σ |d|^p and so on);
// `distance` the root of it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/neighbors/rows.h"

namespace weald::neighbors {

// The ways to add up a difference: its square, its size, its whole or any other power, the largest, a product.
enum class Term : int { square, absolute, whole, power, largest, product };

class Distance {
 public:
  Distance(const Metric& metric, const Rows& queries, const Rows& fitted, const Categories& categories);

  Term term() const { return term_; }
  const Metric& metric() const { return metric_; }
  // Of query q with fitted row i.
  double sum(int64_t q, int64_t i) const;
  // Of n pairs of a query and a row.
  void sums(const int64_t* q, const int64_t* i, size_t n, double* out) const;
  // Asks memory for a dense fitted row.
  void ask_for(int64_t i) const {
    const char* row = reinterpret_cast<const char*>(fitted_.points.dense + i * fitted_.points.n_columns);
    const auto bytes = std::min<int64_t>(fitted_.points.n_columns * 8, 512);
    for (int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(row + at);
  }
  // `sum` with that over the points given.
  double with_categories(double sum, int64_t q, int64_t i) const;
  bool has_categories() const { return categories_.n() > 0; }

 private:
  Metric metric_;
  Term term_;
  const Rows& queries_;
  const Rows& fitted_;
  const Categories& categories_;
};

Term term_of(const Metric& metric);
// |d|^p for a whole p by multiplication.
[[gnu::always_inline]] inline double whole_power(double d, int p) {
  double power = d, result = 1.0;
  for (int rest = p; rest > 0; rest >>= 1) {
    if ((rest & 1) != 0) result *= power;
    power *= power;
  }
  return result;
}
// |d|^p for any p, by exp and log of our own; 0 for 0.
double any_power(double d, double p);
double distance_of(const Metric& metric, double sum);

}  // namespace weald::neighbors
