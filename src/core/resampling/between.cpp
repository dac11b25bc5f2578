#include "core/resampling/between.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace weald {

namespace {

// Values that one thread makes or copies at a time.
constexpr int64_t values_at_once = 1 << 15;
// Rows that are asked of memory before they are needed: those of a class lie anywhere in a table.
constexpr int64_t rows_ahead = 4;

int64_t rows_at_once(int64_t n_columns) {
  return std::max<int64_t>(1, values_at_once / std::max<int64_t>(1, n_columns));
}

// What is left of lines that a difference does not tell: ends too far apart for it, and gaps.
double apart(double start, double end, double share) {
  return std::isnan(end) ? start : start * (1.0 - share) + end * share;
}

// At most half of the way from the nearer row, so that rounding never leaves the line.
template <class T>
void one_between(const T* start, const T* end, int64_t stride, double share, int64_t n, T* out) {
  bool whole = true;
  for (int64_t j = 0; j < n; ++j) {
    const auto from = static_cast<double>(start[j * stride]), to = static_cast<double>(end[j * stride]);
    const double made = (to - from) * share + from;
    whole &= std::abs(made) <= std::numeric_limits<double>::max();
    out[j] = static_cast<T>(made);
  }
  if (whole) return;
  for (int64_t j = 0; j < n; ++j) {
    const auto from = static_cast<double>(start[j * stride]), to = static_cast<double>(end[j * stride]);
    const double made = (to - from) * share + from;
    out[j] = static_cast<T>(std::isfinite(made) ? made : apart(from, to, share));
  }
}

template <class T>
void ask_for(const T* row, int64_t n) {
  constexpr int64_t line = 64 / sizeof(T);
  for (int64_t j = 0; j < n; j += line) __builtin_prefetch(row + j);
}

}  // namespace

template <class T>
void rows_between(const TableView<T>& table, std::span<const int64_t> base, std::span<const int64_t> other,
                  std::span<const double> step, Run& run, T* out) {
  const int64_t d = table.n_columns, each = rows_at_once(d), stride = table.column_stride;
  const auto n = static_cast<int64_t>(base.size());
  parallel_for(run, (n + each - 1) / each, [&](int64_t block, int) {
    run.check();
    const int64_t last = std::min(n, (block + 1) * each);
    for (int64_t i = block * each; i < last; ++i) {
      if (stride == 1 && i + rows_ahead < last) {
        const auto next = static_cast<size_t>(i + rows_ahead);
        ask_for(table.row(base[next]), d);
        ask_for(table.row(other[next]), d);
      }
      const auto at = static_cast<size_t>(i);
      const bool far = step[at] > 0.5;
      const T *x = table.row(base[at]), *z = table.row(other[at]);
      const double share = far ? 1.0 - step[at] : step[at];
      if (stride == 1) {
        one_between(far ? z : x, far ? x : z, 1, share, d, out + i * d);
      } else {
        one_between(far ? z : x, far ? x : z, stride, share, d, out + i * d);
      }
    }
  });
}

template <class T>
void copy_rows(const TableView<T>& table, Run& run, T* out) {
  const int64_t d = table.n_columns, each = rows_at_once(d);
  const bool dense = table.column_stride == 1 && table.row_stride == d;
  parallel_for(run, (table.n_rows + each - 1) / each, [&](int64_t block, int) {
    run.check();
    const int64_t first = block * each, last = std::min(table.n_rows, first + each);
    if (dense) {
      std::memcpy(out + first * d, table.row(first), static_cast<size_t>((last - first) * d) * sizeof(T));
      return;
    }
    for (int64_t j = 0; j < d; ++j) {
      for (int64_t i = first; i < last; ++i) out[i * d + j] = table.row(i)[j * table.column_stride];
    }
  });
}

template void rows_between(const TableView<float>&, std::span<const int64_t>, std::span<const int64_t>,
                           std::span<const double>, Run&, float*);
template void rows_between(const TableView<double>&, std::span<const int64_t>, std::span<const int64_t>,
                           std::span<const double>, Run&, double*);
template void copy_rows(const TableView<float>&, Run&, float*);
template void copy_rows(const TableView<double>&, Run&, double*);

}  // namespace weald
