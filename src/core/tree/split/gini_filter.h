// Which thresholds of a column can beat a score under Gini, two classes: a test of four or sixteen at once.
//
// With l of N rows on the left, l₁ of N₁ of them of class 1, and r = N − l,
//
//   score(left) + score(right) = −2 N₀N₁/N + 2 (l₁·N − N₁·l)² / (l·r·N)
//
// so that a candidate is hopeless against a score s where (l₁·N − N₁·l)² < (s + 2 N₀N₁/N)·N/2 · l·r: no division. The
// left side is the square of a difference of two numbers below N², each rounded once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace weald {

class GiniFilter {
 public:
  static constexpr size_t together = 16;  // candidates that are dismissed at once

  // `total`: the counts of both classes in the node.
  explicit GiniFilter(const int64_t* total)
      : one_(static_cast<double>(total[1])), all_(static_cast<double>(total[0] + total[1])) {}

  // Only candidates above `score` are wanted from now on.
  void raise(double score) {
    constexpr double slack = 0x1p-30, nobody = -0x1p900;
    const double own = -2 * (all_ - one_) * one_ / all_;
    level_ = std::max(nobody, (score - own - slack * all_) * all_ / 2);
  }

  // The first block of `together` candidates, from block `first` on, of which one may be above the score; n_blocks if
  // there is none. `left`: per candidate the counts of its left side, class 1 in the high half; 0 where there is none.
  size_t next_open(const uint64_t* left, size_t first, size_t n_blocks) const;

  double one() const { return one_; }
  double all() const { return all_; }
  double level() const { return level_; }

 private:
  double one_, all_, level_ = 0;
};

}  // namespace weald
