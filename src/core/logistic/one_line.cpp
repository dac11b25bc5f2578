#include <algorithm>
#include <cmath>

#include "core/base/random.h"
#include "core/logistic/lasso.h"
#include "core/svm/linear/solvers/l1_step.h"

namespace weald::logistic {

namespace {

constexpr double model_share = 0.3;     // of the violations now: how well a model is minimised
constexpr int most_rounds = 1000;       // over the weights of one model
constexpr double idle_share = 0.9;      // of λ: weights at 0 with a smaller slope rest until the others have ended
constexpr int rounds_between = 3;       // Newton steps on the weights that are not 0
constexpr int most_line_products = 20;  // of conjugate gradients for such a step
constexpr double newton_share = 0.1;    // of the residual: how well its equations are solved
constexpr int most_halved = 4;          // times such a step is made shorter
constexpr int64_t entries_between = 1 << 18;  // checks whether to stop

// Two classes: the weights that are not 0 or want to be in turn, and every few rounds those that are not 0 together
// (docs/methods/logistic.md, equations 18 to 21).
class OneLine final : public LassoSteps {
 public:
  OneLine(const Problem& problem, const linear::Columns& columns, const linear::Limits& limits,
          linear::Progress& progress, Run& run)
      : LassoSteps(problem, &columns, limits, progress, run), columns_(columns) {
    pushed_.assign(static_cast<size_t>(p_.rows.n_rows), 0.0);
    scores_.assign(pushed_.size(), 0.0);
  }

 private:
  // A weight that is not 0 or wants to be: where it was, derivative and second derivative of the model there; where it
  // is now. A weight that becomes 0 is 0 to the bit.
  struct Active {
    int64_t column;
    double start, slope, bend, now;
  };

