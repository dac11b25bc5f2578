#include <algorithm>
#include <cmath>

#include "core/logistic/lasso.h"
#include "core/svm/linear/solvers/l1_step.h"

namespace weald::logistic {

namespace {

constexpr double turn_share = 0.1;  // of the violations now: how well a model is minimised
constexpr int most_turns = 1000;    // over the weights of one model
constexpr int64_t entries_between_checks = 1 << 18;

// A weight that is not 0 or wants to be.
struct ActiveWeight {
  int64_t column, line;
  double value, slope, bend;  // the weight; derivative and second derivative of the model at the start
};

// Three classes or more; two are for one_line.cpp.
class Coordinates final : public LassoSteps {
 public:
  Coordinates(const Problem& problem, const linear::Columns& columns, const linear::Limits& limits,
              linear::Progress& progress, Run& run)
      : LassoSteps(problem, &columns, limits, progress, run), columns_(columns), stride_(problem.stride()) {
    moved_.assign(static_cast<size_t>(p_.rows.n_rows * stride_), 0.0);
    mean_.assign(static_cast<size_t>(p_.rows.n_rows), 0.0);
  }

 private:
  // Σ x² D of one weight.
  double bend_of(int64_t column, int64_t line) const {
    double sum = 0;
    for (int64_t at = columns_.start(column); at < columns_.start(column + 1); ++at) {
      const auto row = static_cast<size_t>(columns_.row()[at]);
      const double x = columns_.value()[at];
      sum += x * x * own_curvature(row, line);
    }
    return sum + ridge(column);
  }
  double own_curvature(size_t row, int64_t line) const {
    const double p = passes_.curvature()[row * static_cast<size_t>(stride_) + static_cast<size_t>(line)];
    return p_.cost[row] * (p * (1.0 - p));
  }

  void choose() {
    active_.clear();
    for (int64_t j = 0; j < p_.rows.width(); ++j) {  // all lines of a column together: they are shifted together
      bool wanted = false;
      for (int64_t k = 0; k < p_.n_lines; ++k) {
        const auto at = static_cast<size_t>(j * stride_ + k);
        wanted = wanted || weight_[at] != 0 || std::abs(gradient_[at]) > lasso(j);
      }
      for (int64_t k = 0; k < p_.n_lines && wanted; ++k) {
        const auto at = static_cast<size_t>(j * stride_ + k);
        active_.push_back({j, k, weight_[at], gradient_[at] + ridge(j) * weight_[at], 0.0});
      }
    }
    constexpr int64_t at_once = 64;
    const auto n_active = static_cast<int64_t>(active_.size());
    parallel_for(run_, (n_active + at_once - 1) / at_once, [&](int64_t b, int) {
      for (int64_t a = b * at_once; a < std::min(n_active, (b + 1) * at_once); ++a) {
        ActiveWeight& each = active_[static_cast<size_t>(a)];
        each.bend = bend_of(each.column, each.line) * (1 + no_curvature);
      }
    });
  }

  // The derivative of the model by one weight, beside that at the start: Σ x D (X change).
  double pushed(int64_t column, int64_t line) const {
    double sum = 0;
    const Values& c = passes_.curvature();
    for (int64_t at = columns_.start(column); at < columns_.start(column + 1); ++at) {
      const auto row = static_cast<size_t>(columns_.row()[at]);
      const double x = columns_.value()[at];
      const size_t cell = row * static_cast<size_t>(stride_) + static_cast<size_t>(line);
      sum += x * (p_.cost[row] * (c[cell] * (moved_[cell] - mean_[row])));
    }
    return sum;
  }

  void move(int64_t column, int64_t line, double step) {
    const Values& c = passes_.curvature();
    for (int64_t at = columns_.start(column); at < columns_.start(column + 1); ++at) {
      const auto row = static_cast<size_t>(columns_.row()[at]);
      const size_t cell = row * static_cast<size_t>(stride_) + static_cast<size_t>(line);
      const double by = step * columns_.value()[at];
      moved_[cell] += by;
      mean_[row] += c[cell] * by;
    }
  }

  // What a shift of all lines gains: it moves no row's probabilities, and so nothing of the model but the penalty.
  void shift_columns() {
    Values lines(static_cast<size_t>(p_.n_lines));
    for (size_t first = 0; first < active_.size(); first += lines.size()) {
      const int64_t column = active_[first].column;
      if (!p_.penalised(column)) continue;
      double* change = change_.data() + column * stride_;
      for (size_t k = 0; k < lines.size(); ++k) lines[k] = active_[first + k].value + change[k];
      const double shift = best_shift(lines, p_.lasso, p_.ridge);
      for (size_t k = 0; k < lines.size(); ++k) change[k] -= shift;
    }
  }

  // Active weights in turn, until the quadratic model of the smooth part plus λ Σ|w| is at its least.
  void minimise_model(double) override {
    choose();
    std::fill(change_.begin(), change_.end(), 0.0);
    std::fill(moved_.begin(), moved_.end(), 0.0);
    std::fill(mean_.begin(), mean_.end(), 0.0);
    int64_t n_entries = 0;
    for (int round = 0; round < most_turns; ++round) {
      double open = 0;
      for (const ActiveWeight& each : active_) {
        n_entries += columns_.start(each.column + 1) - columns_.start(each.column);
        if (n_entries > entries_between_checks) {
          run_.check();
          n_entries = 0;
        }
        double& change = change_[static_cast<size_t>(each.column * stride_ + each.line)];
        const double v = each.value + change;
        const double slope = each.slope + ridge(each.column) * change + pushed(each.column, each.line);
        open += linear::violation(slope, v, lasso(each.column));
        double step = lasso(each.column) > 0 ? -v : 0.0;  // a column without curvature has no slope either
        if (each.bend > 0) step = linear::shrunken_step(slope, each.bend, v, lasso(each.column));
        if (step == 0) continue;
        change += step;
        move(each.column, each.line, step);
      }
      shift_columns();
      if (open <= turn_share * distance_.sum || limits_.late()) break;
    }
  }

  const linear::Columns& columns_;
  int64_t stride_;
  Values moved_;  // X times the change, (n_rows, stride)
  Values mean_;   // Σ_k p_k of it, by row
  std::vector<ActiveWeight> active_;
};

}  // namespace

Solution solve_coordinates(const Problem& problem, const linear::Columns& columns, const linear::Limits& limits,
                           linear::Progress& progress, Run& run) {
  return Coordinates(problem, columns, limits, progress, run).solve();
}

}  // namespace weald::logistic
