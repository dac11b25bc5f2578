// Which solver for which problem, and several problems on the same rows.
#pragma once

#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/logistic/problem.h"
#include "core/svm/linear/problem.h"

namespace weald::logistic {

enum class Solver : int {
  automatic = 0,
  newton = 1,       // λ = 0
  proximal = 2,     // λ > 0, few weights
  coordinates = 3,  // λ > 0, any number
};

// The rows of all problems are the same; problems are solved one after the other, each on all threads. `progress` has
// a place for each.
std::vector<Solution> solve(std::span<const Problem> problems, Solver solver, const linear::Limits& limits,
                            std::span<linear::Progress> progress, Run& run);

}  // namespace weald::logistic