  // Σ x u over the rows of a column; four sums, because additions wait for one another.
  double column_dot(int64_t column, const Values& u) const {
    const int64_t end = columns_.start(column + 1);
    const int32_t* row = columns_.row();
    const double* value = columns_.value();
    double sum[4] = {0, 0, 0, 0};
    int64_t at = columns_.start(column);
    for (; at + 4 <= end; at += 4) {
      for (int64_t k = 0; k < 4; ++k) sum[k] += value[at + k] * u[static_cast<size_t>(row[at + k])];
    }
    for (; at < end; ++at) sum[0] += value[at] * u[static_cast<size_t>(row[at])];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
  void add_column(int64_t column, double step, Values& u) const {
    for (int64_t at = columns_.start(column); at < columns_.start(column + 1); ++at) {
      u[static_cast<size_t>(columns_.row()[at])] += step * columns_.value()[at];
    }
  }
  double bend_of(int64_t column) const {
    double sum = 0;
    for (int64_t at = columns_.start(column); at < columns_.start(column + 1); ++at) {
      const double x = columns_.value()[at];
      sum += x * x * passes_.curvature()[static_cast<size_t>(columns_.row()[at])];
    }
    return (sum + ridge(column)) * (1 + no_curvature);
  }
  // The derivative of the model where it stands now.
  double slope_of(const Active& each) const {
    return each.slope + ridge(each.column) * (each.now - each.start) + column_dot(each.column, pushed_);
  }

  void choose() {
    active_.clear();
    for (int64_t j = 0; j < p_.rows.width(); ++j) {
      const auto at = static_cast<size_t>(j);
      if (weight_[at] == 0 && !(std::abs(gradient_[at]) > lasso(j))) continue;
      active_.push_back({j, weight_[at], gradient_[at] + ridge(j) * weight_[at], 0.0, weight_[at]});
    }
    constexpr int64_t at_once = 64;
    const auto n_active = static_cast<int64_t>(active_.size());
    parallel_for(run_, (n_active + at_once - 1) / at_once, [&](int64_t b, int) {
      for (int64_t a = b * at_once; a < std::min(n_active, (b + 1) * at_once); ++a) {
        Active& each = active_[static_cast<size_t>(a)];
        each.bend = bend_of(each.column);
      }
    });
  }

  void wake_all() {
    awake_.resize(active_.size());
    for (size_t a = 0; a < active_.size(); ++a) awake_[a] = a;
  }

  // In an order of its own in every round: neighbours in a table are often alike.
  void shuffle() {
    const Draws draws(0, Purpose::column_order, n_rounds_++);
    for (size_t a = awake_.size(); a > 1; --a) std::swap(awake_[a - 1], awake_[draws(a) % a]);
  }

  // One step on every weight that is awake; the sum of their violations before. Weights that stay at 0 with little
  // slope fall asleep.
  double turn() {
    double open = 0;
    size_t n_awake = 0;
    for (const size_t a : awake_) {
      Active& each = active_[a];
      count_entries(each.column);
      const double v = each.now, slope = slope_of(each), absolute = lasso(each.column);
      open += linear::violation(slope, v, absolute);
      if (v == 0 && std::abs(slope) < idle_share * absolute) continue;
      awake_[n_awake++] = a;
      double step = absolute > 0 ? -v : 0.0;  // a column without curvature has no slope either
      if (each.bend > 0) step = linear::shrunken_step(slope, each.bend, v, absolute);
      if (step == 0) continue;
      each.now = step == -v ? 0.0 : v + step;
      push(each.column, step);
    }
    awake_.resize(n_awake);
    return open;
  }
  void push(int64_t column, double step) {
    const Values& c = passes_.curvature();
    for (int64_t at = columns_.start(column); at < columns_.start(column + 1); ++at) {
      const auto row = static_cast<size_t>(columns_.row()[at]);
      pushed_[row] += step * columns_.value()[at] * c[row];
    }
  }
  void count_entries(int64_t column) {
    n_entries_ += columns_.start(column + 1) - columns_.start(column);
    if (n_entries_ < entries_between) return;
    run_.check();
    n_entries_ = 0;
  }

  void minimise_model(double) override {
    choose();
    wake_all();
    std::fill(pushed_.begin(), pushed_.end(), 0.0);
    for (int round = 1; round <= most_rounds && !limits_.late(); ++round) {
      shuffle();
      const bool whole = awake_.size() == active_.size();
      const double open = turn();
      if (open <= model_share * distance_.sum) {
        if (whole) break;
        wake_all();
      } else if (round % rounds_between == 0) {
        step_together();
      }
    }
    std::fill(change_.begin(), change_.end(), 0.0);
    for (const Active& each : active_) change_[static_cast<size_t>(each.column)] = each.now - each.start;
  }

  // ---------------------------------------------------------------- weights that are not 0, together

  // As long as no weight changes its sign, the least of the model is one system of equations away. Goes about there by
  // conjugate gradients; weights that would change their sign become 0.
  void step_together() {
    kept_.clear();
    rest_.clear();
    slope_.clear();
    for (Active& each : active_) {
      const double absolute = lasso(each.column);
      if (!(each.bend > 0) || (each.now == 0 && absolute > 0)) continue;
      kept_.push_back(&each);
      slope_.push_back(slope_of(each));
      rest_.push_back(-(slope_.back() + (absolute > 0 ? std::copysign(absolute, each.now) : 0.0)));
    }
    solve_kept();
    double share = 1;
    for (int halved = 0; halved <= most_halved; ++halved, share /= 2) {
      if (take_share(share)) return;
    }
  }

  // scores = X p of the kept columns; returns p · (H + ρ) p.
  double scores_of(const Values& p) {
    std::fill(scores_.begin(), scores_.end(), 0.0);
    double size = 0;
    for (size_t a = 0; a < kept_.size(); ++a) {
      add_column(kept_[a]->column, p[a], scores_);
      size += ridge(kept_[a]->column) * p[a] * p[a];
    }
    const Values& c = passes_.curvature();
    for (size_t i = 0; i < scores_.size(); ++i) size += c[i] * scores_[i] * scores_[i];
    return size;
  }

  // move = about (H + ρ)⁻¹ rest.
  void solve_kept() {
    const size_t n = kept_.size();
    move_.assign(n, 0.0);
    Values p(n), z(n);
    const auto scaled = [&] {
      double product = 0;
      for (size_t a = 0; a < n; ++a) {
        z[a] = rest_[a] / kept_[a]->bend;
        product += z[a] * rest_[a];
      }
      return product;
    };
    double size = scaled();
    const double enough = newton_share * newton_share * size;
    p = z;
    for (int round = 0; round < most_line_products && size > enough; ++round) {
      run_.check();
      const double bend = scores_of(p);
      if (!(bend > 0)) return;
      const double far = size / bend;
      const Values& c = passes_.curvature();
      for (size_t i = 0; i < scores_.size(); ++i) scores_[i] *= c[i];
      parallel_for(run_, static_cast<int64_t>((n + 63) / 64), [&](int64_t b, int) {
        for (auto a = static_cast<size_t>(b) * 64; a < std::min(n, static_cast<size_t>(b + 1) * 64); ++a) {
          rest_[a] -= far * (column_dot(kept_[a]->column, scores_) + ridge(kept_[a]->column) * p[a]);
        }
      });
      for (size_t a = 0; a < n; ++a) move_[a] += far * p[a];
      const double before = size;
      size = scaled();
      for (size_t a = 0; a < n; ++a) p[a] = z[a] + size / before * p[a];
    }
  }

  // Goes so far if that lowers the model.
  bool take_share(double share) {
    Values step(kept_.size());
    double gain = 0;
    for (size_t a = 0; a < kept_.size(); ++a) {
      const double v = kept_[a]->now, absolute = lasso(kept_[a]->column);
      step[a] = share * move_[a];
      if (absolute > 0 && v * (v + step[a]) <= 0) step[a] = -v;
      gain += slope_[a] * step[a] + absolute * (std::abs(v + step[a]) - std::abs(v));
    }
    gain += scores_of(step) / 2;
    if (!(gain < 0)) return false;
    for (size_t a = 0; a < kept_.size(); ++a) kept_[a]->now += step[a];
    const Values& c = passes_.curvature();
    for (size_t i = 0; i < scores_.size(); ++i) pushed_[i] += c[i] * scores_[i];
    return true;
  }

  const linear::Columns& columns_;
  Values pushed_;  // D X change, by row
  Values scores_;  // by row
  std::vector<Active> active_;
  std::vector<Active*> kept_;  // those that are not 0
  std::vector<size_t> awake_;
  Values slope_, rest_, move_;  // of the kept ones
  uint64_t n_rounds_ = 0;
  int64_t n_entries_ = 0;
};

}  // namespace

Solution solve_one_line(const Problem& problem, const linear::Columns& columns, const linear::Limits& limits,
                        linear::Progress& progress, Run& run) {
  return OneLine(problem, columns, limits, progress, run).solve();
}

}  // namespace weald::logistic
