#include "core/neighbors/sparse_filter.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"

namespace weald::neighbors {

namespace {

// Rows that are looked at together.
constexpr int64_t together = 16;

int64_t n_blocks(int64_t n) {
  return (n + together - 1) / together;
}

}  // namespace

SparseFilter::SparseFilter(const Metric& metric, const Rows& fitted, const Categories& categories)
    : metric_(metric),
      term_(term_of(metric)),
      fitted_(fitted),
      start_(static_cast<size_t>(fitted.points.n_columns) + 1),
      row_(fitted.points.data.size()),
      value_(fitted.points.data.size()),
      norm_(static_cast<size_t>(fitted.n())),
      order_(n_blocks(fitted.n())) {
  require(fitted.n() < (int64_t{1} << 31), "compressed rows are counted in 31 bits");
  for (const double cost : categories.cost) most_alike_ += cost / 2;
  for (const int32_t column : fitted.points.index) ++start_[static_cast<size_t>(column) + 1];
  for (size_t k = 1; k < start_.size(); ++k) start_[k] += start_[k - 1];
  std::vector<int64_t> next(start_.begin(), start_.end() - 1);
  for (int64_t i = 0; i < fitted.n(); ++i) {
    double norm = 0.0;
    for (int64_t e = fitted.points.start[static_cast<size_t>(i)]; e < fitted.points.start[static_cast<size_t>(i) + 1];
         ++e) {
      const double x = fitted.points.data[static_cast<size_t>(e)];
      const auto to = static_cast<size_t>(next[static_cast<size_t>(fitted.points.index[static_cast<size_t>(e)])]++);
      row_[to] = static_cast<int32_t>(i);
      value_[to] = x;
      norm += x * x;
    }
    norm_[static_cast<size_t>(i)] = norm;
  }
}

void SparseFilter::search(const Distance& distance, const Rows& queries, int64_t q, bool exclude_self, Best& best,
                          std::vector<double>& products) const {
  const int64_t n = fitted_.n();
  const svm::MatrixView& x = queries.points;
  double norm = 0.0;
  const int64_t first = x.start[static_cast<size_t>(q)], last = x.start[static_cast<size_t>(q) + 1];
  for (int64_t e = first; e < last; ++e) {
    const double value = x.data[static_cast<size_t>(e)];
    const auto column = static_cast<size_t>(x.index[static_cast<size_t>(e)]);
    norm += value * value;
    for (int64_t at = start_[column]; at < start_[column + 1]; ++at) {
      products[static_cast<size_t>(row_[static_cast<size_t>(at)])] += value * value_[static_cast<size_t>(at)];
    }
  }
  const bool cosine = term_ == Term::product;
  // Every sum here and in the distance has at most so many terms, each rounded twice.
  const double error = 8.0 * (static_cast<double>(x.n_columns) + 8.0) * double_unit;
  const double lost = (static_cast<double>(x.n_columns) + 8.0) * 0x1p-1060;  // by products near 0
  const double weight = cosine && !queries.weight.empty() ? queries.weight[static_cast<size_t>(q)] * most_alike_ : 0.0;
  const auto level_of = [&](double most) {
    if (cosine) return most + 2.0 * error;
    const double length = most_length(metric_, most, x.n_columns);
    return length * length * (1.0 + error) + error * norm - norm + lost;
  };
  double level = level_of(best.farthest().sum);
  const double* norms = norm_.data();
  const auto rest_of = [&](int64_t i) {  // what is compared with the level
    if (!cosine) return norms[i] * (1.0 - error) - 2.0 * products[static_cast<size_t>(i)];
    const double alike = weight > 0 ? weight * fitted_.weight[static_cast<size_t>(i)] : 0.0;
    return 1.0 - products[static_cast<size_t>(i)] - alike;
  };
  for (int64_t block = 0; block < n_blocks(n); ++block) {
    const int64_t from = order_(block) * together, end = std::min(from + together, n);
    bool open = false;
    for (int64_t i = from; i < end; ++i) open |= !(rest_of(i) > level);
    if (!open) continue;
    for (int64_t i = from; i < end; ++i) {
      if (rest_of(i) > level || (exclude_self && i == q)) continue;
      if (best.offer(distance.sum(q, i), i)) level = level_of(best.farthest().sum);
    }
  }
  std::fill(products.begin(), products.end(), 0.0);
}

}  // namespace weald::neighbors
