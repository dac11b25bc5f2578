#include "core/svm/dual/pace.h"

#include <algorithm>

namespace weald::svm {

namespace {

// Honest problems are done after some steps per variable, or close the gap by more than this share in a window.
constexpr int64_t shortest_window = 1'000'000, steps_a_variable = 100;
constexpr double hardly = 0.9;
// LIBSVM gives up after a tenth of these, however close it is.
constexpr double fewest_hopeless = 1e8, hopeless_a_variable = 1e4;

}  // namespace

Pace::Pace(int64_t n_variables)
    : most_steps_(std::max(fewest_hopeless, hopeless_a_variable * static_cast<double>(n_variables))),
      window_(std::max(shortest_window, steps_a_variable * n_variables)) {}

bool Pace::stalls(int64_t n_steps) {
  if (n_steps - start_ < window_) return false;
  gained_a_step_ = decrease_ / static_cast<double>(n_steps - start_);
  const bool open = smallest_gap_ > hardly * smallest_before_;
  smallest_before_ = std::min(smallest_before_, smallest_gap_);
  smallest_gap_ = std::numeric_limits<double>::infinity();
  decrease_ = 0.0;
  start_ = n_steps;
  return open;
}

bool Pace::hopeless(double duality_gap) const {
  return duality_gap > most_steps_ * std::max(gained_a_step_, 0.0);
}

}  // namespace weald::svm
