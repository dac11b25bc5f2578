// Which variables are worked on next: those that violate most, and part of those of the last time (docs/methods/svm.md,
// D5). A set may hold variables that can rise and ones that can fall, half and half.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/svm/dual/problem.h"

namespace weald::svm {

class WorkingSets {
 public:
  WorkingSets(int64_t n_variables, int64_t size);

  // The next set: `active` are the variables that may be chosen, ascending, F their gradients by variable.
  const std::vector<int32_t>& next(const Variables& variables, std::span<const int32_t> active,
                                   std::span<const double> F, const Gap& gap);
  // The next set has nothing of the last: not all of it may be chosen any more.
  void forget() { set_.clear(); }

 private:
  void take(std::vector<int32_t>& candidates, std::span<const double> F, bool smallest, int64_t n);
  bool add(int32_t variable);

  int64_t size_;
  std::vector<int32_t> set_, last_, rising_, falling_;
  std::vector<uint8_t> chosen_;
};

}  // namespace weald::svm
