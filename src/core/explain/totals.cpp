#include "core/explain/totals.h"

#include <algorithm>

namespace weald {

Totals::Totals(const ExplainedForest& forest, bool pairs)
    : forest_(forest), pairs_(pairs), n_slots_(forest.laid.used.size()), n_outputs_(forest.laid.n_outputs()) {
  n_targets_ = n_slots_ + (pairs ? n_slots_ * (n_slots_ - 1) / 2 : 0);
}

int64_t Totals::rows_of_block() const {
  constexpr int64_t values = int64_t{1} << 16, most = 512;
  const int64_t fitting = values / std::max<int64_t>(1, n_targets_ * n_outputs_);
  return std::clamp(fitting / bundle_rows * bundle_rows, bundle_rows, most);
}

}  // namespace weald
