// The solvers. All stop when the largest violation of optimality is at most tol · Σ c, and the duality gap at most
// tol/100 of the objective (where ρ = 0 and λ > 0, whose gap is a loose bound, when the violation is also at most 100
// tol · λ); without a penalty, where there is no gap, when half the Newton decrement is.
#pragma once

#include "core/base/pool.h"
#include "core/logistic/problem.h"
#include "core/svm/linear/columns.h"
#include "core/svm/linear/problem.h"

namespace weald::logistic {

inline constexpr double gap_share = 0.01;       // of tol: what the gap may be of the objective
inline constexpr double rounding = 1e-13;       // of the objective
inline constexpr int most_shortened = 40;       // steps of a line search
inline constexpr double least_of_slope = 1e-4;  // of what the slope promises

// λ = 0: Newton steps by conjugate gradients (docs/methods/logistic.md, equations 13–17).
Solution solve_newton(const Problem& problem, const linear::Columns* columns, const linear::Limits& limits,
                      linear::Progress& progress, Run& run);

// λ > 0, few columns: proximal Newton steps with the Hessian as a matrix (equations 18, 19).
Solution solve_proximal(const Problem& problem, const linear::Limits& limits, linear::Progress& progress, Run& run);

// λ > 0, any number of columns, three classes or more: the same model, one weight at a time, of weights that are not 0
// or want to be (equations 18–20).
Solution solve_coordinates(const Problem& problem, const linear::Columns& columns, const linear::Limits& limits,
                           linear::Progress& progress, Run& run);

// Of two classes; weights that are not 0 also take steps together (equation 21).
Solution solve_one_line(const Problem& problem, const linear::Columns& columns, const linear::Limits& limits,
                        linear::Progress& progress, Run& run);

}  // namespace weald::logistic
