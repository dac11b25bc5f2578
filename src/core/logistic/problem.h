// Logistic regression, as every solver here states it (docs/methods/logistic.md, equations 1–4).
//
//   minimise over W:  Σ_i c_i ℓ(y_i, W x_i)  +  Σ_kj (λ |w_kj| + ½ ρ w_kj²)
//
// Two classes have one line of weights, with ℓ = log(1 + e^f) − y f, y = 0 or 1; more have a line for each class, with
// ℓ = log Σ_k e^{f_k} − f_y. The last column is that of the intercept, if there is one; the penalty does not see it if
// it is free. ρ = λ = 0: no penalty.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/svm/linear/problem.h"
#include "core/svm/linear/rows.h"

namespace weald::logistic {

using Values = std::vector<double>;

struct Problem {
  linear::Rows rows;
  std::span<const int32_t> label;  // class numbers
  std::span<const double> cost;    // c of each row, above 0
  int64_t n_lines = 1;             // 1: two classes; else the number of classes
  double ridge = 1, lasso = 0;     // ρ and λ
  bool free_intercept = true;
  std::span<const double> start;  // weights as solvers hold them, or empty: all 0

  // Solvers hold weights column after column, each with its lines side by side, padded to whole Fours.
  int64_t stride() const { return n_lines == 1 ? 1 : (n_lines + 3) / 4 * 4; }
  int64_t n_values() const { return rows.width() * stride(); }
  bool penalised(int64_t column) const { return !(free_intercept && rows.bias != 0 && column == rows.n_columns); }
  bool no_penalty() const { return ridge == 0 && lasso == 0; }
  double total_cost() const {
    double sum = 0;
    for (const double each : cost) sum += each;
    return sum;
  }
};

struct Solution {
  Values weight;  // (width, stride)
  double objective = 0;
  double gap = 0;       // how far the objective can be from the least; NaN without a penalty
  double gradient = 0;  // the largest violation of optimality, over Σ c
  int64_t n_iter = 0;
  bool converged = false;
  bool separable = false;  // without a penalty: weights grow without end
};

}  // namespace weald::logistic
