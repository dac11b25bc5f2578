// The variables that are looked at, and the columns of the kernel matrix that they need. Variables that sit at a bound
// and have no reason to leave it are set aside for a time (shrinking): their gradients are not kept up, and are added
// up anew when the rest is done (docs/methods/svm.md, D9).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/svm/dual/problem.h"

namespace weald::svm {

class ActiveSet {
 public:
  // `private_columns`: only the rows of the problem are columns, not all there are.
  ActiveSet(const Variables& variables, int64_t n_rows, bool private_columns);

  const std::vector<int32_t>& variables() const { return active_; }
  // The rows whose kernel columns are kept up, ascending; all rows if `whole`.
  const std::vector<int32_t>& columns() const { return columns_; }
  bool whole() const { return whole_; }
  bool shrunk() const { return active_.size() < place_.size(); }
  // Where the column of a variable is among `columns`.
  size_t place(size_t variable) const { return static_cast<size_t>(place_[variable]); }

  // Looks for variables that have been without reason to move for some steps; true if so many that it pays to go on
  // without them. `F` by variable.
  bool look(const Variables& variables, std::span<const double> F, const Gap& gap);
  // Without those variables from now on.
  void shrink(const Variables& variables);
  // All variables again.
  void restore(const Variables& variables);

 private:
  void find_columns(const Variables& variables);

  int64_t n_rows_;
  bool private_columns_, whole_ = true;
  std::vector<int32_t> active_, columns_, place_;
  std::vector<uint8_t> idle_;  // by variable: for how many looks it has had no reason to move
};

}  // namespace weald::svm
