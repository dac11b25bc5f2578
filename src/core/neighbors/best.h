// The k nearest rows of a query so far, a heap with the farthest on top; ties go to the lower row number.
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
    std::pop_heap(places_.begin(), places_.end());
    places_.back() = found;
    std::push_heap(places_.begin(), places_.end());
    return true;
  }
  // Nearest first; nothing may be offered any more.
  std::span<const Neighbor> sorted() {
    std::sort_heap(places_.begin(), places_.end());
    return places_;
  }

 private:
  std::span<Neighbor> places_;
};

}  // namespace weald::neighbors
