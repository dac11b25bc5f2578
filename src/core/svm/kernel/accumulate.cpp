#include "core/svm/kernel/accumulate.h"

#include <cmath>
#include <cstring>

#include "core/base/fused.h"
#include "core/base/simd.h"

namespace weald::svm {

namespace {

template <class T, int Bytes>
struct Vector {
  typedef T type [[gnu::vector_size(Bytes)]];
};

// A cache line of floats at a time: its sums stay in registers while the rows pass.
template <class Float, int Bytes>
[[gnu::always_inline]] inline void accumulate_all(const Float* const* rows, const double* factors, int64_t n_rows,
                                                  int64_t n, double* g) {
  using D = typename Vector<double, Bytes>::type;
  constexpr int64_t lanes = Bytes / 8;
  using F = typename Vector<Float, static_cast<int>(lanes * sizeof(Float))>::type;
  constexpr int64_t vectors = 4;
  int64_t j = 0;
  for (; j + vectors * lanes <= n; j += vectors * lanes) {
    D sums[vectors];
    std::memcpy(sums, g + j, sizeof sums);
    for (int64_t r = 0; r < n_rows; ++r) {
      const D factor = factors[r] - D{};
#pragma GCC unroll 4
      for (int64_t v = 0; v < vectors; ++v) {
        F value;
        std::memcpy(&value, rows[r] + j + v * lanes, sizeof value);
        sums[v] = fused<double>(factor, __builtin_convertvector(value, D), sums[v]);
      }
    }
    std::memcpy(g + j, sums, sizeof sums);
  }
  for (; j < n; ++j) {
    double sum = g[j];
    for (int64_t r = 0; r < n_rows; ++r) sum = std::fma(factors[r], static_cast<double>(rows[r][j]), sum);
    g[j] = sum;
  }
}

template <class Float>
void accumulate_baseline(const Float* const* rows, const double* factors, int64_t n_rows, int64_t n, double* g) {
  accumulate_all<Float, 16>(rows, factors, n_rows, n, g);
}
template <class Float>
WEALD_TARGET_AVX2 void accumulate_avx2(const Float* const* rows, const double* factors, int64_t n_rows, int64_t n,
                                       double* g) {
  accumulate_all<Float, 32>(rows, factors, n_rows, n, g);
}

}  // namespace

void accumulate(const float* const* rows, const double* factors, int64_t n_rows, int64_t n, double* g) {
  (simd_level() == Simd::avx2 ? accumulate_avx2<float> : accumulate_baseline<float>)(rows, factors, n_rows, n, g);
}
void accumulate(const double* const* rows, const double* factors, int64_t n_rows, int64_t n, double* g) {
  (simd_level() == Simd::avx2 ? accumulate_avx2<double> : accumulate_baseline<double>)(rows, factors, n_rows, n, g);
}

}  // namespace weald::svm
