// The k nearest rows of a query so far, the farthest first; ties go to the lower row number. A few are kept in order,
// many as a heap.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "core/neighbors/rows.h"

namespace weald::neighbors {

struct Neighbor {
  double sum = infinity;
  int64_t row = std::numeric_limits<int64_t>::max();

  bool operator<(const Neighbor& other) const { return sum < other.sum || (sum == other.sum && row < other.row); }
};

class Best {
 public:
  Best() = default;
  // `places` has room for k, all of them as made: farther than any row.
  explicit Best(std::span<Neighbor> places) : places_(places) {}

  const Neighbor& farthest() const { return places_.front(); }
  bool offer(double sum, int64_t row) {
    const Neighbor found{sum, row};
    if (!(found < places_.front())) return false;
    if (places_.size() <= few) {
      size_t at = 1;
      for (; at < places_.size() && found < places_[at]; ++at) places_[at - 1] = places_[at];
      places_[at - 1] = found;
      return true;
    }
    std::pop_heap(places_.begin(), places_.end());
    places_.back() = found;
    std::push_heap(places_.begin(), places_.end());
    return true;
  }
  // Nearest first; nothing may be offered any more.
  std::span<const Neighbor> sorted() {
    if (places_.size() <= few) {
      std::reverse(places_.begin(), places_.end());
    } else {
      std::sort_heap(places_.begin(), places_.end());
    }
    return places_;
  }

 private:
  static constexpr size_t few = 16;
  std::span<Neighbor> places_;
};

}  // namespace weald::neighbors
