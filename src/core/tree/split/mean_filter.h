// Which candidates of a column cannot win, told without divisions: they are most of the cost of a candidate.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/tree/split/gain.h"
#include "core/tree/split/lanes.h"

namespace weald {

// Criteria that compare means: the sides are worth more than the node by
//
//   mean_gain · (S_l − W_l·S/W)² · W / (W_l·W_r)
//
// so the left side alone tells, in half the operations of Criterion::hopeless.
template <class Criterion>
concept ComparesMeans = requires {
  Criterion::mean_lane;
  Criterion::mean_gain;
};

template <class Criterion, int N>
class CandidateFilter {
 public:
  CandidateFilter(const Criterion& criterion, const Lanes<N>& total, double best_score)
      : criterion_(criterion), total_(total), best_score_(best_score) {}
  double best_score() const { return best_score_; }
  void raise(double best_score) { best_score_ = best_score; }
  // True only if the score of the candidate surely is no more than the best one.
  bool hopeless(const Lanes<N>& left) const {
    return criterion_.hopeless(left.data(), without(total_, left).data(), best_score_);
  }

 private:
  const Criterion& criterion_;
  const Lanes<N>& total_;
  double best_score_;
};

// With m = S/W, the rounding errors of S_l − m·W_l are below 2^-46 |S| and 2^-50 of itself; with a share ε of it
// besides, (|x| + c)² ≤ x² (1 + ε) + c² (1 + 1/ε). Scores are right to 2^-49 of the larger of the unsplit and the best.
template <ComparesMeans Criterion, int N>
class CandidateFilter<Criterion, N> {
 public:
  CandidateFilter(const Criterion& criterion, const Lanes<N>& total, double best_score)
      : unsplit_(criterion.score(total.data())) {
    const auto sum = static_cast<double>(total.data()[Criterion::mean_lane]);
    const auto weight = static_cast<double>(criterion.weight(total.data()));
    mean_ = sum / weight;
    blur_ = 0x1p-71 * sum * sum;
    most_weight_ = weight * (1 - caution);
    share_ = (1 - caution) / (Criterion::mean_gain * weight * (1 + 0x1p-20));
    raise(best_score);
  }
  double best_score() const { return best_score_; }
  void raise(double best_score) {
    best_score_ = best_score;
    const double error = caution * std::max(std::abs(best_score), std::abs(unsplit_));
    bar_ = std::max(0.0, best_score - unsplit_ - error) * share_;
  }
  bool hopeless(const Lanes<N>& left) const {
    const auto weight = static_cast<double>(Criterion::weight(left.data()));
    const double off = static_cast<double>(left.data()[Criterion::mean_lane]) - mean_ * weight;
    return off * off + blur_ < bar_ * weight * (most_weight_ - weight);
  }

 private:
  double unsplit_, mean_, blur_, most_weight_, share_;
  double best_score_ = 0, bar_ = 0;
};

}  // namespace weald
