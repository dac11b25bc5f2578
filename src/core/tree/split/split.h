// The split search of one column in one node: candidates in ascending code, missing rows tried on both sides and as a
// side of their own. Fed by a histogram or by code order: the same candidates, the same floats, the same winner.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/tree/rows/order.h"
#include "core/tree/split/combinations.h"
#include "core/tree/split/lanes.h"
#include "core/tree/split/mean_filter.h"
#include "core/tree/statistics/ties.h"

namespace weald {

struct Split {
  double score = -std::numeric_limits<double>::infinity();  // score(left) + score(right) − held_back
  double held_back = 0;                                     // what a split by categories has to gain by more
  __int128 loss = 0;  // absolute error: the exact −score; two that round to one score are told apart by it
  int32_t column = -1;
  uint32_t code = 0;  // largest present code that goes left; categories: length of the prefix, or the subset's mask
  uint32_t next_code = 0;  // smallest present code that goes right; 0: none, missing stands against present
  double threshold = 0;    // drawn thresholds only; else it follows from the codes
  double left_value = 0, right_value = 0;  // what the children predict, where a constraint asks
  bool drawn = false;
  bool missing_left = false;
  bool saw_missing = false;           // else missing_left is decided by cover
  std::vector<uint32_t> left_codes;   // categories only
  std::vector<uint32_t> right_codes;  // categories only
  std::vector<int64_t> left;          // lanes of the left child
  std::vector<Term> terms;            // of a linear combination; empty: `column` alone
  Ties ties;                          // of the node

  bool found() const { return column >= 0; }
  // Nothing found yet; memory stays.
  void clear(const Ties& of_node) {
    ties = of_node;
    score = -std::numeric_limits<double>::infinity();
    held_back = 0;
    loss = 0;
    column = -1;
  }
  // What it gains over a node of this score.
  double gain(double node_score) const { return score + held_back - node_score; }
  // Ties: by column (ties.h), lower code, missing left first.
  bool better_than(const Split& other) const {
    if (score != other.score) return score > other.score;
    if (loss != other.loss) return loss < other.loss;
    if (column != other.column) return other.column < 0 || ties.prefers(column, other.column);
    return code != other.code ? code < other.code : missing_left && !other.missing_left;
  }
};

// Of the scores whose difference a gain is: what rounding may have made of a gain of 0.
inline constexpr double gain_rounding = 0x1p-48;

struct Limits {
  int64_t min_rows = 1;
  int64_t min_weight = 0;
  bool bind() const { return min_rows > 1 || min_weight > 0; }
  bool allow(int64_t n_left, int64_t n_right, int64_t left_weight, int64_t right_weight) const {
    const bool rows = min_rows <= 1 || (n_left >= min_rows && n_right >= min_rows);
    return rows && left_weight >= min_weight && right_weight >= min_weight;
  }
};

// What a monotone constraint asks of a split on its column: both children predict within the node's bounds, and the
// right one does not predict less (direction 1) or more (−1) than the left one. Other columns split as they like: what
// a node predicts is held within its bounds afterwards.
struct Constraint {
  int direction = 0;
  double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
  bool binds() const { return direction != 0; }
  bool bounded() const { return direction != 0 || std::isfinite(lower) || std::isfinite(upper); }
  // `ordered`: the children part present values; else missing stands against present, which have no order.
  bool keeps(double left, double right, bool ordered) const {
    const bool within = lower <= left && left <= upper && lower <= right && right <= upper;
    return within && (!ordered || (direction > 0 ? left <= right : left >= right));
  }
};

// Whether both lanes of a row may be 0, so that only a count tells if a cell has rows.
template <class Rows>
bool rows_may_be_zero(const Rows& rows) {
  if constexpr (requires { rows.may_be_zero(); }) return rows.may_be_zero();
  return false;
}

// Bounds lower what a set of rows is worth, on every column (boosting), instead of only forbidding splits.
template <class Criterion>
concept HoldsScores =
    requires(const Criterion& criterion, const int64_t* cell, double value) { criterion.score_at(cell, value); };

// Best candidate of one column so far. Feed: begin, add missing rows, then for each present code `add` and `consider`.
template <class Criterion, int N>
class Scan {
 public:
  Scan(const Criterion& criterion, int lanes, Limits limits)
      : left(lanes),
        missing(lanes),
        own_criterion_(&criterion),
        criterion_(&criterion),
        limits_(limits),
        total_(lanes),
        trial_(lanes),
        right_(lanes),
        best_left_(lanes) {}

