// Sequential minimal optimisation of a small problem whose kernel block is at hand (docs/methods/svm.md, D6–D8).
//
// Each step takes the variable i that may rise with the smallest gradient, and of those that may fall the j whose pair
// lowers the objective most to second order: (F_j − F_i)² / (K_ii + K_jj − 2 K_ij). Ties go to the lowest index. The
// pair moves to its optimum or to a bound. Ends when no pair violates by more than `tolerance`.
#pragma once

#include <cstdint>
#include <vector>

#include "core/svm/kernel/tiles.h"

namespace weald::svm {

// A pair that does not curve moves as if it curved this much (LIBSVM's TAU).
constexpr double least_curve = 1e-12;

// Variables are padded to `stride` with ones that cannot move.
template <class Float>
class LocalProblem {
 public:
  // Room for n variables; set(...) each, and fill `kernel` (n, stride).
  void resize(int64_t n);
  void set(int64_t i, double gradient, double beta, double low, double high);

  int64_t size() const { return n_; }
  int64_t stride() const { return stride_; }
  Float* kernel() { return kernel_.data(); }
  double beta(int64_t i) const { return beta_.data()[i]; }
  double gradient(int64_t i) const { return gradient_.data()[i]; }

  // Until no pair violates by more than `tolerance`, or than a share of the largest violation at the start; at most
  // `max_steps`. Returns the number of steps.
  int64_t solve(double tolerance, double share, int64_t max_steps);

 private:
  struct Found {
    int64_t at;
    double value;
  };
  Found smallest_up(const Float* rising, const Float* falling, double step);
  Found best_down(int64_t i, double& largest);
  const Float* inverse_curves(int64_t i);

  int64_t n_ = 0, stride_ = 0;
  Aligned<Float> kernel_, inverse_, diagonal_;
  Aligned<double> gradient_, beta_, low_, high_;
  Aligned<double> up_, down_;  // added to gradients: 0 for variables that may rise (fall), else ∞ (−∞)
  std::vector<uint8_t> has_inverse_;
};

}  // namespace weald::svm
