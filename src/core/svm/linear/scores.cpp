#include "core/svm/linear/scores.h"

#include <algorithm>
#include <vector>

#include "core/base/check.h"
#include "core/base/simd.h"
#include "core/svm/linear/vector.h"

namespace weald::linear {

namespace {

constexpr int64_t rows_at_once = 1024;
constexpr int fours = 4;  // outputs whose sums stay in registers, by four

// Sums of one row for 4·fours outputs; `turned` holds the weights of a column side by side.
[[gnu::always_inline]] inline void score_row(const Rows& rows, int64_t i, const double* turned, int64_t stride,
                                             double* out) {
  Four sum[fours], x;
  for (int k = 0; k < fours; ++k) sum[k] = Four{0, 0, 0, 0};
  const auto add = [&](int64_t j, double value) __attribute__((always_inline)) {
    for (int k = 0; k < fours; ++k) {
      load_four(turned + j * stride + 4 * k, x);
      sum[k] += value * x;
    }
  };
  if (rows.sparse()) {
    for (int64_t at = rows.start[i]; at < rows.start[i + 1]; ++at) add(rows.index[at], rows.value[at]);
  } else {
    const double* row = rows.row(i);
    for (int64_t j = 0; j < rows.n_columns; ++j) add(j, row[j]);
  }
  for (int k = 0; k < fours; ++k) store_four(sum[k], out + 4 * k);
}

// The rows first … last for all outputs, some at a time.
[[gnu::always_inline]] inline void score_rows(const Rows& rows, int64_t first, int64_t last, const double* turned,
                                              int64_t stride, std::span<const double> intercept, double* out) {
  const auto n_outputs = static_cast<int64_t>(intercept.size());
  double sums[4 * fours];
  for (int64_t low = 0; low < n_outputs; low += 4 * fours) {
    const int64_t n = std::min<int64_t>(4 * fours, n_outputs - low);
    for (int64_t i = first; i < last; ++i) {
      score_row(rows, i, turned + low, stride, sums);
      double* to = out + i * n_outputs + low;
      for (int64_t k = 0; k < n; ++k) to[k] = sums[k] + intercept[static_cast<size_t>(low + k)];
    }
  }
}

void score_baseline(const Rows& rows, int64_t first, int64_t last, const double* turned, int64_t stride,
                    std::span<const double> intercept, double* out) {
  score_rows(rows, first, last, turned, stride, intercept, out);
}
WEALD_TARGET_AVX2 void score_avx2(const Rows& rows, int64_t first, int64_t last, const double* turned, int64_t stride,
                                  std::span<const double> intercept, double* out) {
  score_rows(rows, first, last, turned, stride, intercept, out);
}

}  // namespace

void score(const Rows& rows, std::span<const double> weight, std::span<const double> intercept, Run& run,
           std::span<double> out) {
  const auto n_outputs = static_cast<int64_t>(intercept.size()), d = rows.n_columns;
  require(rows.bias == 0 && static_cast<int64_t>(weight.size()) == n_outputs * d, "one weight per column and output");
  const int64_t n_blocks = (rows.n_rows + rows_at_once - 1) / rows_at_once;
  const auto block = [&](int64_t b) { return std::min(rows.n_rows, b * rows_at_once); };
  if (n_outputs == 1) {
    return parallel_for(run, n_blocks, [&](int64_t b, int) {
      double* to = out.data() + block(b);
      multiply(rows, weight.data(), block(b), block(b + 1), to);
      for (int64_t i = 0; i < block(b + 1) - block(b); ++i) to[i] += intercept[0];
    });
  }
  const int64_t stride = (n_outputs + 4 * fours - 1) / (4 * fours) * (4 * fours);
  std::vector<double> turned(static_cast<size_t>(stride * d), 0.0);
  for (int64_t k = 0; k < n_outputs; ++k) {
    for (int64_t j = 0; j < d; ++j)
      turned[static_cast<size_t>(j * stride + k)] = weight[static_cast<size_t>(k * d + j)];
  }
  const auto fill = simd_level() == Simd::avx2 ? score_avx2 : score_baseline;
  parallel_for(run, n_blocks, [&](int64_t b, int) {
    fill(rows, block(b), block(b + 1), turned.data(), stride, intercept, out.data());
  });
}

}  // namespace weald::linear
