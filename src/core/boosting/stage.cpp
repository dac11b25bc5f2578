#include "core/boosting/stage.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/base/simd.h"
#include "core/boosting/softmax.h"
#include "core/boosting/stage_losses.h"

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
    h[i] = d.h;
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

template <class Body>
void for_blocks(int64_t n_rows, int64_t block_size, Run& run, const Body& body) {
  parallel_for(run, (n_rows + block_size - 1) / block_size, [&](int64_t block, int) {
    const int64_t first = block * block_size;
    body(block, first, std::min(block_size, n_rows - first));
  });
}

}  // namespace

void stage_gradients(std::string_view loss, std::span<const double> parameters, const StageRows& rows, double* g,
                     double* h, Run& run) {
  const bool alone = with_loss(loss, parameters, [&](const auto& one) {
    using Loss = std::remove_cvref_t<decltype(one)>;
    const auto fill_block = simd_level() == Simd::avx2 ? fill_avx2<Loss> : fill_baseline<Loss>;
    require(rows.n_outputs == 1, "this loss has one output");
    for_blocks(rows.n_rows, row_block, run, [&](int64_t, int64_t first, int64_t n) {
      fill_block(one, rows.scores + first, rows.target + first, n, g + first, h + first);
    });
  });
  if (alone) return;
  const auto fill_block = simd_level() == Simd::avx2 ? fill_classes_avx2 : fill_classes_baseline;
  for_blocks(rows.n_rows, softmax_block, run,
             [&](int64_t, int64_t first, int64_t n) { fill_block(rows, first, n, g, h); });
}

namespace {

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

}  // namespace

LossSum stage_loss(std::string_view loss, std::span<const double> parameters, const StageRows& rows,
                   std::span<const double> weight, Run& run) {
  std::vector<LossSum> parts;
  const auto total_of_parts = [&] {
    LossSum total{0, 0};
    for (const LossSum& part : parts) {
      total.loss += part.loss;
      total.weight += part.weight;
    }
    return total;
  };
  if (loss == "binomial" && weight.empty()) {
    const auto sum_block = simd_level() == Simd::avx2 ? binomial_sum_avx2 : binomial_sum_baseline;
    parts.resize(static_cast<size_t>((rows.n_rows + row_block - 1) / row_block));
    for_blocks(rows.n_rows, row_block, run, [&](int64_t block, int64_t first, int64_t n) {
      parts[static_cast<size_t>(block)] = {sum_block(rows.scores + first, rows.target + first, n),
                                           static_cast<double>(n)};
    });
    return total_of_parts();
  }
  const auto add_up = [&](int64_t block, int64_t first, int64_t n, const double* found) {
    LossSum& sum = parts[static_cast<size_t>(block)];
    for (int64_t i = 0; i < n; ++i) {
      const double w = weight.empty() ? 1.0 : weight[static_cast<size_t>(first + i)];
      if (w == 0) continue;  // its loss may be infinite
      sum.loss += w * found[i];
      sum.weight += w;
    }
  };
  const bool alone = with_loss(loss, parameters, [&](const auto& one) {
    using Loss = std::remove_cvref_t<decltype(one)>;
    const auto value_block = simd_level() == Simd::avx2 ? values_avx2<Loss> : values_baseline<Loss>;
    parts.resize(static_cast<size_t>((rows.n_rows + row_block - 1) / row_block));
    for_blocks(rows.n_rows, row_block, run, [&](int64_t block, int64_t first, int64_t n) {
      std::array<double, row_block> found;
      value_block(one, rows.scores + first, rows.target + first, n, found.data());
      add_up(block, first, n, found.data());
    });
  });
  if (!alone) {
    const auto value_block = simd_level() == Simd::avx2 ? class_values_avx2 : class_values_baseline;
    parts.resize(static_cast<size_t>((rows.n_rows + softmax_block - 1) / softmax_block));
    for_blocks(rows.n_rows, softmax_block, run, [&](int64_t block, int64_t first, int64_t n) {
      std::array<double, softmax_block> found;
      value_block(rows, first, n, found.data());
      add_up(block, first, n, found.data());
    });
  }
  return total_of_parts();
}

}  // namespace weald
