#include "core/boosting/stage/stage.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/base/simd.h"
#include "core/boosting/losses/softmax.h"
#include "core/boosting/stage/losses.h"

namespace weald {

namespace {

constexpr int64_t row_block = 4096;

// Two versions of one loop: plain arithmetic, so both give the same bits.
template <class Loss>
[[gnu::always_inline]] inline void fill(const Loss loss, const double* __restrict__ score,
                                        const double* __restrict__ target, int64_t n, double* __restrict__ g,
                                        double* __restrict__ h) {
  for (int64_t i = 0; i < n; ++i) {
    const Derivatives d = loss.at(score[i], target[i]);
    g[i] = d.g;
    if (!Loss::unit_curvature) h[i] = d.h;
  }
}
template <class Loss>
void fill_baseline(const Loss& loss, const double* score, const double* target, int64_t n, double* g, double* h) {
  fill(loss, score, target, n, g, h);
}
template <class Loss>
WEALD_TARGET_AVX2 void fill_avx2(const Loss& loss, const double* score, const double* target, int64_t n, double* g,
                                 double* h) {
  fill(loss, score, target, n, g, h);
}

template <class Loss>
[[gnu::always_inline]] inline void values(const Loss loss, const double* __restrict__ score,
                                          const double* __restrict__ target, int64_t n, double* __restrict__ out) {
  for (int64_t i = 0; i < n; ++i) out[i] = loss.value(score[i], target[i]);
}
template <class Loss>
void values_baseline(const Loss& loss, const double* score, const double* target, int64_t n, double* out) {
  values(loss, score, target, n, out);
}
template <class Loss>
WEALD_TARGET_AVX2 void values_avx2(const Loss& loss, const double* score, const double* target, int64_t n,
                                   double* out) {
  values(loss, score, target, n, out);
}

// The shares of some rows stand in g, one class after another.
[[gnu::always_inline]] inline void fill_classes(const StageRows& rows, int64_t first, int64_t n, double* g, double* h) {
  softmax_by_class(rows.scores + first, n, rows.n_outputs, rows.n_rows, g + first);
  const double* __restrict__ target = rows.target + first;
  for (int64_t k = 0; k < rows.n_outputs; ++k) {
    double* __restrict__ g_k = g + k * rows.n_rows + first;
    double* __restrict__ h_k = h + k * rows.n_rows + first;
    const auto number = static_cast<double>(k);
    for (int64_t i = 0; i < n; ++i) {
      const double p = g_k[i];
      g_k[i] = p - (target[i] == number ? 1.0 : 0.0);
      h_k[i] = p * (1.0 - p);
    }
  }
}
void fill_classes_baseline(const StageRows& rows, int64_t first, int64_t n, double* g, double* h) {
  fill_classes(rows, first, n, g, h);
}
WEALD_TARGET_AVX2 void fill_classes_avx2(const StageRows& rows, int64_t first, int64_t n, double* g, double* h) {
  fill_classes(rows, first, n, g, h);
}

// log Σ_j e^(f_j) − f_y of some rows, S7.
[[gnu::always_inline]] inline void class_values(const StageRows& rows, int64_t first, int64_t n, double* out) {
  std::array<double, softmax_block> top, sum;
  for (int64_t i = 0; i < n; ++i) {
    double most = rows.scores[first + i];
    for (int64_t k = 1; k < rows.n_outputs; ++k) {
      const double score = rows.scores[k * rows.n_rows + first + i];
      most = score > most ? score : most;
    }
    top[static_cast<size_t>(i)] = most;
    sum[static_cast<size_t>(i)] = 0.0;
  }
  for (int64_t k = 0; k < rows.n_outputs; ++k) {
    const double* __restrict__ score = rows.scores + k * rows.n_rows + first;
    for (int64_t i = 0; i < n; ++i) sum[static_cast<size_t>(i)] += exp(score[i] - top[static_cast<size_t>(i)]);
  }
  for (int64_t i = 0; i < n; ++i) {
    const auto k = static_cast<int64_t>(rows.target[first + i]);
    out[i] = log(sum[static_cast<size_t>(i)]) + top[static_cast<size_t>(i)] - rows.scores[k * rows.n_rows + first + i];
  }
}
void class_values_baseline(const StageRows& rows, int64_t first, int64_t n, double* out) {
  class_values(rows, first, n, out);
}
WEALD_TARGET_AVX2 void class_values_avx2(const StageRows& rows, int64_t first, int64_t n, double* out) {
  class_values(rows, first, n, out);
}

// Calls f with the loss; false for the one whose rows need all their scores.
template <class F>
bool with_loss(std::string_view loss, std::span<const double> parameters, F&& f) {
  const auto parameter = [&] {
    require(parameters.size() == 1, "a parameter of the loss is missing");
    return parameters[0];
  };
  if (loss == "multinomial") return false;
  if (loss == "squared_error") return f(StageSquared{}), true;
  if (loss == "absolute_error") return f(StageAbsolute{}), true;
  if (loss == "huber") return f(StageHuber{parameter()}), true;
  if (loss == "quantile") return f(StageQuantile{parameter()}), true;
  if (loss == "binomial") return f(StageBinomial{}), true;
  require(loss == "exponential", "no such loss");
  return f(StageExponential{}), true;
}

// The binomial loss of rows of weight 1: the logarithm of a product of numbers between 1 and 2 is taken once for many.
[[gnu::always_inline]] inline double binomial_sum(const double* __restrict__ score, const double* __restrict__ target,
                                                  int64_t n) {
  constexpr size_t lanes = 8;
  static_assert(row_block / lanes < 1000);  // 2^1000 is within float64
  std::array<double, row_block> factor, straight;
  for (int64_t i = 0; i < n; ++i) {
    const double f = score[i];
    factor[static_cast<size_t>(i)] = 1.0 + exp(f < 0 ? f : -f);
    straight[static_cast<size_t>(i)] = (f < 0 ? 0.0 : f) - target[i] * f;
  }
  std::array<double, lanes> product, sum;
  product.fill(1.0);
  sum.fill(0.0);
  const auto count = static_cast<size_t>(n);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    for (size_t l = 0; l < lanes; ++l) product[l] *= factor[i + l];
    for (size_t l = 0; l < lanes; ++l) sum[l] += straight[i + l];
  }
  for (; i < count; ++i) {
    product[0] *= factor[i];
    sum[0] += straight[i];
  }
  double total = 0;
  for (size_t l = 0; l < lanes; ++l) total += log(product[l]) + sum[l];
  return 2.0 * total;
}
double binomial_sum_baseline(const double* score, const double* target, int64_t n) {
  return binomial_sum(score, target, n);
}
WEALD_TARGET_AVX2 double binomial_sum_avx2(const double* score, const double* target, int64_t n) {
  return binomial_sum(score, target, n);
}

// Σ w · loss and Σ w of a block. Without weights in several series, which the processor adds up side by side.
LossSum sum_losses(const double* found, int64_t n, const double* weight) {
  LossSum sum{0, 0};
  if (weight != nullptr) {
    for (int64_t i = 0; i < n; ++i) {
      if (weight[i] == 0) continue;  // its loss may be infinite
      sum.loss += weight[i] * found[i];
      sum.weight += weight[i];
    }
    return sum;
  }
  constexpr int64_t lanes = 8;
  std::array<double, lanes> series{};
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    for (int64_t l = 0; l < lanes; ++l) series[static_cast<size_t>(l)] += found[i + l];
  }
  for (; i < n; ++i) series[0] += found[i];
  for (const double part : series) sum.loss += part;
  sum.weight = static_cast<double>(n);
  return sum;
}

