// A primal-dual interior point for φ = z₊ (hinge and ε-insensitive losses) with rows of few columns: some twenty steps
// of n·d² each, whatever C and the units of the columns. docs/methods/linear_svm.md, equations 5–9.
#pragma once

#include "core/base/pool.h"
#include "core/svm/linear/problem.h"

namespace weald::linear {

// Stops when the duality gap is at most tol/100 of the primal objective.
Solution solve_interior(const Problem& problem, const Limits& limits, Progress& progress, Run& run);

}  // namespace weald::linear
