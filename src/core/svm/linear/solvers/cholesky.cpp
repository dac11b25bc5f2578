#include "core/svm/linear/solvers/cholesky.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/simd.h"
#include "core/svm/linear/vector.h"

namespace weald::linear {

namespace {

constexpr int64_t panel_width = 32;
constexpr int64_t rows_at_once = 16;
constexpr double least_pivot = 1e-15;

// The columns first … last of rows below `first`: finished within themselves.
void factorise_panel(Square& a, int64_t first, int64_t last, std::span<const double> diagonal) {
  for (int64_t j = first; j < last; ++j) {
    double* row = a.row(j);
    const double pivot = row[j] - dot(row + first, row + first, j - first);
    row[j] = pivot > least_pivot * diagonal[static_cast<size_t>(j)] ? std::sqrt(pivot)
                                                                    : std::numeric_limits<double>::infinity();
    for (int64_t i = j + 1; i < a.n; ++i) {
      double* other = a.row(i);
      other[j] = (other[j] - dot(other + first, row + first, j - first)) / row[j];
    }
  }
}

// Row i, columns from … to: minus Σ_p L[i][p] L[k][p] over the panel's columns, of which `turned` holds row p for all
// k.
[[gnu::always_inline]] inline void subtract(const double* l, int64_t n_panel, const double* turned, int64_t stride,
                                            int64_t n, double* out) {
  int64_t k = 0;
  Four sum, x;
  for (; k + 4 <= n; k += 4) {
    load_four(out + k, sum);
    for (int64_t p = 0; p < n_panel; ++p) {
      load_four(turned + p * stride + k, x);
      sum -= l[p] * x;
    }
    store_four(sum, out + k);
  }
  for (; k < n; ++k) {
    for (int64_t p = 0; p < n_panel; ++p) out[k] -= l[p] * turned[p * stride + k];
  }
}
void subtract_baseline(const double* l, int64_t n_panel, const double* turned, int64_t stride, int64_t n, double* out) {
  subtract(l, n_panel, turned, stride, n, out);
}
WEALD_TARGET_AVX2 void subtract_avx2(const double* l, int64_t n_panel, const double* turned, int64_t stride, int64_t n,
                                     double* out) {
  subtract(l, n_panel, turned, stride, n, out);
}

}  // namespace

void subtract_products(const double* l, int64_t n_products, const double* turned, int64_t stride, int64_t n,
                       double* out) {
  const auto subtract_row = simd_level() == Simd::avx2 ? subtract_avx2 : subtract_baseline;
  subtract_row(l, n_products, turned, stride, n, out);
}

void factorise(Square& a, Run& run) {
  std::vector<double> diagonal(static_cast<size_t>(a.n)), turned(static_cast<size_t>(panel_width * a.n));
  for (int64_t j = 0; j < a.n; ++j) diagonal[static_cast<size_t>(j)] = a.row(j)[j];
  for (int64_t first = 0; first < a.n; first += panel_width) {
    run.check();
    const int64_t last = std::min(a.n, first + panel_width), n_left = a.n - last;
    factorise_panel(a, first, last, diagonal);
    for (int64_t i = last; i < a.n; ++i) {
      for (int64_t p = first; p < last; ++p) {
        turned[static_cast<size_t>((p - first) * a.n + i - last)] = a.row(i)[p];
      }
    }
    const auto update = [&](int64_t block, int) {
      const int64_t end = std::min(a.n, last + (block + 1) * rows_at_once);
      for (int64_t i = last + block * rows_at_once; i < end; ++i) {
        subtract_products(a.row(i) + first, last - first, turned.data(), a.n, i - last + 1, a.row(i) + last);
      }
    };
    parallel_for(run, (n_left + rows_at_once - 1) / rows_at_once, update);
  }
}

void solve_factored(const Square& l, std::span<double> b) {
  for (int64_t i = 0; i < l.n; ++i) {
    const double* row = l.row(i);
    b[static_cast<size_t>(i)] = (b[static_cast<size_t>(i)] - dot(row, b.data(), i)) / row[i];
  }
  for (int64_t i = l.n - 1; i >= 0; --i) {
    const double* row = l.row(i);
    const double x = b[static_cast<size_t>(i)] /= row[i];
    for (int64_t j = 0; j < i; ++j) b[static_cast<size_t>(j)] -= x * row[j];
  }
}

}  // namespace weald::linear
