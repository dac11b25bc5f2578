// Which solver for which problem, and several problems on the same rows.
#pragma once

#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/svm/linear/problem.h"

namespace weald::linear {

enum class Solver : int {
  automatic = 0,
  interior = 1,         // φ = z₊, few columns
  newton = 2,           // φ = z₊², few columns
  newton_products = 3,  // φ = z₊², any number of columns
  descent = 4,          // the dual, one row at a time: any φ, any number of columns
  proximal = 5,         // Σ|v| with φ = z₊², few columns
  coordinates = 6,      // Σ|v| with φ = z₊², any number of columns
  primal = 7,           // as automatic, but the dual is not descended where anything else fits
};

// The solver that "automatic" or "primal" stands for: the second-order one where the columns are few enough.
Solver choose(const Problem& problem, bool primal);

// The rows of all problems are the same. Solvers of one thread work side by side, the others one after the other; the
// bits do not depend on it. `progress` has a place for each problem.
std::vector<Solution> solve(std::span<const Problem> problems, Solver solver, const Limits& limits,
                            std::span<Progress> progress, Run& run);

}  // namespace weald::linear
