#include "core/svm/linear/rows.h"

#include <cmath>

#include "core/base/check.h"
#include "core/base/simd.h"
#include "core/svm/linear/vector.h"

namespace weald::linear {

namespace {

// ------------------------------------------------------------------ dense rows

[[gnu::always_inline]] inline void multiply_dense(const Rows& rows, const double* v, int64_t first, int64_t last,
                                                  double* out) {
  const int64_t d = rows.n_columns;
  const double* x = rows.row(first);
  for (int64_t i = first; i < last; ++i, x += d) out[i - first] = dot_of(x, v, d);
}

[[gnu::always_inline]] inline void add_dense(const Rows& rows, const double* u, int64_t first, int64_t last,
                                             double* out) {
  const int64_t d = rows.n_columns;
  int64_t i = first;
  for (; i + 4 <= last; i += 4) {  // four rows for each pass over `out`
    const double *a = rows.row(i), *b = a + d, *c = b + d, *e = c + d, *w = u + (i - first);
    int64_t j = 0;
    Four sum, x;
    for (; j + 4 <= d; j += 4) {
      load_four(out + j, sum);
      load_four(a + j, x);
      sum += w[0] * x;
      load_four(b + j, x);
      sum += w[1] * x;
      load_four(c + j, x);
      sum += w[2] * x;
      load_four(e + j, x);
      sum += w[3] * x;
      store_four(sum, out + j);
    }
    for (; j < d; ++j) out[j] = (((out[j] + w[0] * a[j]) + w[1] * b[j]) + w[2] * c[j]) + w[3] * e[j];
  }
  for (; i < last; ++i) add_multiple(rows.row(i), u[i - first], d, out);
}

using Multiply = void (*)(const Rows&, const double*, int64_t, int64_t, double*);

void multiply_baseline(const Rows& rows, const double* v, int64_t first, int64_t last, double* out) {
  multiply_dense(rows, v, first, last, out);
}
WEALD_TARGET_AVX2 void multiply_avx2(const Rows& rows, const double* v, int64_t first, int64_t last, double* out) {
  multiply_dense(rows, v, first, last, out);
}
void add_baseline(const Rows& rows, const double* u, int64_t first, int64_t last, double* out) {
  add_dense(rows, u, first, last, out);
}
WEALD_TARGET_AVX2 void add_avx2(const Rows& rows, const double* u, int64_t first, int64_t last, double* out) {
  add_dense(rows, u, first, last, out);
}
double dot_baseline(const double* a, const double* b, int64_t n) {
  return dot_of(a, b, n);
}
WEALD_TARGET_AVX2 double dot_avx2(const double* a, const double* b, int64_t n) {
  return dot_of(a, b, n);
}
void add_multiple_baseline(const double* x, double u, int64_t n, double* v) {
  add_multiple(x, u, n, v);
}
WEALD_TARGET_AVX2 void add_multiple_avx2(const double* x, double u, int64_t n, double* v) {
  add_multiple(x, u, n, v);
}

bool wide() {
  return simd_level() == Simd::avx2;
}

// ------------------------------------------------------------------ sparse rows

// Four running sums: entries are added faster than one addition follows another.
double dot_sparse(const int32_t* index, const double* value, int64_t n, const double* v) {
  double a = 0, b = 0, c = 0, e = 0;
  int64_t k = 0;
  for (; k + 4 <= n; k += 4) {
    a += value[k] * v[index[k]];
    b += value[k + 1] * v[index[k + 1]];
    c += value[k + 2] * v[index[k + 2]];
    e += value[k + 3] * v[index[k + 3]];
  }
  for (; k < n; ++k) a += value[k] * v[index[k]];
  return (a + c) + (b + e);
}

}  // namespace

void check_sparse(std::span<const int64_t> start, std::span<const int32_t> index, int64_t n_values, int64_t n_rows,
                  int64_t n_columns) {
  const auto n = static_cast<int64_t>(index.size());
  require(static_cast<int64_t>(start.size()) == n_rows + 1 && start.front() == 0 && start.back() == n && n == n_values,
          "a sparse matrix has an end for each row");
  for (size_t i = 0; i + 1 < start.size(); ++i) {
    require(start[i] <= start[i + 1] && start[i + 1] <= n, "rows of a sparse matrix follow one another");
    int64_t last = -1;
    for (auto k = static_cast<size_t>(start[i]); k < static_cast<size_t>(start[i + 1]); ++k) {
      require(index[k] > last && index[k] < n_columns, "indices of a sparse matrix rise within each row");
      last = index[k];
    }
  }
}

double dot(const double* a, const double* b, int64_t n) {
  return wide() ? dot_avx2(a, b, n) : dot_baseline(a, b, n);
}

double dot_row(const Rows& rows, int64_t i, const double* v) {
  const double of_bias = rows.bias != 0 ? rows.bias * v[rows.n_columns] : 0.0;
  if (!rows.sparse()) return dot(rows.row(i), v, rows.n_columns) + of_bias;
  const int64_t at = rows.start[i];
  return dot_sparse(rows.index + at, rows.value + at, rows.start[i + 1] - at, v) + of_bias;
}

double squared_norm(const Rows& rows, int64_t i) {
  const double of_bias = rows.bias * rows.bias;
  if (!rows.sparse()) return dot(rows.row(i), rows.row(i), rows.n_columns) + of_bias;
  const double* value = rows.value + rows.start[i];
  return dot(value, value, rows.start[i + 1] - rows.start[i]) + of_bias;
}

double typical_length(const Rows& rows) {
  Rows plain = rows;
  plain.bias = 0;
  double sum = 0;
  for (int64_t i = 0; i < rows.n_rows; ++i) sum += squared_norm(plain, i);
  const double mean = sum / static_cast<double>(rows.n_rows);
  return mean > 0 ? std::sqrt(mean) : 1.0;
}

void add_row(const Rows& rows, int64_t i, double u, double* v) {
  if (rows.sparse()) {
    for (int64_t k = rows.start[i]; k < rows.start[i + 1]; ++k) v[rows.index[k]] += u * rows.value[k];
  } else {
    (wide() ? add_multiple_avx2 : add_multiple_baseline)(rows.row(i), u, rows.n_columns, v);
  }
  if (rows.bias != 0) v[rows.n_columns] += u * rows.bias;
}

void multiply(const Rows& rows, const double* v, int64_t first, int64_t last, double* out) {
  if (rows.sparse()) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t at = rows.start[i];
      out[i - first] = dot_sparse(rows.index + at, rows.value + at, rows.start[i + 1] - at, v);
    }
  } else {
    (wide() ? multiply_avx2 : multiply_baseline)(rows, v, first, last, out);
  }
  if (rows.bias == 0) return;
  const double of_bias = rows.bias * v[rows.n_columns];
  for (int64_t i = 0; i < last - first; ++i) out[i] += of_bias;
}