// What is wanted of one block of rows.
template <class Loss>
LossSum pass_block(const Loss& loss, const StageRows& rows, const StageWanted& wanted, int64_t first, int64_t n) {
  const bool wide = simd_level() == Simd::avx2;
  const double *score = rows.scores + first, *target = rows.target + first;
  if (wanted.g != nullptr) {
    (wide ? fill_avx2<Loss> : fill_baseline<Loss>)(loss, score, target, n, wanted.g + first, wanted.h + first);
  }
  if (!wanted.loss) return {0, 0};
  const double* weight = wanted.weight.empty() ? nullptr : wanted.weight.data() + first;
  if constexpr (std::is_same_v<Loss, StageBinomial>) {
    if (weight == nullptr) {
      return {(wide ? binomial_sum_avx2 : binomial_sum_baseline)(score, target, n), static_cast<double>(n)};
    }
  }
  std::array<double, row_block> found;
  (wide ? values_avx2<Loss> : values_baseline<Loss>)(loss, score, target, n, found.data());
  return sum_losses(found.data(), n, weight);
}

LossSum pass_class_block(const StageRows& rows, const StageWanted& wanted, int64_t first, int64_t n) {
  const bool wide = simd_level() == Simd::avx2;
  if (wanted.g != nullptr) (wide ? fill_classes_avx2 : fill_classes_baseline)(rows, first, n, wanted.g, wanted.h);
  if (!wanted.loss) return {0, 0};
  std::array<double, softmax_block> found;
  (wide ? class_values_avx2 : class_values_baseline)(rows, first, n, found.data());
  return sum_losses(found.data(), n, wanted.weight.empty() ? nullptr : wanted.weight.data() + first);
}

}  // namespace

LossSum stage_pass(std::string_view loss, std::span<const double> parameters, const StageRows& rows,
                   const StageWanted& wanted, Run& run) {
  std::vector<LossSum> parts;
  const auto in_blocks = [&](int64_t size, const auto& pass) {
    parts.resize(static_cast<size_t>((rows.n_rows + size - 1) / size));
    parallel_for(run, static_cast<int64_t>(parts.size()), [&](int64_t block, int) {
      const int64_t first = block * size;
      parts[static_cast<size_t>(block)] = pass(first, std::min(size, rows.n_rows - first));
    });
  };
  const bool alone = with_loss(loss, parameters, [&](const auto& one) {
    require(rows.n_outputs == 1, "this loss has one output");
    in_blocks(row_block, [&](int64_t first, int64_t n) { return pass_block(one, rows, wanted, first, n); });
  });
  if (!alone) {
    in_blocks(softmax_block, [&](int64_t first, int64_t n) { return pass_class_block(rows, wanted, first, n); });
  }
  LossSum total{0, 0};
  for (const LossSum& part : parts) {
    total.loss += part.loss;
    total.weight += part.weight;
  }
  return total;
}

}  // namespace weald
