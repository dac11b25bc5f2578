// How far weights are from the best: the violation of optimality of each weight, and the duality gap
// (docs/methods/logistic.md, equations 9–12).
#pragma once

#include "core/logistic/passes.h"
#include "core/logistic/problem.h"

namespace weald::logistic {

struct Distance {
  double penalty = 0;    // of the weights
  double violation = 0;  // the largest distance of 0 from the subgradients of a weight
  double sum = 0;        // of all of them
  double gap = 0;        // NaN where it is not told: without a penalty, or by λ alone, where `gap_of_lasso` tells it
};

// `gradient`: of the loss alone.
Distance distance(const Problem& problem, const Values& weight, const Values& gradient);

// The duality gap where ρ = 0 and λ > 0: of derivatives that are shortened until Xᵀ of them is within λ.
double gap_of_lasso(const Problem& problem, const Passes& passes, const Values& weight, const Values& gradient,
                    double objective);

}  // namespace weald::logistic
