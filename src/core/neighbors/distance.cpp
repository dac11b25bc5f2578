#include "core/neighbors/distance.h"

#include <algorithm>
#include <cmath>

#include "core/base/mathematics.h"

namespace weald::neighbors {

namespace {

// Whole powers up to here are made by multiplication.
constexpr double most_whole = 64;

template <Term term>
double added(double sum, double x, double z, double p) {
  if constexpr (term == Term::product) return sum + x * z;
  const double d = std::abs(x - z);
  if constexpr (term == Term::square) return sum + d * d;
  if constexpr (term == Term::absolute) return sum + d;
  if constexpr (term == Term::largest) return d > sum ? d : sum;
  if constexpr (term == Term::whole) return sum + whole_power(d, static_cast<int>(p));
  return sum + any_power(d, p);
}

template <Term term>
double dense_sum(const double* x, const double* z, int64_t n, double p) {
  double sum = 0.0;
  for (int64_t k = 0; k < n; ++k) sum = added<term>(sum, x[k], z[k], p);
  return sum;
}

// Sums of four pairs, each in the order of columns as above: additions of one wait for one another.
void four_squares(const double* const* x, const double* const* z, int64_t n, double* out) {
  double sum[4] = {0.0, 0.0, 0.0, 0.0};
  for (int64_t k = 0; k < n; ++k) {
    for (int r = 0; r < 4; ++r) sum[r] = added<Term::square>(sum[r], x[r][k], z[r][k], 2);
  }
  for (int r = 0; r < 4; ++r) out[r] = sum[r];
}

// Entries in the order of columns; what neither row stores adds nothing.
template <Term term>
double sparse_sum(const svm::MatrixView& left, int64_t q, const svm::MatrixView& right, int64_t i, double p) {
  double sum = 0.0;
  int64_t a = left.start[static_cast<size_t>(q)], b = right.start[static_cast<size_t>(i)];
  const int64_t a_end = left.start[static_cast<size_t>(q) + 1], b_end = right.start[static_cast<size_t>(i) + 1];
  while (a < a_end && b < b_end) {
    const int32_t x = left.index[static_cast<size_t>(a)], z = right.index[static_cast<size_t>(b)];
    const double first = x <= z ? left.data[static_cast<size_t>(a)] : 0.0;
    const double second = z <= x ? right.data[static_cast<size_t>(b)] : 0.0;
    sum = added<term>(sum, first, second, p);
    a += x <= z;
    b += z <= x;
  }
  for (; a < a_end; ++a) sum = added<term>(sum, left.data[static_cast<size_t>(a)], 0.0, p);
  for (; b < b_end; ++b) sum = added<term>(sum, 0.0, right.data[static_cast<size_t>(b)], p);
  return sum;
}

template <Term term>
double points_sum(const svm::MatrixView& left, int64_t q, const svm::MatrixView& right, int64_t i, double p) {
  if (left.sparse) return sparse_sum<term>(left, q, right, i, p);
  const int64_t n = left.n_columns;
  return dense_sum<term>(left.dense + q * n, right.dense + i * n, n, p);
}

}  // namespace

double any_power(double d, double p) {
  if (!(d < infinity)) return infinity;
  return d > 0 ? weald::exp(p * weald::log(d)) : 0.0;
}

Term term_of(const Metric& metric) {
  if (metric.rule == Rule::cosine) return Term::product;
  if (metric.rule == Rule::largest) return Term::largest;
  if (metric.p == 2) return Term::square;
  if (metric.p == 1) return Term::absolute;
  return metric.p <= most_whole && metric.p == std::floor(metric.p) ? Term::whole : Term::power;
}

Distance::Distance(const Metric& metric, const Rows& queries, const Rows& fitted, const Categories& categories)
    : metric_(metric), term_(term_of(metric)), queries_(queries), fitted_(fitted), categories_(categories) {}

double Distance::sum(int64_t q, int64_t i) const {
  const svm::MatrixView &x = queries_.points, &z = fitted_.points;
  switch (term_) {
    case Term::square:
      return with_categories(points_sum<Term::square>(x, q, z, i, 2), q, i);
    case Term::absolute:
      return with_categories(points_sum<Term::absolute>(x, q, z, i, 1), q, i);
    case Term::whole:
      return with_categories(points_sum<Term::whole>(x, q, z, i, metric_.p), q, i);
    case Term::power:
      return with_categories(points_sum<Term::power>(x, q, z, i, metric_.p), q, i);
    case Term::largest:
      return with_categories(points_sum<Term::largest>(x, q, z, i, 0), q, i);
    default:
      return with_categories(points_sum<Term::product>(x, q, z, i, 0), q, i);
  }
}

void Distance::sums(const int64_t* q, const int64_t* i, size_t n, double* out) const {
  size_t at = 0;
  const int64_t d = queries_.points.n_columns;
  for (; term_ == Term::square && !queries_.points.sparse && at + 4 <= n; at += 4) {
    const double *x[4], *z[4];
    for (size_t r = 0; r < 4; ++r) {
      x[r] = queries_.points.dense + q[at + r] * d;
      z[r] = fitted_.points.dense + i[at + r] * d;
    }
    four_squares(x, z, d, out + at);
    for (size_t r = 0; r < 4; ++r) out[at + r] = with_categories(out[at + r], q[at + r], i[at + r]);
  }
  for (; at < n; ++at) out[at] = sum(q[at], i[at]);
}

double Distance::with_categories(double sum, int64_t q, int64_t i) const {
  const int64_t n = categories_.n();
  const int32_t *a = queries_.codes + q * n, *b = fitted_.codes + i * n;
  if (metric_.rule == Rule::cosine) {
    if (n > 0) {
      double alike = 0.0;
      for (int64_t c = 0; c < n; ++c) {
        alike += (categories_.cost[static_cast<size_t>(c)] - categories_.term(c, a[c], b[c])) / 2;
      }
      sum += alike * queries_.weight[static_cast<size_t>(q)] * fitted_.weight[static_cast<size_t>(i)];
    }
    const double found = 1.0 - sum;
    if (found != found) return 1.0;  // lengths beyond float64: no direction is known
    return std::min(std::max(found, 0.0), 2.0);
  }
  for (int64_t c = 0; c < n; ++c) {
    const double term = categories_.term(c, a[c], b[c]);
    sum = metric_.rule == Rule::largest ? std::max(sum, term) : sum + term;
  }
  return sum;
}

double distance_of(const Metric& metric, double sum) {
  if (metric.rule != Rule::powers || metric.p == 1) return sum;
  if (metric.p == 2) return std::sqrt(sum);
  return sum > 0 && sum < infinity ? weald::exp(weald::log(sum) / metric.p) : sum;
}

}  // namespace weald::neighbors
