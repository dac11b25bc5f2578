#include "core/svm/linear/solvers/newton.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/svm/linear/loss.h"
#include "core/svm/linear/solvers/cholesky.h"
#include "core/svm/linear/solvers/gram.h"

namespace weald::linear {

namespace {

constexpr double slope_left = 0.1;         // what a line search leaves of the slope it starts with
constexpr double least_of_slope = 1e-4;    // of what the slope at the start promises
constexpr double newton_rounding = 1e-13;  // of the objective
constexpr int most_searched = 40;
constexpr int64_t most_products = 500;  // of the Hessian, in one step

using Values = std::vector<double>;

// The objective along a direction: value, slope, curvature.
struct Along {
  double value = 0, slope = 0, curvature = 0;

  void add(const Along& other) {
    value += other.value;
    slope += other.slope;
    curvature += other.curvature;
  }
};

class Newton {
 public:
  Newton(const Problem& problem, bool by_products, const Columns* columns, const Limits& limits, Progress& progress,
         Run& run)
      : p_(problem),
        by_products_(by_products),
        columns_(columns),
        limits_(limits),
        progress_(progress),
        run_(run),
        n_(problem.rows.n_rows),
        width_(problem.rows.width()),
        blocks_(n_),
        hessian_(by_products ? 0 : width_) {
    const auto n = static_cast<size_t>(n_), width = static_cast<size_t>(width_);
    for (Values* each : {&f_, &change_f_, &curvature_, &pull_}) each->assign(n, 0.0);
    for (Values* each : {&weight_, &change_, &gradient_}) each->assign(width, 0.0);
  }

  Solution solve() {
    int64_t iteration = 0;
    bool converged = false, stuck = false;
    double first_norm = 0;
    const double share = rarer_share(p_);
    for (;; ++iteration) {
      linearise();
      const double norm = std::sqrt(dot(gradient_.data(), gradient_.data(), width_));
      if (iteration == 0) {
        first_norm = norm;
        floor_ = least_primal * primal_;
      }
      const double gap = primal_ - dual_;
      progress_.tell(iteration, gap / std::max(primal_, floor_));
      const double scale = std::max(primal_, floor_);
      converged = gap <= 0.01 * limits_.tol * scale && (stuck || norm <= limits_.tol * share * first_norm);
      if (converged || stuck || iteration >= limits_.max_iter || limits_.late()) break;
      if (by_products_) {
        conjugate_gradients(norm, first_norm);
      } else {
        factorise(hessian_, run_);
        for (size_t j = 0; j < change_.size(); ++j) change_[j] = -gradient_[j];
        solve_factored(hessian_, change_);
      }
      stuck = !search();
    }
    return solution(iteration, converged);
  }

 private:
  template <class Body>
  void for_blocks(Body body) {
    parallel_for(run_, blocks_.count(), [&](int64_t b, int) { body(b, blocks_.first(b), blocks_.last(b)); });
  }

  // The objective, its gradient, and the Hessian (or what products with it need).
  void linearise() {
    Values losses(static_cast<size_t>(blocks_.count()));
    for_blocks([&](int64_t b, int64_t first, int64_t last) {
      double loss = 0;
      for (int64_t i = first; i < last; ++i) {
        const auto row = static_cast<size_t>(i);
        const RowLoss one = squared_loss(p_, i, f_[row]);
        curvature_[row] = one.curvature;
        pull_[row] = one.pull;
        loss += one.value;
      }
      losses[static_cast<size_t>(b)] = loss;
    });
    if (by_products_) {
      transposed(pull_, gradient_);
    } else {
      const std::span<const double> factors[] = {pull_};
      weighted_gram(p_.rows, curvature_, factors, run_, hessian_, gradient_);
      for (int64_t j = 0; j < width_; ++j) hessian_.row(j)[j] += p_.ridge(j);
    }
    measure(losses);
  }

  // With α = 2Cz₊ the dual objective falls short of the primal by ½‖gradient‖² (equation 12).
  void measure(const Values& losses) {
    double own = 0, gap = 0;
    for (int64_t j = 0; j < width_; ++j) {
      const auto at = static_cast<size_t>(j);
      const double ridge = p_.ridge(j), g = gradient_[at] = ridge * weight_[at] - gradient_[at];
      own += ridge * weight_[at] * weight_[at];
      gap += ridge == 0 ? std::abs(g) * (std::abs(weight_[at]) + 1) : g * g / 2;
    }
    primal_ = own / 2;
    for (const double each : losses) primal_ += each;
    dual_ = primal_ - gap;
  }

  void transposed(const Values& u, Values& out) {
    if (columns_ != nullptr) {
      columns_->transpose_multiply(u, run_, out);
    } else {
      transpose_multiply(p_.rows, u, run_, out);
    }
  }

  // out = (R + Xᵀ D X) v
  void hessian_times(const Values& v, Values& by_row, Values& out) {
    for_blocks([&](int64_t, int64_t first, int64_t last) {
      multiply(p_.rows, v.data(), first, last, by_row.data() + first);
      for (int64_t i = first; i < last; ++i) by_row[static_cast<size_t>(i)] *= curvature_[static_cast<size_t>(i)];
    });
    transposed(by_row, out);
    for (int64_t j = 0; j < width_; ++j) out[static_cast<size_t>(j)] += p_.ridge(j) * v[static_cast<size_t>(j)];
  }

