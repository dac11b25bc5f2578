#include <algorithm>
#include <cmath>
#include <memory>

#include "core/logistic/curvature.h"
#include "core/logistic/lasso.h"
#include "core/svm/linear/solvers/cholesky.h"
#include "core/svm/linear/solvers/l1_step.h"

namespace weald::logistic {

namespace {

constexpr double model_rows_per_column = 160;  // of a sample: steps are only as good as its Hessian
constexpr double slow_step = 0.35;             // one that leaves more of the violations asks for a larger sample
constexpr double matrix_share = 0.02;          // of the violations now: how well a model is minimised
constexpr int turns_between = 8;               // jumps
constexpr int most_matrix_passes = 2000;       // over the weights of one model

class Proximal final : public LassoSteps {
 public:
  Proximal(const Problem& problem, const linear::Limits& limits, linear::Progress& progress, Run& run)
      : LassoSteps(problem, nullptr, limits, progress, run) {
    take(rows_to_sample(p_, model_rows_per_column));
  }

 private:
  void take(int64_t n_rows) {
    sample_ = std::make_unique<Sample>(p_, n_rows);
    few_ = sample_->whole() ? nullptr : std::make_unique<Passes>(sample_->problem(), nullptr, run_);
  }

  bool refine() override {
    if (sample_->whole()) return false;
    take(p_.rows.n_rows);
    return true;
  }

  void minimise_model(double last) override {
    if (distance_.sum > slow_step * last && !sample_->whole()) take(4 * sample_->problem().rows.n_rows);
    if (!sample_->whole()) {
      Values unused(weight_.size());
      few_->evaluate(weight_, unused);
    }
    hessian(sample_->problem(), sample_->whole() ? passes_ : *few_, true, run_, matrix_);
    linear::Square& h = matrix_.front();
    for (int64_t i = 0; i < h.n; ++i) {
      for (int64_t j = 0; j < i; ++j) h.row(j)[i] = h.row(i)[j];
    }
    const int64_t width = p_.rows.width(), stride = p_.stride();
    Values slope(static_cast<size_t>(h.n)), value(slope.size());
    const auto place = [&](int64_t u) { return static_cast<size_t>(u % width * stride + u / width); };
    for (int64_t u = 0; u < h.n; ++u) {
      const auto at = place(u), own = static_cast<size_t>(u);
      value[own] = weight_[at];
      slope[own] = gradient_[at] + ridge(u % width) * weight_[at];
    }
    for (int round = 0; round < most_matrix_passes; ++round) {
      run_.check();
      double open = 0;
      for (int64_t u = 0; u < h.n; ++u) {
        const auto own = static_cast<size_t>(u);
        const double absolute = lasso(u % width);
        const double bend = h.row(u)[u] * (1 + no_curvature);
        open += linear::violation(slope[own], value[own], absolute);
        double step = absolute > 0 ? -value[own] : 0.0;  // a column without curvature has no slope either
        if (bend > 0) step = linear::shrunken_step(slope[own], bend, value[own], absolute);
        if (step == 0) continue;
        value[own] += step;
        const double* row = h.row(u);
        for (int64_t other = 0; other < h.n; ++other) slope[static_cast<size_t>(other)] += step * row[other];
      }
      for (int64_t j = 0; j < width && p_.n_lines > 1; ++j) {
        if (!p_.penalised(j)) continue;
        Values lines;
        for (int64_t k = 0; k < p_.n_lines; ++k) lines.push_back(value[static_cast<size_t>(k * width + j)]);
        const double shift = best_shift(lines, p_.lasso, p_.ridge);
        for (int64_t k = 0; k < p_.n_lines && shift != 0; ++k) {
          value[static_cast<size_t>(k * width + j)] -= shift;
          slope[static_cast<size_t>(k * width + j)] -= p_.ridge * shift;
        }
      }
      if (round % turns_between == turns_between - 1) jump(h, value, slope);
      if (open <= matrix_share * distance_.sum) break;
    }
    for (int64_t u = 0; u < h.n; ++u) change_[place(u)] = value[static_cast<size_t>(u)] - weight_[place(u)];
  }

  // Weights in turn are slow where columns are alike. As long as no weight changes its sign, the least of the model is
  // one system of equations away: goes there, or as far as the first weight that becomes 0.
  void jump(const linear::Square& h, Values& value, Values& slope) {
    const int64_t width = p_.rows.width();
    std::vector<int64_t> kept;
    for (int64_t u = 0; u < h.n; ++u) {
      if (h.row(u)[u] > 0 && (value[static_cast<size_t>(u)] != 0 || lasso(u % width) == 0)) kept.push_back(u);
    }
    linear::Square part(static_cast<int64_t>(kept.size()));
    Values move(kept.size());
    for (size_t a = 0; a < kept.size(); ++a) {
      const auto own = static_cast<size_t>(kept[a]);
      for (size_t b = 0; b <= a; ++b) part.row(static_cast<int64_t>(a))[b] = h.row(kept[a])[kept[b]];
      move[a] = -(slope[own] + (lasso(kept[a] % width) > 0 ? std::copysign(p_.lasso, value[own]) : 0.0));
    }
    linear::factorise(part, run_);
    linear::solve_factored(part, move);
    double far = 1;
    for (size_t a = 0; a < kept.size(); ++a) {
      const double v = value[static_cast<size_t>(kept[a])];
      if (!std::isfinite(move[a])) return;
      if (lasso(kept[a] % width) > 0 && v * (v + move[a]) < 0) far = std::min(far, -v / move[a]);
    }
    for (size_t a = 0; a < kept.size(); ++a) {
      const auto own = static_cast<size_t>(kept[a]);
      const bool ends = lasso(kept[a] % width) > 0 && -value[own] == far * move[a];
      const double step = ends ? -value[own] : far * move[a];
      value[own] += step;
      const double* row = h.row(kept[a]);
      for (int64_t other = 0; other < h.n; ++other) slope[static_cast<size_t>(other)] += step * row[other];
    }
  }

  std::unique_ptr<Sample> sample_;
  std::unique_ptr<Passes> few_;
  std::vector<linear::Square> matrix_;
};

}  // namespace

Solution solve_proximal(const Problem& problem, const linear::Limits& limits, linear::Progress& progress, Run& run) {
  return Proximal(problem, limits, progress, run).solve();
}

}  // namespace weald::logistic
