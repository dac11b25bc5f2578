#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "core/logistic/curvature.h"
#include "core/logistic/measure.h"
#include "core/logistic/passes.h"
#include "core/logistic/solvers.h"
#include "core/svm/linear/solvers/cholesky.h"

namespace weald::logistic {

namespace {

constexpr double rows_per_column = 40;   // of a sample
constexpr int64_t most_products = 500;   // in one step
constexpr int64_t few_products = 4;      // up to here a Hessian of an earlier place will do
constexpr int64_t many_products = 12;    // from here on the sample was too small
constexpr double roughest = 0.1;         // residual of a step, of the gradient
constexpr double sample_tol = 10;        // of the solution that a sample starts from
constexpr double part_tol = 30;          // of the one that a part of a sample starts from
constexpr int64_t part_of_rows = 4;      // every fourth row
constexpr int64_t least_of_part = 1000;  // rows,
constexpr int64_t rows_per_weight = 5;   // and so many for each
constexpr double moving = 0.5;           // scores that still move so much at the end have no end
constexpr double small_loss = 0.01;
constexpr int most_farther = 8;  // steps to find that out

// What conjugate gradients divide by: the Hessian of a sample, of each line alone or of all together, or the diagonal.
class Scaling {
 public:
  Scaling(const Problem& problem, Passes& passes, Run& run) : p_(problem), passes_(passes), run_(run) {
    coupled_ = fits_coupled(p_);
    take(rows_to_sample(p_, rows_per_column));
  }

  const Sample* sample() const { return sample_.get(); }
  // Whether a step with it is Newton's own.
  bool exact() const { return sample_ != nullptr && sample_->whole() && coupled_; }

  // A larger sample from now on, if that one helped too little.
  void enlarge() {
    if (sample_ != nullptr && !sample_->whole()) take(4 * sample_->problem().rows.n_rows);
  }

  void prepare(const Values& weight) {
    if (sample_ == nullptr) {
      diagonal_ = passes_.diagonal();
      for (int64_t j = 0; j < p_.rows.width(); ++j) {
        for (int64_t k = 0; k < p_.stride(); ++k) {
          double& each = diagonal_[static_cast<size_t>(j * p_.stride() + k)];
          if (p_.penalised(j)) each += p_.ridge;
          if (!(each > 0)) each = 1;
        }
      }
      return;
    }
    if (!sample_->whole()) {
      Values unused(weight.size());
      few_->evaluate(weight, unused);
    }
    hessian(sample_->problem(), sample_->whole() ? passes_ : *few_, coupled_, run_, matrices_);
    if (coupled_) hold_shifts(p_, matrices_.front());
    for (linear::Square& each : matrices_) linear::factorise(each, run_);
  }

  // Takes over what the solver of the sample looked at last; false if that was nothing.
  bool adopt(Scaling& other) {
    matrices_.swap(other.matrices_);
    return !matrices_.empty();
  }

  // out = M⁻¹ r
  void divide(const Values& r, Values& out) const {
    const int64_t width = p_.rows.width(), stride = p_.stride();
    if (sample_ == nullptr) {
      for (size_t at = 0; at < r.size(); ++at) out[at] = r[at] / diagonal_[at];
      return;
    }
    std::fill(out.begin(), out.end(), 0.0);
    const int64_t at_once = coupled_ ? p_.n_lines : 1;
    Values line(static_cast<size_t>(width * at_once));
    for (int64_t first = 0; first < p_.n_lines; first += at_once) {
      for (int64_t k = 0; k < at_once; ++k) {
        for (int64_t j = 0; j < width; ++j) {
          line[static_cast<size_t>(k * width + j)] = r[static_cast<size_t>(j * stride + first + k)];
        }
      }
      linear::solve_factored(matrices_[static_cast<size_t>(coupled_ ? 0 : first)], line);
      for (int64_t k = 0; k < at_once; ++k) {
        for (int64_t j = 0; j < width; ++j) {
          out[static_cast<size_t>(j * stride + first + k)] = line[static_cast<size_t>(k * width + j)];
        }
      }
    }
  }

 private:
  void take(int64_t n_rows) {
    if (n_rows == 0) return;
    sample_ = std::make_unique<Sample>(p_, n_rows);
    few_ = sample_->whole() ? nullptr : std::make_unique<Passes>(sample_->problem(), nullptr, run_);
  }

