// p_k = e^(f_k − m) / Σ_j e^(f_j − m) with m = max_j f_j, for blocks of rows; equation L8 of docs/methods/boosting.md.
// In both layouts the steps of a row are the same, so training and prediction have the same bits.
#pragma once

#include <array>
#include <cstdint>

#include "core/base/mathematics.h"

namespace weald {

constexpr int64_t softmax_block = 512;  // rows: a few classes of them fit in the first-level cache

// (n_classes, n) with `stride` between classes: loops along rows, which are vectors. n ≤ softmax_block.
[[gnu::always_inline]] inline void softmax_by_class(const double* scores, int64_t n, int64_t n_classes, int64_t stride,
                                                    double* out) {
  std::array<double, softmax_block> top;
  std::array<double, softmax_block> sum;
  for (int64_t i = 0; i < n; ++i) {
    top[static_cast<size_t>(i)] = scores[i];
    sum[static_cast<size_t>(i)] = 0.0;
  }
  double* __restrict__ tops = top.data();
  double* __restrict__ sums = sum.data();
  for (int64_t k = 1; k < n_classes; ++k) {
    const double* __restrict__ score = scores + k * stride;
    for (int64_t i = 0; i < n; ++i) tops[i] = score[i] > tops[i] ? score[i] : tops[i];
  }
  for (int64_t k = 0; k < n_classes; ++k) {
    const double* __restrict__ score = scores + k * stride;
    double* __restrict__ p = out + k * stride;
    for (int64_t i = 0; i < n; ++i) {
      p[i] = exp(score[i] - tops[i]);
      sums[i] += p[i];
    }
  }
  for (int64_t i = 0; i < n; ++i) sums[i] = 1.0 / sums[i];
  for (int64_t k = 0; k < n_classes; ++k) {
    double* __restrict__ p = out + k * stride;
    for (int64_t i = 0; i < n; ++i) p[i] *= sums[i];
  }
}

// (n, n_classes), row after row: only the loop over exp is along all values. `out` may be `scores`.
[[gnu::always_inline]] inline void softmax_by_row(const double* scores, int64_t n, int64_t n_classes, double* out) {
  for (int64_t i = 0; i < n; ++i) {
    const double* score = scores + i * n_classes;
    double top = score[0];
    for (int64_t k = 1; k < n_classes; ++k) top = score[k] > top ? score[k] : top;
    for (int64_t k = 0; k < n_classes; ++k) out[i * n_classes + k] = score[k] - top;
  }
  for (int64_t i = 0; i < n * n_classes; ++i) out[i] = exp(out[i]);
  for (int64_t i = 0; i < n; ++i) {
    double* p = out + i * n_classes;
    double sum = 0.0;
    for (int64_t k = 0; k < n_classes; ++k) sum += p[k];
    const double inverse = 1.0 / sum;
    for (int64_t k = 0; k < n_classes; ++k) p[k] *= inverse;
  }
}

}  // namespace weald