  Lanes<N> left;     // rows of present codes so far
  Lanes<N> missing;  // rows of code 0
  int64_t n_missing = 0;
  bool constant = false;  // one code only: no candidate here or in any node below

  void begin(const int64_t* total, int64_t n_total, const Constraint& constraint = {}) {
    criterion_ = own_criterion_;
    set_lanes(total_, total);
    n_total_ = n_total;
    constraint_ = constraint;
    constrained_ = HoldsScores<Criterion> ? constraint.bounded() : constraint.binds();
    clear_lanes(left);
    clear_lanes(missing);
    n_missing = 0;
    constant = false;
    limited_ = limits_.bind();
    reset_best();
  }

  void reset_best() {
    best_score_ = -std::numeric_limits<double>::infinity();
    held_back_ = 0;
  }
  // The best candidate of the column has to be better by so much.
  void hold_back(double by) {
    best_score_ -= by;
    held_back_ = by;
  }
  void set_limited(bool limited) { limited_ = limited && limits_.bind(); }

  // The candidate between `code` and `next` (0: after the last present code); n_left rows of present codes so far.
  void consider(uint32_t code, uint32_t next, int64_t n_left) {
    if (n_missing == 0) {
      if (next != 0) attempt(left, n_left, code, next, false);
      return;
    }
    if (next != 0) {
      set_lanes(trial_, left.data());
      add_lanes(trial_, missing.data());
      attempt(trial_, n_left + n_missing, code, next, true);
    }
    attempt(left, n_left, code, next, false);
  }

  // The hot loop of histograms: no missing rows, no constraint. All candidates of a column whose cells are `stride`
  // apart, in registers; one that cannot win costs a few multiplications.
  void consider_cells(const int64_t* cells, uint32_t n_codes, size_t stride, bool counted) {
    static_assert(N > 0);
    const Criterion criterion = *criterion_;
    const Lanes<N> total(total_);
    Lanes<N> l(N), best(N);
    CandidateFilter<Criterion, N> filter(criterion, total, best_score_);
    uint32_t current = 0, n_present = 0;
    int64_t n_left = 0;
    for (uint32_t code = 1; code <= n_codes; ++code) {
      const int64_t* cell = cells + stride * code;
      if (!has_rows<N>(cell, N, counted)) continue;
      ++n_present;
      if (current != 0 && !filter.hopeless(l)) {
        const Lanes<N> r = without(total, l);
        const double score = criterion.score(l.data()) + criterion.score(r.data());
        if (score > filter.best_score() && within_limits(l.data(), n_left, r.data())) {
          filter.raise(score);
          best = l;
          best_code_ = current;
          best_next_ = code;
          best_n_left_ = n_left;
        }
      }
      add_lanes(l, cell);
      n_left += counted ? cell[N] : criterion.weight(cell);
      current = code;
    }
    constant = n_present < 2;
    if (!(filter.best_score() > best_score_)) return;
    best_score_ = filter.best_score();
    best_missing_left_ = false;
    best_left_ = best;
  }

  // A candidate found elsewhere, better than any so far.
  void take(double score, uint32_t code, uint32_t next, const Lanes<N>& best_left, bool missing_left = false) {
    best_score_ = score;
    best_code_ = code;
    best_next_ = next;
    best_missing_left_ = missing_left;
    best_left_ = best_left;
  }

  bool constrained() const { return constrained_; }
  bool within_limits(const int64_t* l, int64_t n_left, const int64_t* r) const {
    return !limited_ || allowed(l, n_left, r);
  }
  // The same of the weights of both sides.
  bool within_limits(int64_t n_left, int64_t left_weight, int64_t right_weight) const {
    return !limited_ || limits_.allow(n_left, n_total_ - n_left, left_weight, right_weight);
  }
  const Lanes<N>& total() const { return total_; }
  int64_t n_total() const { return n_total_; }
  bool found() const { return best_score_ > -std::numeric_limits<double>::infinity(); }

  // True if the best candidate keeps the limits (asked after a search that ignored them).
  bool best_within_limits() const {
    Lanes<N> rest(total_);
    for (int l = 0; l < rest.size(); ++l) rest.data()[l] -= best_left_.data()[l];
    return allowed(best_left_.data(), best_n_left_, rest.data());
  }

  // Whether the best candidate is worth more than the rows unsplit, as the node's own criterion judges them.
  bool gains() const { return best_score_ - unsplit_score() > gain_rounding * std::abs(best_score_); }

