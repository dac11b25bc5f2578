// Dual coordinate descent: one row at a time, in random order, with rows that are done set aside (Hsieh et al. 2008; Ho
// and Lin 2012). For sparse text and for more columns than the second-order solvers take; any φ. One thread, so that
// the bits are always the same. docs/methods/linear_svm.md, equations 14–17.
#pragma once

#include "core/base/pool.h"
#include "core/svm/linear/problem.h"

namespace weald::linear {

// Stops by LIBLINEAR's rules: of classes when the projected gradients of all rows lie within tol of one another, of
// regressions when their sum is at most tol of what it was in the first pass. max_iter counts passes over the rows.
Solution solve_descent(const Problem& problem, const Limits& limits, Progress& progress, Run& run);

}  // namespace weald::linear
