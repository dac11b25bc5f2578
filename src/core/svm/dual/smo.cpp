#include "core/svm/dual/smo.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/base/simd.h"
#include "core/svm/dual/problem.h"

namespace weald::svm {

namespace {

constexpr int64_t chains = 4;        // independent searches: a comparison need not wait for the one before
constexpr int64_t pad = 4 * chains;  // of doubles in the widest vectors

template <class T, int Bytes>
struct Vector {
  typedef T type [[gnu::vector_size(Bytes)]];
};

struct Best {
  double value;
  int64_t at;
};

// The best of all lanes; of equal ones the lowest index.
template <int64_t lanes, class D, class I, class Better>
[[gnu::always_inline]] inline Best best_lane(const D* values, const I* at, Better better) {
  double value[chains * lanes];
  int64_t index[chains * lanes];
  std::memcpy(value, values, sizeof value);
  std::memcpy(index, at, sizeof index);
  Best best{value[0], index[0]};
  for (int64_t l = 1; l < chains * lanes; ++l) {
    if (better(value[l], best.value) || (value[l] == best.value && index[l] < best.at)) best = {value[l], index[l]};
  }
  return best;
}

template <class D, class Float>
[[gnu::always_inline]] inline D widened(const Float* from) {
  typename Vector<Float, static_cast<int>(sizeof(D) / 8 * sizeof(Float))>::type narrow;
  std::memcpy(&narrow, from, sizeof narrow);
  return __builtin_convertvector(narrow, D);
}

template <int Bytes>
struct Lanes {
  using D = typename Vector<double, Bytes>::type;
  using I = typename Vector<int64_t, Bytes>::type;
  static constexpr int64_t n = Bytes / 8;

