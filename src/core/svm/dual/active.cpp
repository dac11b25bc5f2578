#include "core/svm/dual/active.h"

#include <algorithm>
#include <numeric>

namespace weald::svm {

namespace {

// Looks without a reason to move after which a variable is set aside.
constexpr int idle_looks = 3;
// How far beyond the gradients that matter its own must be, in shares of the gap.
constexpr double distance = 0.2;
// It pays to go on without the idle ones if at most this share stays.
constexpr double share_left = 0.8;

}  // namespace

ActiveSet::ActiveSet(const Variables& variables, int64_t n_rows, bool private_columns)
    : n_rows_(n_rows),
      private_columns_(private_columns),
      active_(static_cast<size_t>(variables.size())),
      place_(active_.size()),
      idle_(active_.size(), 0) {
  restore(variables);
}

void ActiveSet::restore(const Variables& variables) {
  active_.resize(place_.size());
  std::iota(active_.begin(), active_.end(), 0);
  std::fill(idle_.begin(), idle_.end(), uint8_t{0});
  find_columns(variables);
}

void ActiveSet::find_columns(const Variables& variables) {
  whole_ = !private_columns_ && !shrunk();
  columns_.clear();
  std::vector<int32_t> place_of(static_cast<size_t>(n_rows_), whole_ ? 0 : -1);
  for (const int32_t i : active_) place_of[static_cast<size_t>(variables.row[static_cast<size_t>(i)])] = 0;
  for (size_t row = 0; row < place_of.size(); ++row) {
    if (place_of[row] < 0) continue;
    place_of[row] = static_cast<int32_t>(columns_.size());
    columns_.push_back(static_cast<int32_t>(row));
  }
  for (const int32_t i : active_) {
    place_[static_cast<size_t>(i)] = place_of[static_cast<size_t>(variables.row[static_cast<size_t>(i)])];
  }
}

bool ActiveSet::look(const Variables& variables, std::span<const double> F, const Gap& gap) {
  const double beyond = distance * gap.size();
  int64_t n_left = 0;
  for (const int32_t i : active_) {
    const auto at = static_cast<size_t>(i);
    const bool no_fall = !variables.down(at) && F[at] > gap.largest_down + beyond;
    const bool no_rise = !variables.up(at) && F[at] < gap.smallest_up - beyond;
    uint8_t& idle = idle_[at];
    idle = !(no_fall || no_rise) ? uint8_t{0} : static_cast<uint8_t>(std::min(idle + 1, idle_looks));
    n_left += idle < idle_looks ? 1 : 0;
  }
  return static_cast<double>(n_left) <= share_left * static_cast<double>(active_.size());
}

void ActiveSet::shrink(const Variables& variables) {
  std::erase_if(active_, [&](int32_t i) { return idle_[static_cast<size_t>(i)] >= idle_looks; });
  find_columns(variables);
}

}  // namespace weald::svm
