#include "core/boosting/losses/gradients.h"

#include <algorithm>
#include <array>
#include <functional>

#include "core/base/simd.h"
#include "core/boosting/losses/losses.h"
#include "core/boosting/losses/softmax.h"

namespace weald {

namespace {

constexpr int64_t row_block = 4096;

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
auto fill_function() {
  return simd_level() == Simd::avx2 ? fill_avx2<Loss> : fill_baseline<Loss>;
}

// `loss_of(output)` makes the loss of an output.
template <class LossOf>
void fill_elementwise(const LossOf& loss_of, const GradientRows& rows, double* g, double* h, Run& run) {
  const auto fill_block = fill_function<std::invoke_result_t<LossOf, int64_t>>();
  const int64_t blocks = (rows.n_rows + row_block - 1) / row_block;
  parallel_for(run, blocks * rows.n_outputs, [&](int64_t number, int) {
    const int64_t output = number / blocks;
    const int64_t first = number % blocks * row_block;
    const int64_t n = std::min(row_block, rows.n_rows - first);
    const int64_t at = output * rows.n_rows + first;
    fill_block(loss_of(output), rows.scores + at, rows.target + output * rows.target_stride + first, n, g + at, h + at);
  });
}

template <class Loss>
class LossSource : public GradientSource {
 public:
  LossSource(const Loss& loss, const double* scores, const double* target)
      : loss_(loss), scores_(scores), target_(target) {}
  void fill(size_t first, size_t n, double* g, double* h) const override {
    fill_(loss_, scores_ + first, target_ + first, static_cast<int64_t>(n), g, h);
  }

 private:
  Loss loss_;
  const double* scores_;
  const double* target_;
  decltype(fill_function<Loss>()) fill_ = fill_function<Loss>();
};

// The shares of some rows stand in g, one class after another.
[[gnu::always_inline]] inline void fill_classes(const double* target, int64_t n, int64_t n_classes, int64_t stride,
                                                double* g, double* h) {
  for (int64_t k = 0; k < n_classes; ++k) {
    double* __restrict__ g_k = g + k * stride;
    double* __restrict__ h_k = h + k * stride;
    const auto number = static_cast<double>(k);
    for (int64_t i = 0; i < n; ++i) {
      const Derivatives d = Softmax{}.at(g_k[i], target[i] == number ? 1.0 : 0.0);
      g_k[i] = d.g;
      h_k[i] = d.h;
    }
  }
}

[[gnu::always_inline]] inline void fill_softmax(const GradientRows& rows, int64_t first, int64_t n, double* g,
                                                double* h) {
  softmax_by_class(rows.scores + first, n, rows.n_outputs, rows.n_rows, g + first);
  fill_classes(rows.target + first, n, rows.n_outputs, rows.n_rows, g + first, h + first);
}
void fill_softmax_baseline(const GradientRows& rows, int64_t first, int64_t n, double* g, double* h) {
  fill_softmax(rows, first, n, g, h);
}
WEALD_TARGET_AVX2 void fill_softmax_avx2(const GradientRows& rows, int64_t first, int64_t n, double* g, double* h) {
  fill_softmax(rows, first, n, g, h);
}

void softmax_gradients(const GradientRows& rows, double* g, double* h, Run& run) {
  const auto fill_block = simd_level() == Simd::avx2 ? fill_softmax_avx2 : fill_softmax_baseline;
  parallel_for(run, (rows.n_rows + softmax_block - 1) / softmax_block, [&](int64_t block, int) {
    const int64_t first = block * softmax_block;
    fill_block(rows, first, std::min(softmax_block, rows.n_rows - first), g, h);
  });
}

// Calls f with what makes the loss of an output; false if rows are not on their own under this loss.
template <class F>
bool with_loss(std::string_view loss, std::span<const double> parameters, F&& f) {
  const auto parameter = [&](int64_t at) {
    require(at < static_cast<int64_t>(parameters.size()), "a parameter of the loss is missing");
    return parameters[static_cast<size_t>(at)];
  };
  if (loss == "softmax") return false;
  if (loss == "squared_error") return f([](int64_t) { return SquaredError{}; }), true;
  if (loss == "squared_log_error") return f([](int64_t) { return SquaredLogError{}; }), true;
  if (loss == "pseudo_huber") return f([&](int64_t) { return PseudoHuber{parameter(0)}; }), true;
  if (loss == "absolute_error") return f([](int64_t) { return AbsoluteError{}; }), true;
  if (loss == "quantile") return f([&](int64_t output) { return QuantileError{parameter(output)}; }), true;
  if (loss == "logistic") return f([&](int64_t) { return Logistic{parameter(0)}; }), true;
  if (loss == "hinge") return f([](int64_t) { return Hinge{}; }), true;
  if (loss == "poisson") return f([&](int64_t) { return Poisson{exp(parameter(0))}; }), true;
  if (loss == "gamma") return f([](int64_t) { return Gamma{}; }), true;
  require(loss == "tweedie", "no such loss");
  return f([&](int64_t) { return Tweedie{parameter(0)}; }), true;
}

}  // namespace

void gradients(std::string_view loss, std::span<const double> parameters, const GradientRows& rows, double* g,
               double* h, Run& run) {
  const auto elementwise = [&](const auto& loss_of) { fill_elementwise(loss_of, rows, g, h, run); };
  if (!with_loss(loss, parameters, elementwise)) softmax_gradients(rows, g, h, run);
}

std::unique_ptr<GradientSource> loss_source(std::string_view loss, std::span<const double> parameters, int64_t output,
                                            const double* scores, const double* target) {
  std::unique_ptr<GradientSource> made;
  const bool alone = with_loss(loss, parameters, [&](const auto& loss_of) {
    using Loss = std::invoke_result_t<decltype(loss_of), int64_t>;
    made = std::make_unique<LossSource<Loss>>(loss_of(output), scores, target);
  });
  require(alone, "rows are not on their own under this loss");
  return made;
}

}  // namespace weald
