// All classes in one machine (Crammer and Singer 2001), by the sequential dual method of Keerthi et al. (2008).
//
//   minimise  ½ Σ_m ‖w_m‖² + Σ_i C_i max_m (1 − [m = y_i] + w_m·x_i − w_{y_i}·x_i)
//
// docs/methods/linear_svm.md, equations 22–25. One thread, so that the bits are always the same.
#pragma once

#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/svm/linear/problem.h"

namespace weald::linear {

struct ClassProblem {
  Rows rows;
  std::span<const int32_t> label;
  std::span<const double> upper;
  int64_t n_classes = 2;
  bool free_intercept = false;
};

struct ClassSolution {
  std::vector<double> weight;  // (n_classes, width)
  double primal = 0, dual = 0;
  int64_t n_iter = 0;
  bool converged = false;
};

// Stops, as LIBLINEAR, when no row's optimality (equation 24) is violated by more than tol. max_iter counts n steps
// as one pass, whether rows were set aside or not.
ClassSolution solve_classes(const ClassProblem& problem, const Limits& limits, Progress& progress, Run& run);

}  // namespace weald::linear