  // Makes `split` the best candidate of this column, if it is the better one.
  bool offer(int32_t column, Split& split) const {
    if (!found()) return false;
    const bool tied = best_score_ == split.score;
    const bool wins = tied ? split.ties.prefers(column, split.column) : best_score_ > split.score;
    if (!wins && split.found()) return false;
    split.score = best_score_;
    split.held_back = held_back_;
    split.column = column;
    split.code = best_code_;
    split.next_code = best_next_;
    split.missing_left = best_missing_left_;
    split.saw_missing = n_missing > 0;
    split.drawn = false;
    if constexpr (Criterion::ordered) {
      if (constrained_) {
        Lanes<N> right(total_);
        for (int l = 0; l < right.size(); ++l) right.data()[l] -= best_left_.data()[l];
        split.left_value = held_value(best_left_.data());
        split.right_value = held_value(right.data());
      }
    }
    split.left_codes.clear();
    split.right_codes.clear();
    split.terms.clear();
    split.left.assign(best_left_.data(), best_left_.data() + best_left_.size());
    return true;
  }

  // Judges candidates by sums of which so much in the first lane is taken for chance; the best is then worth what it
  // gains over the node judged alike.
  void begin_belief(int64_t excess) {
    excess_ = excess;
    before_ = unsplit_score();
    total_.data()[0] -= excess_;
    before_ -= unsplit_score();
  }
  void end_belief() {
    total_.data()[0] += excess_;
    best_score_ += before_;
  }
  const Criterion& criterion() const { return *criterion_; }
  // Another judge for the candidates to come, until the next column.
  void judge_by(const Criterion& criterion) { criterion_ = &criterion; }

 private:
  // Row counts are exact only where a limit asks for them (see scan_histogram), so only then are they looked at.
  bool allowed(const int64_t* l, int64_t n_left, const int64_t* r) const {
    return limits_.allow(n_left, n_total_ - n_left, criterion_->weight(l), criterion_->weight(r));
  }

  double unsplit_score() const {
    if constexpr (HoldsScores<Criterion>) {
      if (constrained_) {
        const double value = own_criterion_->value(total_.data());
        return own_criterion_->score_at(total_.data(), std::clamp(value, constraint_.lower, constraint_.upper));
      }
    }
    return own_criterion_->score(total_.data());
  }

  // What a side predicts under the constraint.
  double held_value(const int64_t* cell) const {
    const double value = criterion_->value(cell);
    return HoldsScores<Criterion> ? std::clamp(value, constraint_.lower, constraint_.upper) : value;
  }

  // score(left) + score(right); −∞ if the constraint forbids the split.
  double score_of(const int64_t* l, const int64_t* r, bool ordered) const {
    if constexpr (Criterion::ordered) {
      if (constrained_) {
        const double left_value = held_value(l), right_value = held_value(r);
        if (constraint_.binds() && !constraint_.keeps(left_value, right_value, ordered)) {
          return -std::numeric_limits<double>::infinity();
        }
        if constexpr (HoldsScores<Criterion>) {
          return criterion_->score_at(l, left_value) + criterion_->score_at(r, right_value);
        }
      }
    }
    return criterion_->score(l) + criterion_->score(r);
  }

  void attempt(const Lanes<N>& l, int64_t n_left, uint32_t code, uint32_t next, bool missing_left) {
    for (int k = 0; k < right_.size(); ++k) right_.data()[k] = total_.data()[k] - l.data()[k];
    if (criterion_->hopeless(l.data(), right_.data(), best_score_)) return;
    if (limited_ && !allowed(l.data(), n_left, right_.data())) return;
    const double score = score_of(l.data(), right_.data(), next != 0);
    if (!(score > best_score_)) return;
    best_score_ = score;
    best_code_ = code;
    best_next_ = next;
    best_missing_left_ = missing_left;
    best_n_left_ = n_left;
    set_lanes(best_left_, l.data());
  }

  const Criterion* own_criterion_;
  const Criterion* criterion_;
  Limits limits_;
  bool limited_ = false;
  Constraint constraint_;
  bool constrained_ = false;
  Lanes<N> total_, trial_, right_, best_left_;
  int64_t n_total_ = 0;
  double best_score_ = 0;
  double held_back_ = 0;
  int64_t excess_ = 0;  // see begin_belief
  double before_ = 0;
  uint32_t best_code_ = 0, best_next_ = 0;
  bool best_missing_left_ = false;
  int64_t best_n_left_ = 0;
};

}  // namespace weald