void add_transposed(const Rows& rows, const double* u, int64_t first, int64_t last, double* out) {
  if (rows.sparse()) {
    for (int64_t i = first; i < last; ++i) {
      const double factor = u[i - first];
      if (factor == 0) continue;
      for (int64_t k = rows.start[i]; k < rows.start[i + 1]; ++k) out[rows.index[k]] += factor * rows.value[k];
    }
  } else {
    (wide() ? add_avx2 : add_baseline)(rows, u, first, last, out);
  }
  if (rows.bias == 0) return;
  double sum = 0;
  for (int64_t i = 0; i < last - first; ++i) sum += u[i];
  out[rows.n_columns] += rows.bias * sum;
}

void combine(std::span<const double> parts, std::span<double> out) {
  std::fill(out.begin(), out.end(), 0.0);
  const size_t n = out.size();
  for (size_t at = 0; at < parts.size(); at += n) {
    for (size_t j = 0; j < n; ++j) out[j] += parts[at + j];
  }
}

void multiply(const Rows& rows, std::span<const double> v, Run& run, std::span<double> out) {
  const RowBlocks blocks(rows.n_rows);
  parallel_for(run, blocks.count(), [&](int64_t b, int) {
    multiply(rows, v.data(), blocks.first(b), blocks.last(b), out.data() + blocks.first(b));
  });
}

void transpose_multiply(const Rows& rows, std::span<const double> u, Run& run, std::span<double> out) {
  const RowBlocks blocks = RowBlocks::for_sums(rows.n_rows, rows.width());
  std::vector<double> parts(static_cast<size_t>(blocks.count()) * out.size(), 0.0);
  parallel_for(run, blocks.count(), [&](int64_t b, int) {
    const int64_t first = blocks.first(b);
    add_transposed(rows, u.data() + first, first, blocks.last(b), parts.data() + b * rows.width());
  });
  combine(parts, out);
}

}  // namespace weald::linear
