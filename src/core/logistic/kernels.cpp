#include "core/logistic/kernels.h"

#include <algorithm>
#include <cmath>

#include "core/base/mathematics.h"
#include "core/base/simd.h"
#include "core/svm/linear/vector.h"

namespace weald::logistic {

using linear::Four;
using linear::load_four;
using linear::store_four;

namespace {

constexpr int64_t together = 4;  // dense rows whose sums stay in registers

// ------------------------------------------------------------------ scores

// Some rows for 4·fours lines; `x[r]` are rows, sums run over the columns in order.
template <int n, int fours>
[[gnu::always_inline]] inline void dense_tile(const double* const* x, const double* w, int64_t stride, int64_t d,
                                              double* out) {
  Four sum[n][fours], each;
  for (int r = 0; r < n; ++r) {
    for (int k = 0; k < fours; ++k) sum[r][k] = Four{0, 0, 0, 0};
  }
  for (int64_t j = 0; j < d; ++j, w += stride) {
    for (int k = 0; k < fours; ++k) {
      load_four(w + 4 * k, each);
      for (int r = 0; r < n; ++r) sum[r][k] += x[r][j] * each;
    }
  }
  for (int r = 0; r < n; ++r) {
    for (int k = 0; k < fours; ++k) store_four(sum[r][k], out + r * stride + 4 * k);
  }
}

template <int n>
[[gnu::always_inline]] inline void dense_rows(const linear::Rows& rows, const double* w, int64_t stride, int64_t i,
                                              double* out) {
  const double* x[n];
  for (int r = 0; r < n; ++r) x[r] = rows.row(i + r);
  int64_t k = 0;
  for (; k + 8 <= stride; k += 8) dense_tile<n, 2>(x, w + k, stride, rows.n_columns, out + k);
  if (k < stride) dense_tile<n, 1>(x, w + k, stride, rows.n_columns, out + k);
}

// Entries `value` at the lines `row` of r, (…, stride), for 4·fours lines.
template <int fours>
[[gnu::always_inline]] inline void sparse_tile(const int32_t* index, const double* value, int64_t n, const double* r,
                                               int64_t stride, double* out) {
  Four sum[fours], each;
  for (int k = 0; k < fours; ++k) sum[k] = Four{0, 0, 0, 0};
  for (int64_t at = 0; at < n; ++at) {
    const double* line = r + index[at] * stride;
    for (int k = 0; k < fours; ++k) {
      load_four(line + 4 * k, each);
      sum[k] += value[at] * each;
    }
  }
  for (int k = 0; k < fours; ++k) store_four(sum[k], out + 4 * k);
}

[[gnu::always_inline]] inline void sparse_sum(const int32_t* index, const double* value, int64_t n, const double* r,
                                              int64_t stride, double* out) {
  int64_t k = 0;
  for (; k + 20 <= stride; k += 20) sparse_tile<5>(index, value, n, r + k, stride, out + k);
  for (; k + 8 <= stride; k += 8) sparse_tile<2>(index, value, n, r + k, stride, out + k);
  if (k < stride) sparse_tile<1>(index, value, n, r + k, stride, out + k);
}

[[gnu::always_inline]] inline void scores_of(const linear::Rows& rows, const double* w, int64_t stride, int64_t first,
                                             int64_t last, double* out) {
  if (rows.sparse()) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t at = rows.start[i];
      sparse_sum(rows.index + at, rows.value + at, rows.start[i + 1] - at, w, stride, out + (i - first) * stride);
    }
  } else {
    int64_t i = first;
    for (; i + together <= last; i += together) dense_rows<together>(rows, w, stride, i, out + (i - first) * stride);
    for (; i < last; ++i) dense_rows<1>(rows, w, stride, i, out + (i - first) * stride);
  }
  if (rows.bias == 0) return;
  const double* constant = w + rows.n_columns * stride;
  for (int64_t i = 0; i < last - first; ++i) {
    for (int64_t k = 0; k < stride; ++k) out[i * stride + k] += rows.bias * constant[k];
  }
}

// ------------------------------------------------------------------ sums over rows

