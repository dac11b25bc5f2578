// The Hessian of the loss on some of the rows, as a matrix: for tables of few columns it tells nearly everything about
// that of all rows at a fraction of the cost (docs/methods/logistic.md, equations 13–15).
#pragma once

#include <memory>

#include "core/base/pool.h"
#include "core/logistic/passes.h"
#include "core/logistic/problem.h"
#include "core/svm/linear/solvers/gram.h"

namespace weald::logistic {

// Rows in even steps through the table, with their costs raised so that the sums stay what they were.
class Sample {
 public:
  Sample(const Problem& problem, int64_t n_rows);
  Sample(const Sample&) = delete;
  Sample& operator=(const Sample&) = delete;

  const Problem& problem() const { return problem_; }
  bool whole() const { return whole_; }

 private:
  void take_dense(int64_t step);
  void take_sparse(int64_t step);

  bool whole_;
  Problem problem_;
  Values dense_, value_, cost_;
  std::vector<int64_t> start_;
  std::vector<int32_t> index_, label_;
};

// How many rows to look at: enough that what they miss hardly slows the solver. 0: too many columns.
int64_t rows_to_sample(const Problem& problem, double per_column);

// Whether all lines fit into one matrix.
bool fits_coupled(const Problem& problem);

// out = Σ c (diag p − p pᵀ) ⊗ x xᵀ + ρ over the rows of `passes` where these were evaluated last. Coupled: one matrix
// of (n_lines · width), line after line; else `out` has a matrix for each line. Lower triangles.
void hessian(const Problem& problem, const Passes& passes, bool coupled, Run& run, std::vector<linear::Square>& out);

// Makes shifts of all lines by the same amount cost something in a coupled matrix. No loss sees them, and gradients of
// smooth penalties have none, so that the step stays the same and the matrix becomes one that can be factorised.
void hold_shifts(const Problem& problem, linear::Square& coupled);

}  // namespace weald::logistic