  const Problem& p_;
  Passes& passes_;
  Run& run_;
  bool coupled_ = false;
  std::unique_ptr<Sample> sample_;
  std::unique_ptr<Passes> few_;
  std::vector<linear::Square> matrices_;
  Values diagonal_;
};

class Newton {
 public:
  Newton(const Problem& problem, const linear::Columns* columns, const linear::Limits& limits,
         linear::Progress& progress, Run& run)
      : p_(problem),
        limits_(limits),
        progress_(progress),
        run_(run),
        size_(problem.n_values()),
        total_(problem.total_cost()),
        passes_(problem, columns, run),
        scaling_(problem, passes_, run) {
    for (Values* each : {&weight_, &gradient_, &loss_gradient_, &change_}) {
      each->assign(static_cast<size_t>(size_), 0.0);
    }
  }

  Solution solve() {
    begin();
    loss_ = passes_.evaluate(weight_, loss_gradient_);
    int64_t iteration = 0;
    int farther = 0;
    bool converged = false, stuck = false, separable = false;
    for (;; ++iteration) {
      measure();
      progress_.tell(iteration, told());
      const bool small = distance_.violation <= limits_.tol * total_;
      const bool near = p_.no_penalty() ? decrement_ <= goal() && iteration > 0 : distance_.gap <= goal();
      converged = stuck ? small || near : small && near;  // where rounding leaves nothing to gain, one is enough
      if (converged && p_.no_penalty() && moved_ > moving) {
        separable = stuck || farther++ >= most_farther;
        converged = separable;
      }
      if (converged || stuck || iteration >= limits_.max_iter || limits_.late()) break;
      direction();
      stuck = !search();
    }
    separable = separable || (p_.no_penalty() && !converged && moved_ > moving);
    Solution found{weight_, objective(), distance_.gap, distance_.violation / total_, iteration, converged, separable};
    return found;
  }

 private:
  double objective() const { return loss_ + distance_.penalty; }
  // What the gap may be. Without a penalty losses may vanish, and then it is measured against a small one of each row.
  double goal() const {
    return gap_share * limits_.tol * (p_.no_penalty() ? std::max(objective(), small_loss * total_) : objective());
  }
  double told() const { return (p_.no_penalty() ? distance_.violation / total_ : distance_.gap / objective()); }

  // From what the caller gives; or from the solution of a sample, whose Hessian there will do for the first steps; or,
  // where all rows are looked at, from the solution of a part of them, which itself starts from one of its parts.
  void begin() {
    if (!p_.start.empty()) {
      weight_.assign(p_.start.begin(), p_.start.end());
      return;
    }
    const Sample* sample = scaling_.sample();
    if (sample == nullptr || p_.no_penalty()) return;
    if (!sample->whole()) {
      Newton few(sample->problem(), nullptr, roughly(sample_tol), unheard_, run_);
      weight_ = few.solve().weight;
      if (scaling_.adopt(few.scaling_)) products_ = 0;
      return;
    }
    const int64_t n_rows = p_.rows.n_rows / part_of_rows;
    if (n_rows < std::max(least_of_part, rows_per_weight * p_.rows.width() * p_.n_lines)) return;
    const Sample part(p_, n_rows);
    weight_ = Newton(part.problem(), nullptr, roughly(part_tol), unheard_, run_).solve().weight;
  }

  const linear::Limits& roughly(double tol) {
    rough_ = limits_;
    rough_.tol = std::max(limits_.tol, tol);
    rough_.max_iter = std::min<int64_t>(limits_.max_iter, 20);
    return rough_;
  }

  void measure() {
    distance_ = distance(p_, weight_, loss_gradient_);
    for (int64_t j = 0; j < p_.rows.width(); ++j) {
      const double ridge = p_.penalised(j) ? p_.ridge : 0.0;
      for (int64_t k = 0; k < p_.stride(); ++k) {
        const auto at = static_cast<size_t>(j * p_.stride() + k);
        gradient_[at] = loss_gradient_[at] + ridge * weight_[at];
      }
    }
  }

