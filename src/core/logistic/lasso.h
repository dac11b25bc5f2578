// What both solvers of λ > 0 share: steps to the least of a quadratic model of the smooth part plus λ Σ|w|, shortened
// until the objective falls (docs/methods/logistic.md, equations 18, 19). A solver says how it minimises the model.
#pragma once

#include <span>

#include "core/logistic/measure.h"
#include "core/logistic/passes.h"
#include "core/logistic/problem.h"
#include "core/logistic/solvers.h"

namespace weald::logistic {

inline constexpr double no_curvature = 1e-12;  // of a weight's curvature, added to it

// The shift s that minimises Σ_k λ|v_k − s| + ½ρ (v_k − s)²; of several the one nearest to 0. No loss of several
// classes sees a shift of all lines (equation 20), and steps on one weight at a time are slow to find it. Sorts `v`.
double best_shift(std::span<double> v, double lasso, double ridge);

class LassoSteps {
 public:
  LassoSteps(const Problem& problem, const linear::Columns* columns, const linear::Limits& limits,
             linear::Progress& progress, Run& run);
  virtual ~LassoSteps() = default;
  LassoSteps(const LassoSteps&) = delete;
  LassoSteps& operator=(const LassoSteps&) = delete;

  Solution solve();

 protected:
  // Sets `change_` to what about minimises the model at `weight_`; `last` are the violations before the last step.
  virtual void minimise_model(double last) = 0;
  // After a step that leads nowhere: whether the model can be made a better one.
  virtual bool refine() { return false; }

  double lasso(int64_t column) const { return p_.penalised(column) ? p_.lasso : 0.0; }
  double ridge(int64_t column) const { return p_.penalised(column) ? p_.ridge : 0.0; }

  const Problem& p_;
  const linear::Limits& limits_;
  Run& run_;
  Passes passes_;
  Values weight_, gradient_, change_;  // `gradient_`: of the loss alone
  Distance distance_;

 private:
  bool search(double before);
  void centre_intercepts();

  linear::Progress& progress_;
  double total_;
  double loss_ = 0;
};

}  // namespace weald::logistic
