// The penalty Σ|v| with φ = z₊², which makes most weights 0. For few columns a proximal Newton method with the exact
// Hessian of the loss; for many, Newton steps on one column at a time (Yuan et al. 2010).
// docs/methods/linear_svm.md, equations 18–21.
#pragma once

#include "core/base/pool.h"
#include "core/svm/linear/columns.h"
#include "core/svm/linear/problem.h"

namespace weald::linear {

// Both stop by LIBLINEAR's rule, when the violations of optimality (equation 19) of all columns add up to at most
// tol · (share of the rarer class) of what they were at v = 0; the proximal method also asks for a duality gap of at
// most tol/100 of the objective. max_iter counts steps, or passes over the columns.
Solution solve_proximal(const Problem& problem, const Limits& limits, Progress& progress, Run& run);
Solution solve_coordinates(const Problem& problem, const Columns& columns, const Limits& limits, Progress& progress,
                           Run& run);

}  // namespace weald::linear