  // The diagonal of the Hessian, by which directions are scaled.
  Values diagonal() const {
    Values found(static_cast<size_t>(width_), 0.0);
    for (int64_t i = 0; i < n_; ++i) {
      const double weight = curvature_[static_cast<size_t>(i)];
      if (weight == 0) continue;
      if (p_.rows.sparse()) {
        for (int64_t k = p_.rows.start[i]; k < p_.rows.start[i + 1]; ++k) {
          found[static_cast<size_t>(p_.rows.index[k])] += weight * p_.rows.value[k] * p_.rows.value[k];
        }
      } else {
        const double* x = p_.rows.row(i);
        for (int64_t j = 0; j < p_.rows.n_columns; ++j) found[static_cast<size_t>(j)] += weight * x[j] * x[j];
      }
      if (p_.rows.bias != 0) found.back() += weight * p_.rows.bias * p_.rows.bias;
    }
    for (int64_t j = 0; j < width_; ++j) {
      double& each = found[static_cast<size_t>(j)];
      each += p_.ridge(j);
      if (!(each > 0)) each = 1;  // a free intercept while no row has a loss
    }
    return found;
  }

  // Solves H change = −gradient to a precision that rises with the progress (equation 13).
  void conjugate_gradients(double norm, double first_norm) {
    const double enough = std::min(0.1, std::sqrt(norm / first_norm)) * norm;
    const Values scale = diagonal();
    Values r(gradient_.size()), p(r.size()), h(r.size()), by_row(static_cast<size_t>(n_));
    std::fill(change_.begin(), change_.end(), 0.0);
    for (size_t j = 0; j < r.size(); ++j) {
      r[j] = -gradient_[j];
      p[j] = r[j] / scale[j];
    }
    double rho = dot(r.data(), p.data(), width_);
    for (int64_t k = 0; k < most_products; ++k) {
      hessian_times(p, by_row, h);
      const double curvature = dot(p.data(), h.data(), width_);
      if (!(curvature > 0)) break;
      const double step = rho / curvature;
      for (size_t j = 0; j < r.size(); ++j) {
        change_[j] += step * p[j];
        r[j] -= step * h[j];
      }
      if (std::sqrt(dot(r.data(), r.data(), width_)) <= enough || limits_.late()) break;
      double next = 0;
      for (size_t j = 0; j < r.size(); ++j) next += r[j] * (r[j] / scale[j]);
      const double beta = next / rho;
      rho = next;
      for (size_t j = 0; j < r.size(); ++j) p[j] = r[j] / scale[j] + beta * p[j];
    }
  }

  // The objective at v + step · change.
  Along along(double step) {
    std::vector<Along> found(static_cast<size_t>(blocks_.count()));
    for_blocks([&](int64_t b, int64_t first, int64_t last) {
      Along sum;
      for (int64_t i = first; i < last; ++i) {
        const double move = change_f_[static_cast<size_t>(i)];
        const RowLoss one = squared_loss(p_, i, f_[static_cast<size_t>(i)] + step * move);
        sum.add({one.value, -one.pull * move, one.curvature * move * move});
      }
      found[static_cast<size_t>(b)] = sum;
    });
    Along all;
    for (int64_t j = 0; j < width_; ++j) {
      const auto at = static_cast<size_t>(j);
      const double v = weight_[at] + step * change_[at], ridge = p_.ridge(j);
      all.value += ridge * v * v / 2;
      all.slope += ridge * v * change_[at];
      all.curvature += ridge * change_[at] * change_[at];
    }
    for (const Along& each : found) all.add(each);
    return all;
  }

  // Goes along the change to about the lowest point; false if rounding leaves nothing to gain.
  bool search() {
    multiply(p_.rows, change_, run_, change_f_);
    const double slope = dot(gradient_.data(), change_.data(), width_);
    if (!(slope < 0)) return false;
    double low = 0, high = std::numeric_limits<double>::infinity(), step = 1;
    Along here = along(step);
    for (int round = 0; round < most_searched; ++round) {
      const bool down = here.value <= primal_ + least_of_slope * step * slope + newton_rounding * primal_;
      if (down && std::abs(here.slope) <= slope_left * std::abs(slope)) break;
      (down && here.slope < 0 ? low : high) = step;
      double next = here.curvature > 0 ? step - here.slope / here.curvature : 2 * step;
      if (!(next > low && next < high)) next = std::isfinite(high) ? (low + high) / 2 : 2 * step;
      if (next == step) break;
      step = next;
      here = along(step);
    }
    if (!(here.value < primal_)) return false;
    for (size_t j = 0; j < weight_.size(); ++j) weight_[j] += step * change_[j];
    for (size_t i = 0; i < f_.size(); ++i) f_[i] += step * change_f_[i];
    return true;
  }

  Solution solution(int64_t iteration, bool converged) {
    Solution found{weight_, pull_, primal_, dual_, iteration, converged};
    to_alpha(p_, found.alpha);
    return found;
  }

  const Problem& p_;
  bool by_products_;
  const Columns* columns_;
  const Limits& limits_;
  Progress& progress_;
  Run& run_;
  int64_t n_, width_;
  RowBlocks blocks_;
  Square hessian_;
  Values weight_, f_;         // v and X v
  Values change_, change_f_;  // the direction, and X times it
  Values gradient_;
  Values curvature_, pull_;  // by row: Σ 2C where z > 0; Σ σ 2C z₊, which is Σ σα
  double primal_ = 0, dual_ = 0, floor_ = 0;
};

}  // namespace

Solution solve_newton(const Problem& problem, bool by_products, const Columns* columns, const Limits& limits,
                      Progress& progress, Run& run) {
  return Newton(problem, by_products, columns, limits, progress, run).solve();
}

}  // namespace weald::linear