// out[j] += Σ over n rows x_j r, for all columns of dense rows.
template <int n>
[[gnu::always_inline]] inline void outer_rows(const linear::Rows& rows, int64_t i, const double* r, int64_t stride,
                                              double* out) {
  const double* x[n];
  for (int row = 0; row < n; ++row) x[row] = rows.row(i + row);
  for (int64_t k = 0; k < stride; k += 4) {
    Four factor[n], sum;
    for (int row = 0; row < n; ++row) load_four(r + row * stride + k, factor[row]);
    double* to = out + k;
    for (int64_t j = 0; j < rows.n_columns; ++j, to += stride) {
      load_four(to, sum);
      for (int row = 0; row < n; ++row) sum += x[row][j] * factor[row];
      store_four(sum, to);
    }
  }
}

[[gnu::always_inline]] inline void add_outer_of(const linear::Rows& rows, const double* r, int64_t stride,
                                                int64_t first, int64_t last, double* out) {
  if (rows.sparse()) {
    for (int64_t i = first; i < last; ++i) {
      const double* from = r + (i - first) * stride;
      for (int64_t at = rows.start[i]; at < rows.start[i + 1]; ++at) {
        linear::add_multiple(from, rows.value[at], stride, out + rows.index[at] * stride);
      }
    }
  } else {
    int64_t i = first;
    for (; i + together <= last; i += together) {
      outer_rows<together>(rows, i, r + (i - first) * stride, stride, out);
    }
    for (; i < last; ++i) outer_rows<1>(rows, i, r + (i - first) * stride, stride, out);
  }
  if (rows.bias == 0) return;
  double* constant = out + rows.n_columns * stride;
  for (int64_t i = 0; i < last - first; ++i) linear::add_multiple(r + i * stride, rows.bias, stride, constant);
}

[[gnu::always_inline]] inline void column_sums_of(const linear::Columns& columns, const double* r, int64_t stride,
                                                  int64_t first, int64_t last, double* out) {
  for (int64_t j = first; j < last; ++j) {
    const int64_t at = columns.start(j);
    sparse_sum(columns.row() + at, columns.value() + at, columns.start(j + 1) - at, r, stride, out + j * stride);
  }
}

// ------------------------------------------------------------------ losses

[[gnu::always_inline]] inline void two_classes_of(const double* f, const double* target, const double* cost, int64_t n,
                                                  double* loss, double* derivative, double* curvature) {
  for (int64_t i = 0; i < n; ++i) {
    const double y = target[i], e = weald::exp(f[i] < 0 ? f[i] : -f[i]);
    const double inverse = 1.0 / (1.0 + e), small = e * inverse;
    const double p = f[i] < 0 ? small : inverse, other = f[i] < 0 ? inverse : small;
    loss[i] = weald::log1p(e) + ((f[i] < 0 ? 0.0 : f[i]) - y * f[i]);
    derivative[i] = cost[i] * ((1.0 - y) * p - y * other);  // p − y, without losing what is left of a small 1 − p
    curvature[i] = cost[i] * (small * inverse);
  }
}

[[gnu::always_inline]] inline void many_classes_of(double* f, const int32_t* label, const double* cost, int64_t n,
                                                   int64_t n_lines, int64_t stride, double* loss, double* derivative) {
  for (int64_t i = 0; i < n; ++i) {
    double* row = f + i * stride;
    double most = row[0];
    for (int64_t k = 1; k < n_lines; ++k) most = row[k] > most ? row[k] : most;
    for (int64_t k = 0; k < n_lines; ++k) row[k] -= most;
    for (int64_t k = n_lines; k < stride; ++k) row[k] = 0;
    loss[i] = row[label[i]];  // at most 0
  }
  for (int64_t at = 0; at < n * stride; ++at) f[at] = weald::exp(f[at]);
  for (int64_t i = 0; i < n; ++i) {
    double* row = f + i * stride;
    double others = 0;
    for (int64_t k = 0; k < n_lines; ++k) others += k == label[i] ? 0.0 : row[k];
    const double sum = others + row[label[i]], inverse = 1.0 / sum;
    for (int64_t k = 0; k < n_lines; ++k) row[k] *= inverse;
    for (int64_t k = n_lines; k < stride; ++k) row[k] = 0;
    loss[i] = weald::log(sum) - loss[i];
    if (derivative == nullptr) continue;
    double* to = derivative + i * stride;
    for (int64_t k = 0; k < stride; ++k) to[k] = cost[i] * row[k];
    to[label[i]] = -cost[i] * (others * inverse);  // p − 1, without losing what is left of it
  }
}