  void direction() {
    if (scaling_.exact() || scaling_.sample() == nullptr || products_ > few_products) scaling_.prepare(weight_);
    Values r(gradient_.size()), z(r.size());
    for (size_t at = 0; at < r.size(); ++at) r[at] = -gradient_[at];
    if (scaling_.exact()) {
      scaling_.divide(r, change_);
    } else {
      products_ = conjugate_gradients(r, z);
      if (products_ > many_products) scaling_.enlarge();
    }
    decrement_ = -linear::dot(gradient_.data(), change_.data(), size_) / 2;
    if (p_.no_penalty()) moved_ = passes_.largest_score(change_);
  }

  // Solves H change = r to a precision that rises with the progress; returns the products it took.
  int64_t conjugate_gradients(Values& r, Values& z) {
    std::fill(change_.begin(), change_.end(), 0.0);
    scaling_.divide(r, z);
    Values p(z), h(z.size());
    double rho = linear::dot(r.data(), z.data(), size_);
    const double begun = rho;
    if (first_ == 0) first_ = begun;
    const double share = std::max(std::min(roughest, std::sqrt(std::sqrt(begun / first_))),
                                  std::min(roughest, std::sqrt(0.001 * goal() / begun)));
    int64_t k = 0;
    while (k < most_products) {
      passes_.product(p, h);
      for (int64_t j = 0; j < p_.rows.width(); ++j) {
        const double ridge = p_.penalised(j) ? p_.ridge : 0.0;
        for (int64_t line = 0; line < p_.stride(); ++line) {
          const auto at = static_cast<size_t>(j * p_.stride() + line);
          h[at] += ridge * p[at];
        }
      }
      const double curvature = linear::dot(p.data(), h.data(), size_);
      if (!(curvature > 0)) break;
      const double step = rho / curvature;
      for (size_t at = 0; at < r.size(); ++at) {
        change_[at] += step * p[at];
        r[at] -= step * h[at];
      }
      scaling_.divide(r, z);
      const double next = linear::dot(r.data(), z.data(), size_);
      ++k;
      if (!(next > share * share * begun) || limits_.late()) break;
      const double beta = next / rho;
      rho = next;
      for (size_t at = 0; at < r.size(); ++at) p[at] = z[at] + beta * p[at];
    }
    return k;
  }

  // Goes along the change, shortened until the objective falls; false if rounding leaves nothing to gain.
  bool search() {
    const double before = objective(), slope = linear::dot(gradient_.data(), change_.data(), size_);
    if (!(slope < 0)) return false;
    const double open = distance_.violation;
    Values trial(weight_.size()), gradient(weight_.size());
    double step = 1;
    for (int round = 0; round < most_shortened; ++round) {
      for (size_t at = 0; at < trial.size(); ++at) trial[at] = weight_[at] + step * change_[at];
      const double loss = passes_.evaluate(trial, gradient);
      const Distance there = distance(p_, trial, gradient);
      const double value = loss + there.penalty;
      if (value <= before + least_of_slope * step * slope + rounding * before) {
        if (!(value < before) && !(there.violation < open)) break;
        weight_.swap(trial);
        loss_gradient_.swap(gradient);
        loss_ = loss;
        distance_ = there;
        return true;
      }
      const double bend = (value - before - step * slope) / (step * step);
      const double best = bend > 0 && std::isfinite(bend) ? -slope / (2 * bend) : 0.0;
      step = std::clamp(best, 0.1 * step, 0.5 * step);
    }
    loss_ = passes_.evaluate(weight_, loss_gradient_);
    return false;
  }

  const Problem& p_;
  const linear::Limits& limits_;
  linear::Progress& progress_;
  Run& run_;
  int64_t size_;
  double total_;
  Passes passes_;
  Scaling scaling_;
  Values weight_, gradient_, loss_gradient_, change_;
  Distance distance_;
  double loss_ = 0;
  int64_t products_ = most_products;  // of the last step
  double first_ = 0;                  // squared length of the first gradient, as conjugate gradients measure it
  double decrement_ = 0;              // half of gᵀ H⁻¹ g of the last step
  double moved_ = 0;                  // the largest change of a score by it
  linear::Limits rough_;              // of the solution to start from
  linear::Progress unheard_;
};

}  // namespace

Solution solve_newton(const Problem& problem, const linear::Columns* columns, const linear::Limits& limits,
                      linear::Progress& progress, Run& run) {
  return Newton(problem, columns, limits, progress, run).solve();
}

}  // namespace weald::logistic
