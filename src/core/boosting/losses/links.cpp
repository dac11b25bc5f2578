#include "core/boosting/losses/links.h"

#include <algorithm>

#include "core/base/fused.h"
#include "core/base/mathematics.h"
#include "core/base/simd.h"
#include "core/boosting/losses/softmax.h"

namespace weald {

namespace {

constexpr int64_t value_block = 4096;

struct Exp {
  [[gnu::always_inline]] static double at(double x) { return exp(x); }
};
struct Log {
  [[gnu::always_inline]] static double at(double x) { return log(x); }
};
struct Log1p {
  [[gnu::always_inline]] static double at(double x) { return log1p(x); }
};
struct Sigmoid {
  [[gnu::always_inline]] static double at(double x) { return sigmoid(x); }
};
// Of kernels, which have them in float too.
template <class Float>
struct Tanh {
  [[gnu::always_inline]] static double at(double x) { return tanh(static_cast<Float>(x)); }
};
template <class Float>
struct Exp2OfNegative {
  [[gnu::always_inline]] static double at(double x) { return exp2_of_negative(static_cast<Float>(x)); }
};

template <class Function>
void map_baseline(const double* values, int64_t n, double* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = Function::at(values[i]);
}
template <class Function>
WEALD_TARGET_AVX2 void map_avx2(const double* values, int64_t n, double* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = Function::at(values[i]);
}

template <class Function>
void map(std::span<const double> values, double* out, Run& run) {
  const auto map_block = simd_level() == Simd::avx2 ? map_avx2<Function> : map_baseline<Function>;
  const auto n = static_cast<int64_t>(values.size());
  parallel_for(run, (n + value_block - 1) / value_block, [&](int64_t block, int) {
    const int64_t first = block * value_block;
    map_block(values.data() + first, std::min(value_block, n - first), out + first);
  });
}

void softmax_baseline(const double* scores, int64_t n, int64_t n_classes, double* out) {
  softmax_by_row(scores, n, n_classes, out);
}
WEALD_TARGET_AVX2 void softmax_avx2(const double* scores, int64_t n, int64_t n_classes, double* out) {
  softmax_by_row(scores, n, n_classes, out);
}

}  // namespace

void map_values(std::string_view function, std::span<const double> values, double* out, Run& run) {
  if (function == "exp") return map<Exp>(values, out, run);
  if (function == "log") return map<Log>(values, out, run);
  if (function == "log1p") return map<Log1p>(values, out, run);
  if (function == "sigmoid") return map<Sigmoid>(values, out, run);
  if (function == "tanh") return map<Tanh<double>>(values, out, run);
  if (function == "tanh_float") return map<Tanh<float>>(values, out, run);
  if (function == "exp2_of_negative") return map<Exp2OfNegative<double>>(values, out, run);
  require(function == "exp2_of_negative_float", "no such function");
  map<Exp2OfNegative<float>>(values, out, run);
}

void softmax_rows(const double* scores, int64_t n_rows, int64_t n_classes, double* out, Run& run) {
  const auto softmax_rows_of = simd_level() == Simd::avx2 ? softmax_avx2 : softmax_baseline;
  parallel_for(run, (n_rows + softmax_block - 1) / softmax_block, [&](int64_t block, int) {
    const int64_t first = block * softmax_block;
    const int64_t at = first * n_classes;
    softmax_rows_of(scores + at, std::min(softmax_block, n_rows - first), n_classes, out + at);
  });
}

}  // namespace weald
