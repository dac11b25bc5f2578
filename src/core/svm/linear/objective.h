// The primal and the dual objective of a linear machine (docs/methods/linear_svm.md, equations 1–4).
#pragma once

#include <span>

#include "core/base/pool.h"
#include "core/svm/linear/problem.h"

namespace weald::linear {

struct Objectives {
  double primal, dual;
};

// `alpha`: one per row, of a regression α_0 − α_1. Where the dual asks for what α does not keep (Σ σα = 0 of a free
// intercept, ‖Xᵀσα‖∞ ≤ 1 of the penalty Σ|v|), α is scaled to keep it or the lack is subtracted, so that the difference
// of the two still bounds how far the primal is from its least value.
Objectives objectives(const Problem& problem, std::span<const double> weight, std::span<const double> alpha, Run& run);

}  // namespace weald::linear
