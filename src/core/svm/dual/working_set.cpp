#include "core/svm/dual/working_set.h"

#include <algorithm>

namespace weald::svm {

WorkingSets::WorkingSets(int64_t n_variables, int64_t size)
    : size_(size), chosen_(static_cast<size_t>(n_variables), 0) {}

bool WorkingSets::add(int32_t variable) {
  uint8_t& chosen = chosen_[static_cast<size_t>(variable)];
  if (chosen != 0) return false;
  chosen = 1;
  set_.push_back(variable);
  return true;
}

// The n candidates of smallest (largest) gradient that are not in the set yet, by gradient and then index.
void WorkingSets::take(std::vector<int32_t>& candidates, std::span<const double> F, bool smallest, int64_t n) {
  const auto before = [&](int32_t a, int32_t b) {
    const double x = F[static_cast<size_t>(a)], y = F[static_cast<size_t>(b)];
    return x == y ? a < b : (smallest ? x < y : x > y);
  };
  std::erase_if(candidates, [&](int32_t i) { return chosen_[static_cast<size_t>(i)] != 0; });
  const auto end = candidates.begin() + std::min<int64_t>(n, static_cast<int64_t>(candidates.size()));
  if (end != candidates.end()) std::nth_element(candidates.begin(), end, candidates.end(), before);
  std::sort(candidates.begin(), end, before);
  for (auto at = candidates.begin(); at != end; ++at) add(*at);
}

const std::vector<int32_t>& WorkingSets::next(const Variables& variables, std::span<const int32_t> active,
                                              std::span<const double> F, const Gap& gap) {
  rising_.clear();
  falling_.clear();
  for (const int32_t i : active) {
    const auto at = static_cast<size_t>(i);
    if (variables.up(at) && F[at] < gap.largest_down) rising_.push_back(i);
    if (variables.down(at) && F[at] > gap.smallest_up) falling_.push_back(i);
  }
  std::swap(set_, last_);
  set_.clear();
  // The most violating pair is always among the new: three variables would never change places otherwise.
  const int64_t n_new = std::max<int64_t>(last_.empty() ? size_ : size_ / 2, 2);
  take(rising_, F, true, n_new / 2);
  take(falling_, F, false, n_new - n_new / 2);
  // the newest of the last set stand at its front
  for (const int32_t i : last_) {
    if (static_cast<int64_t>(set_.size()) >= size_) break;
    add(i);
  }
  for (const int32_t i : set_) chosen_[static_cast<size_t>(i)] = 0;
  return set_;
}

}  // namespace weald::svm