  [[gnu::always_inline]] static D load(const double* from) {
    D value;
    std::memcpy(&value, from, Bytes);
    return value;
  }
  // The index of each lane of each chain.
  [[gnu::always_inline]] static void first_indices(I* at) {
    for (int64_t c = 0; c < chains; ++c) {
      for (int64_t l = 0; l < n; ++l) at[c][l] = c * n + l;
    }
  }
};

// Moves every gradient by step · (rising − falling), and finds the smallest of those that may rise.
template <class Float, int Bytes>
[[gnu::always_inline]] inline Best move_and_find(double* gradient, const double* up, const Float* rising,
                                                 const Float* falling, double step, int64_t n) {
  using L = Lanes<Bytes>;
  using D = typename L::D;
  using I = typename L::I;
  D best[chains];
  I at[chains], index[chains];
  L::first_indices(index);
  for (int64_t c = 0; c < chains; ++c) {
    best[c] = D{} + infinity;
    at[c] = index[c];
  }
  for (int64_t k = 0; k < n; k += chains * L::n) {
#pragma GCC unroll 4
    for (int64_t c = 0; c < chains; ++c) {
      const int64_t from = k + c * L::n;
      const D moved = L::load(gradient + from) + step * (widened<D>(rising + from) - widened<D>(falling + from));
      std::memcpy(gradient + from, &moved, Bytes);
      const D value = moved + L::load(up + from);
      const auto better = value < best[c];
      best[c] = better ? value : best[c];
      at[c] = better ? index[c] : at[c];
      index[c] += chains * L::n;
    }
  }
  return best_lane<L::n>(best, at, [](double a, double b) { return a < b; });
}

// Of the variables that may fall, the one of largest (F − F_i)² · inverse curve; `largest` is the largest F − F_i.
template <class Float, int Bytes>
[[gnu::always_inline]] inline Best find_partner(const double* gradient, const double* down, const Float* inverse,
                                                double lowest, int64_t n, double& largest) {
  using L = Lanes<Bytes>;
  using D = typename L::D;
  using I = typename L::I;
  D best[chains], widest[chains];
  I at[chains], index[chains];
  L::first_indices(index);
  for (int64_t c = 0; c < chains; ++c) {
    best[c] = D{} - 1.0;
    widest[c] = D{} - infinity;
    at[c] = index[c];
  }
  for (int64_t k = 0; k < n; k += chains * L::n) {
#pragma GCC unroll 4
    for (int64_t c = 0; c < chains; ++c) {
      const int64_t from = k + c * L::n;
      const D violation = (L::load(gradient + from) + L::load(down + from)) - lowest;
      widest[c] = violation > widest[c] ? violation : widest[c];
      const D gain = violation * violation * widened<D>(inverse + from);
      const auto better = (violation > 0.0) & (gain > best[c]);
      best[c] = better ? gain : best[c];
      at[c] = better ? index[c] : at[c];
      index[c] += chains * L::n;
    }
  }
  double wide[chains * L::n];
  std::memcpy(wide, widest, sizeof wide);
  largest = *std::max_element(wide, wide + chains * L::n);
  return best_lane<L::n>(best, at, [](double a, double b) { return a > b; });
}

template <class Float>
Best move_baseline(double* gradient, const double* up, const Float* rising, const Float* falling, double step,
                   int64_t n) {
  return move_and_find<Float, 16>(gradient, up, rising, falling, step, n);
}
template <class Float>
WEALD_TARGET_AVX2 Best move_avx2(double* gradient, const double* up, const Float* rising, const Float* falling,
                                 double step, int64_t n) {
  return move_and_find<Float, 32>(gradient, up, rising, falling, step, n);
}
template <class Float>
Best partner_baseline(const double* gradient, const double* down, const Float* inverse, double lowest, int64_t n,
                      double& largest) {
  return find_partner<Float, 16>(gradient, down, inverse, lowest, n, largest);
}
template <class Float>
WEALD_TARGET_AVX2 Best partner_avx2(const double* gradient, const double* down, const Float* inverse, double lowest,
                                    int64_t n, double& largest) {
  return find_partner<Float, 32>(gradient, down, inverse, lowest, n, largest);
}

template <class T>
void grow(Aligned<T>& memory, int64_t n) {
  if (static_cast<int64_t>(memory.size()) < n) memory = Aligned<T>(static_cast<size_t>(n));
}

}  // namespace

template <class Float>
void LocalProblem<Float>::resize(int64_t n) {
  n_ = n;
  const int64_t wanted = padded(n, pad);
  if (wanted != stride_) {
    stride_ = wanted;
    kernel_ = Aligned<Float>(static_cast<size_t>(n * stride_));
  }
  grow(kernel_, n * stride_);
  grow(inverse_, n * stride_);
  grow(diagonal_, stride_);
  for (auto* array : {&gradient_, &beta_, &low_, &high_, &up_, &down_}) grow(*array, stride_);
  for (int64_t i = 0; i < stride_; ++i) set(i, 0.0, 0.0, 0.0, 0.0);
  has_inverse_.assign(static_cast<size_t>(n), 0);
}

template <class Float>
void LocalProblem<Float>::set(int64_t i, double gradient, double beta, double low, double high) {
  gradient_.data()[i] = gradient;
  beta_.data()[i] = beta;
  low_.data()[i] = low;
  high_.data()[i] = high;
  up_.data()[i] = beta < high ? 0.0 : infinity;
  down_.data()[i] = beta > low ? 0.0 : -infinity;
}

template <class Float>
const Float* LocalProblem<Float>::inverse_curves(int64_t i) {
  Float* inverse = inverse_.data() + i * stride_;
  if (has_inverse_[static_cast<size_t>(i)] != 0) return inverse;
  has_inverse_[static_cast<size_t>(i)] = 1;
  const Float* row = kernel_.data() + i * stride_;
  const Float* diagonal = diagonal_.data();
  const Float own = diagonal[i];
  for (int64_t k = 0; k < stride_; ++k) {
    const Float curve = (own + diagonal[k]) - Float{2} * row[k];
    inverse[k] = Float{1} / (curve > 0 ? curve : static_cast<Float>(least_curve));
  }
  return inverse;
}

template <class Float>
typename LocalProblem<Float>::Found LocalProblem<Float>::smallest_up(const Float* rising, const Float* falling,
                                                                     double step) {
  const auto move = simd_level() == Simd::avx2 ? move_avx2<Float> : move_baseline<Float>;
  const Best best = move(gradient_.data(), up_.data(), rising, falling, step, stride_);
  return {best.at, best.value};
}

template <class Float>
typename LocalProblem<Float>::Found LocalProblem<Float>::best_down(int64_t i, double& largest) {
  const auto partner = simd_level() == Simd::avx2 ? partner_avx2<Float> : partner_baseline<Float>;
  const Best best = partner(gradient_.data(), down_.data(), inverse_curves(i), gradient_.data()[i], stride_, largest);
  return {best.at, best.value};
}

template <class Float>
int64_t LocalProblem<Float>::solve(double tolerance, double share, int64_t max_steps) {
  for (int64_t i = 0; i < n_; ++i) diagonal_.data()[i] = kernel_.data()[i * stride_ + i];
  const Float* rising = kernel_.data();
  const Float* falling = kernel_.data();
  double step = 0.0;
  for (int64_t n_steps = 0;; ++n_steps) {
    const Found i = smallest_up(rising, falling, step);
    if (!(i.value < infinity)) return n_steps;
    double largest;
    const Found j = best_down(i.at, largest);
    if (n_steps == 0) tolerance = std::max(tolerance, share * largest);
    if (!(largest > tolerance) || n_steps >= max_steps) return n_steps;
    rising = kernel_.data() + i.at * stride_;
    falling = kernel_.data() + j.at * stride_;
    const double curve = (double{rising[i.at]} + double{falling[j.at]}) - 2.0 * double{rising[j.at]};
    const double wanted = (gradient_.data()[j.at] - gradient_.data()[i.at]) / (curve > 0.0 ? curve : least_curve);
    double* beta = beta_.data();
    const double room_up = high_.data()[i.at] - beta[i.at];
    const double room_down = beta[j.at] - low_.data()[j.at];
    step = std::min({wanted, room_up, room_down});
    beta[i.at] = step == room_up ? high_.data()[i.at] : beta[i.at] + step;
    beta[j.at] = step == room_down ? low_.data()[j.at] : beta[j.at] - step;
    for (const int64_t k : {i.at, j.at}) {
      up_.data()[k] = beta[k] < high_.data()[k] ? 0.0 : infinity;
      down_.data()[k] = beta[k] > low_.data()[k] ? 0.0 : -infinity;
    }
  }
}

template class LocalProblem<float>;
template class LocalProblem<double>;

}  // namespace weald::svm
