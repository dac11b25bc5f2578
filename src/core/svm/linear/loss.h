// The squared loss of one row as a function of its score f: value, and the two derivatives with their signs turned so
// that they are what solvers add up (docs/methods/linear_svm.md, equation 10).
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/svm/linear/problem.h"

namespace weald::linear {

struct RowLoss {
  double value = 0;      // Σ C z₊²
  double pull = 0;       // Σ σ 2C z₊, minus the derivative; Σ σα of the dual variables that belong to it
  double curvature = 0;  // Σ 2C over the parts with z > 0
};

[[gnu::always_inline]] inline RowLoss squared_loss(const Problem& p, int64_t i, double f) {
  RowLoss loss;
  const double c = p.upper[static_cast<size_t>(i)];
  for (int side = 0; side < p.n_sides(); ++side) {
    const double sign = p.sign(side, i), z = std::max(p.threshold(side, i) - sign * f, 0.0);
    loss.value += c * z * z;
    loss.pull += sign * 2 * c * z;
    loss.curvature += z > 0 ? 2 * c : 0.0;
  }
  return loss;
}

// LIBLINEAR's stopping rules for classes: the rarer one must be heard too.
inline double rarer_share(const Problem& p) {
  if (p.regression) return 1;
  const auto n = static_cast<int64_t>(p.target.size());
  const int64_t positive = std::count_if(p.target.begin(), p.target.end(), [](double y) { return y > 0; });
  return static_cast<double>(std::max<int64_t>(1, std::min(positive, n - positive))) / static_cast<double>(n);
}

// Dual variables as solutions hold them, from Σ σα by row.
inline void to_alpha(const Problem& p, std::span<double> signed_alpha) {
  for (size_t i = 0; i < signed_alpha.size() && !p.regression; ++i) signed_alpha[i] *= p.target[i];
}

}  // namespace weald::linear