[[gnu::always_inline]] inline void times_curvature_of(const double* p, const double* cost, int64_t n, int64_t stride,
                                                      double* a) {
  for (int64_t i = 0; i < n; ++i, p += stride, a += stride) {
    double mean = 0;
    for (int64_t k = 0; k < stride; ++k) mean += p[k] * a[k];
    for (int64_t k = 0; k < stride; ++k) a[k] = cost[i] * (p[k] * (a[k] - mean));
  }
}

bool wide() {
  return simd_level() == Simd::avx2;
}

// ------------------------------------------------------------------ the wide builds

WEALD_TARGET_AVX2 void scores_avx2(const linear::Rows& rows, const double* w, int64_t stride, int64_t first,
                                   int64_t last, double* out) {
  scores_of(rows, w, stride, first, last, out);
}
WEALD_TARGET_AVX2 void add_outer_avx2(const linear::Rows& rows, const double* r, int64_t stride, int64_t first,
                                      int64_t last, double* out) {
  add_outer_of(rows, r, stride, first, last, out);
}
WEALD_TARGET_AVX2 void column_sums_avx2(const linear::Columns& columns, const double* r, int64_t stride, int64_t first,
                                        int64_t last, double* out) {
  column_sums_of(columns, r, stride, first, last, out);
}
WEALD_TARGET_AVX2 void two_classes_avx2(const double* f, const double* target, const double* cost, int64_t n,
                                        double* loss, double* derivative, double* curvature) {
  two_classes_of(f, target, cost, n, loss, derivative, curvature);
}
WEALD_TARGET_AVX2 void many_classes_avx2(double* f, const int32_t* label, const double* cost, int64_t n,
                                         int64_t n_lines, int64_t stride, double* loss, double* derivative) {
  many_classes_of(f, label, cost, n, n_lines, stride, loss, derivative);
}
WEALD_TARGET_AVX2 void times_curvature_avx2(const double* p, const double* cost, int64_t n, int64_t stride, double* a) {
  times_curvature_of(p, cost, n, stride, a);
}

}  // namespace

void scores(const linear::Rows& rows, const double* w, int64_t stride, int64_t first, int64_t last, double* out) {
  if (stride == 1) return linear::multiply(rows, w, first, last, out);
  if (wide()) return scores_avx2(rows, w, stride, first, last, out);
  scores_of(rows, w, stride, first, last, out);
}

void add_outer(const linear::Rows& rows, const double* r, int64_t stride, int64_t first, int64_t last, double* out) {
  if (stride == 1) return linear::add_transposed(rows, r, first, last, out);
  if (wide()) return add_outer_avx2(rows, r, stride, first, last, out);
  add_outer_of(rows, r, stride, first, last, out);
}

void column_sums(const linear::Columns& columns, const double* r, int64_t stride, int64_t first, int64_t last,
                 double* out) {
  if (wide()) return column_sums_avx2(columns, r, stride, first, last, out);
  column_sums_of(columns, r, stride, first, last, out);
}

void two_classes(const double* f, const double* target, const double* cost, int64_t n, double* loss, double* derivative,
                 double* curvature) {
  if (wide()) return two_classes_avx2(f, target, cost, n, loss, derivative, curvature);
  two_classes_of(f, target, cost, n, loss, derivative, curvature);
}

void many_classes(double* f, const int32_t* label, const double* cost, int64_t n, int64_t n_lines, int64_t stride,
                  double* loss, double* derivative) {
  if (wide()) return many_classes_avx2(f, label, cost, n, n_lines, stride, loss, derivative);
  many_classes_of(f, label, cost, n, n_lines, stride, loss, derivative);
}

void times_curvature(const double* p, const double* cost, int64_t n, int64_t stride, double* a) {
  if (wide()) return times_curvature_avx2(p, cost, n, stride, a);
  times_curvature_of(p, cost, n, stride, a);
}

}  // namespace weald::logistic
