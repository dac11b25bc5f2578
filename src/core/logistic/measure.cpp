#include "core/logistic/measure.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/svm/linear/solvers/l1_step.h"

namespace weald::logistic {

namespace {

// What one weight adds to the gap: λ|w| + ½ρw² + wz + (|z| − λ)₊² / 2ρ, written so that a gap of 0 comes out as 0.
double gap_of(double w, double z, double lasso, double ridge) {
  if (w == 0) {
    const double beyond = std::max(std::abs(z) - lasso, 0.0);
    return beyond * beyond / (2 * ridge);
  }
  const double moved = z + std::copysign(lasso, w);
  if (lasso == 0 || moved * w < 0) {
    const double g = ridge * w + moved;
    return g * g / (2 * ridge);
  }
  return w * (ridge * w / 2 + moved);
}

}  // namespace

Distance distance(const Problem& p, const Values& weight, const Values& gradient) {
  Distance found;
  const int64_t stride = p.stride();
  for (int64_t j = 0; j < p.rows.width(); ++j) {
    for (int64_t k = 0; k < p.n_lines; ++k) {
      const auto at = static_cast<size_t>(j * stride + k);
      const double w = weight[at], z = gradient[at];
      double open = std::abs(z);
      if (p.penalised(j)) {
        open = linear::violation(z + p.ridge * w, w, p.lasso);
        found.penalty += p.lasso * std::abs(w) + p.ridge * w * w / 2;
        if (p.ridge > 0) found.gap += gap_of(w, z, p.lasso, p.ridge);
      } else {
        found.gap += open * (std::abs(w) + 1);  // what is left of Σ derivatives = 0
      }
      found.violation = std::max(found.violation, open);
      found.sum += open;
    }
  }
  if (p.ridge == 0) found.gap = std::numeric_limits<double>::quiet_NaN();
  return found;
}

double gap_of_lasso(const Problem& p, const Passes& passes, const Values& weight, const Values& gradient,
                    double objective) {
  double largest = 0, open = 0;
  const int64_t stride = p.stride();
  for (int64_t j = 0; j < p.rows.width(); ++j) {
    for (int64_t k = 0; k < p.n_lines; ++k) {
      const auto at = static_cast<size_t>(j * stride + k);
      if (p.penalised(j)) {
        largest = std::max(largest, std::abs(gradient[at]));
      } else {
        open += std::abs(gradient[at]) * (std::abs(weight[at]) + 1);
      }
    }
  }
  const double s = largest > p.lasso ? p.lasso / largest : 1.0;
  return std::max(objective - passes.conjugate(weight, s), 0.0) + open;
}

}  // namespace weald::logistic
