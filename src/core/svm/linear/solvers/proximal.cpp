#include <algorithm>
#include <cmath>
#include <vector>

#include "core/svm/linear/loss.h"
#include "core/svm/linear/solvers/gram.h"
#include "core/svm/linear/solvers/l1.h"
#include "core/svm/linear/solvers/l1_step.h"

namespace weald::linear {

namespace {

constexpr double model_share = 0.01;  // of the violations now: how well a model is minimised
constexpr int most_inner = 1000;      // passes over the columns of one model
constexpr int most_proximal_halvings = 40;
constexpr double little = 1e-12;             // of a column's curvature, added to it
constexpr double proximal_rounding = 1e-14;  // of the objective

using Values = std::vector<double>;

class Proximal {
 public:
  Proximal(const Problem& problem, const Limits& limits, Progress& progress, Run& run)
      : p_(problem),
        limits_(limits),
        progress_(progress),
        run_(run),
        n_(problem.rows.n_rows),
        width_(problem.rows.width()),
        blocks_(n_),
        hessian_(width_) {
    for (Values* each : {&f_, &change_f_, &curvature_, &pull_}) each->assign(static_cast<size_t>(n_), 0.0);
    for (Values* each : {&weight_, &change_, &gradient_}) each->assign(static_cast<size_t>(width_), 0.0);
  }

  Solution solve() {
    int64_t iteration = 0;
    bool converged = false, stuck = false;
    double first = 0, dual = 0;
    const double share = rarer_share(p_);
    for (;; ++iteration) {
      const double gain = linearise();
      const double left = violations();
      if (iteration == 0) {
        first = left;
        floor_ = least_primal * primal_;
      }
      dual = dual_objective(gain);
      const double scale = std::max(primal_, floor_);
      progress_.tell(iteration, (primal_ - dual) / scale);
      const bool small_violations = left <= limits_.tol * share * first;
      // Where rounding leaves nothing to gain, one mark of the two is enough: the gap has errors of its own.
      converged = stuck ? small_violations || primal_ - dual <= limits_.tol * scale
                        : small_violations && primal_ - dual <= 0.01 * limits_.tol * scale;
      if (converged || stuck || iteration >= limits_.max_iter || limits_.late()) break;
      minimise_model(left);
      stuck = !search();
    }
    Solution found{weight_, pull_, primal_, dual, iteration, converged};
    to_alpha(p_, found.alpha);
    return found;
  }

 private:
  double penalty(double step) const {
    double sum = 0;
    for (int64_t j = 0; j < width_; ++j) {
      sum += p_.ridge(j) * std::abs(weight_[static_cast<size_t>(j)] + step * change_[static_cast<size_t>(j)]);
    }
    return sum;
  }

  // The objective, the derivative and Hessian of the loss; returns Σ tα.
  double linearise() {
    Values losses(static_cast<size_t>(blocks_.count())), gains(losses.size());
    parallel_for(run_, blocks_.count(), [&](int64_t b, int) {
      double loss = 0, gain = 0;
      for (int64_t i = blocks_.first(b); i < blocks_.last(b); ++i) {
        const auto row = static_cast<size_t>(i);
        const RowLoss one = squared_loss(p_, i, f_[row]);
        loss += one.value;
        gain += 2 * one.value + f_[row] * one.pull;  // t = z + σf, and Σ zα = Σ 2C z²
        curvature_[row] = one.curvature;
        pull_[row] = one.pull;
      }
      losses[static_cast<size_t>(b)] = loss;
      gains[static_cast<size_t>(b)] = gain;
    });
    const std::span<const double> factors[] = {pull_};
    weighted_gram(p_.rows, curvature_, factors, run_, hessian_, gradient_);
    for (double& each : gradient_) each = -each;
    for (int64_t j = 0; j < width_; ++j) {  // both triangles: columns are read like rows
      for (int64_t k = 0; k < j; ++k) hessian_.row(k)[j] = hessian_.row(j)[k];
    }
    double gain = 0;
    loss_ = 0;
    for (const double each : losses) loss_ += each;
    for (const double each : gains) gain += each;
    std::fill(change_.begin(), change_.end(), 0.0);
    primal_ = loss_ + penalty(0);
    return gain;
  }

