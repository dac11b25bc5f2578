// Whether the solver gets anywhere (docs/methods/svm.md, "Too slow"). Where columns are of very different sizes a step
// may gain so little that the end would take years: the work is looked at window by window of many steps.
#pragma once

#include <cstdint>
#include <limits>

namespace weald::svm {

class Pace {
 public:
  explicit Pace(int64_t n_variables);

  // A step lowered the objective by so much; the largest violation is now `gap`.
  void gained(double decrease) { decrease_ += decrease; }
  void saw(double gap) { smallest_gap_ = gap < smallest_gap_ ? gap : smallest_gap_; }

  // Whether a window has just ended in which the gap hardly closed.
  bool stalls(int64_t n_steps);
  // Whether what is left, at most `duality_gap`, takes more steps than anybody waits for at the pace of that window.
  bool hopeless(double duality_gap) const;

 private:
  double most_steps_;
  int64_t window_, start_ = 0;
  double decrease_ = 0.0, gained_a_step_ = 0.0;
  double smallest_gap_ = std::numeric_limits<double>::infinity();
  double smallest_before_ = std::numeric_limits<double>::infinity();
};

}  // namespace weald::svm
