// Passes over the rows: the loss with its gradient at some weights, and products with its Hessian there. Each reads the
// rows from memory once. Sums are taken by blocks of rows that depend on the table alone and are combined in order, so
// that the bits are the same for any number of threads.
//
// docs/methods/logistic.md, equations 5–8.
#pragma once

#include "core/base/pool.h"
#include "core/logistic/problem.h"
#include "core/svm/linear/columns.h"

namespace weald::logistic {

class Passes {
 public:
  // `columns` may be nullptr; with it the sums over rows of sparse tables are taken column by column.
  Passes(const Problem& problem, const linear::Columns* columns, Run& run);

  // Σ c ℓ at these weights; `gradient` of it, (width, stride). Products and shares are of this place from now on.
  double evaluate(const Values& weight, Values& gradient);
  // out = Xᵀ D X v, where D is the second derivative of the loss by the scores.
  void product(const Values& v, Values& out);
  // The largest |x · v| of any row and line.
  double largest_score(const Values& v) const;

  // Of one line: c p (1 − p) by row. Of several: the probabilities, (n_rows, stride).
  const Values& curvature() const { return curvature_; }
  // The diagonal of Xᵀ D X.
  Values diagonal() const;
  // Minus Σ c ℓ*(s · derivative), which bounds the objective from below where s · Xᵀ derivative is within λ.
  double conjugate(const Values& weight, double s) const;

 private:
  template <class Fill>
  void transposed(Fill fill, Values& out);

  const Problem& p_;
  const linear::Columns* columns_;
  Run& run_;
  int64_t n_, stride_, width_;
  Values target_;     // of one line: 0 or 1
  Values curvature_;  // see above
  Values by_row_;     // (n_rows, stride), where columns are summed one by one
};

}  // namespace weald::logistic