  double violations() const {
    double sum = 0;
    for (int64_t j = 0; j < width_; ++j) {
      sum += violation(gradient_[static_cast<size_t>(j)], weight_[static_cast<size_t>(j)], p_.ridge(j));
    }
    return sum;
  }

  // The dual objective of the best multiple of α that keeps |Σ σαx_j| ≤ 1 (equation 21).
  double dual_objective(double gain) const {
    double largest = 0, open = 0;
    for (int64_t j = 0; j < width_; ++j) {
      const double g = std::abs(gradient_[static_cast<size_t>(j)]);
      if (p_.ridge(j) == 0) {
        open = g * (std::abs(weight_[static_cast<size_t>(j)]) + 1);
      } else {
        largest = std::max(largest, g);
      }
    }
    const double most = largest > 1 ? 1 / largest : 1.0;
    const double best = loss_ > 0 ? std::clamp((gain - open) / (2 * loss_), 0.0, most) : most;
    return best * (gain - open) - best * best * loss_;  // Σ α²/4C = Σ C z²
  }

  // Columns in turn, until the quadratic model of the loss plus the penalty is at its least.
  void minimise_model(double left) {
    Values slope(gradient_);  // of the model, at the change so far
    for (int round = 0; round < most_inner; ++round) {
      run_.check();
      double open = 0;
      for (int64_t j = 0; j < width_; ++j) {
        const auto at = static_cast<size_t>(j);
        const double* row = hessian_.row(j);
        const double h = row[j] * (1 + little), v = weight_[at] + change_[at];
        double step = -v;  // a column without curvature has no slope either
        if (h > 0) step = shrunken_step(slope[at], h, v, p_.ridge(j));
        open += violation(slope[at], v, p_.ridge(j));
        if (step == 0) continue;
        change_[at] += step;
        for (int64_t k = 0; k < width_; ++k) slope[static_cast<size_t>(k)] += step * row[k];
      }
      if (open <= model_share * left) break;
    }
  }

  // Shortens the change until it lowers the objective enough; false if rounding leaves nothing to gain.
  bool search() {
    multiply(p_.rows, change_, run_, change_f_);
    const double promised = dot(gradient_.data(), change_.data(), width_) + penalty(1) - penalty(0);
    if (!(promised < 0)) return false;
    double step = 1;
    for (int round = 0; round < most_proximal_halvings; ++round, step /= 2) {
      const double value = loss_along(step) + penalty(step);
      if (value > primal_ + least_descent * step * promised + proximal_rounding * primal_) continue;
      if (!(value < primal_)) return false;
      for (size_t j = 0; j < weight_.size(); ++j) weight_[j] += step * change_[j];
      for (size_t i = 0; i < f_.size(); ++i) f_[i] += step * change_f_[i];
      return true;
    }
    return false;
  }

  double loss_along(double step) {
    Values losses(static_cast<size_t>(blocks_.count()));
    parallel_for(run_, blocks_.count(), [&](int64_t b, int) {
      double loss = 0;
      for (int64_t i = blocks_.first(b); i < blocks_.last(b); ++i) {
        const auto row = static_cast<size_t>(i);
        loss += squared_loss(p_, i, f_[row] + step * change_f_[row]).value;
      }
      losses[static_cast<size_t>(b)] = loss;
    });
    double sum = 0;
    for (const double each : losses) sum += each;
    return sum;
  }

  const Problem& p_;
  const Limits& limits_;
  Progress& progress_;
  Run& run_;
  int64_t n_, width_;
  RowBlocks blocks_;
  Square hessian_;
  Values weight_, f_, change_, change_f_, gradient_, curvature_, pull_;
  double loss_ = 0, primal_ = 0, floor_ = 0;
};

}  // namespace

Solution solve_proximal(const Problem& problem, const Limits& limits, Progress& progress, Run& run) {
  return Proximal(problem, limits, progress, run).solve();
}

}  // namespace weald::linear
