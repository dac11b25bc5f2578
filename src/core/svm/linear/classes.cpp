#include "core/svm/linear/classes.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/base/check.h"
#include "core/base/simd.h"
#include "core/svm/linear/order.h"
#include "core/svm/linear/vector.h"

namespace weald::linear {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double least_change = 1e-12;
constexpr double quiet_share = 0.01;  // of the largest violation of the pass before: rows below are set aside
constexpr double inner_share = 0.1;   // of the intercepts' last change: how precise the work between two changes is
constexpr int64_t rows_between_checks = 256;

using Values = std::vector<double>;

class Classes {
 public:
  Classes(const ClassProblem& problem, const Limits& limits, Progress& progress, Run& run)
      : p_(problem),
        limits_(limits),
        progress_(progress),
        run_(run),
        n_(problem.rows.n_rows),
        n_classes_(problem.n_classes),
        stride_((problem.n_classes + 3) / 4 * 4),
        rows_(problem.rows),
        order_(static_cast<size_t>(n_), limits.seed, Purpose::row_order) {
    if (p_.free_intercept) rows_.bias = typical_length(p_.rows);
    alpha_.assign(static_cast<size_t>(n_ * n_classes_), 0.0);
    weight_.assign(static_cast<size_t>(rows_.width() * stride_), 0.0);
    for (Values* each : {&g_, &b_, &change_, &sorted_, &offset_}) each->assign(static_cast<size_t>(stride_), 0.0);
    norm_.resize(static_cast<size_t>(n_));
    for (int64_t i = 0; i < n_; ++i) norm_[static_cast<size_t>(i)] = squared_norm(rows_, i);
  }

  ClassSolution solve() {
    bool converged = false;
    if (!p_.free_intercept) {
      converged = descend(limits_.tol);
    } else {  // multipliers, as of two classes (equation 17), for each class
      double tol = 1;
      for (;;) {
        tol = std::max(limits_.tol, std::min(tol, 1.0));
        const bool done = descend(tol);
        double largest = 0;
        for (int64_t m = 0; m < n_classes_; ++m) {
          const double change = rows_.bias * row_of(p_.rows.n_columns)[m];
          largest = std::max(largest, std::abs(change));
          offset_[static_cast<size_t>(m)] += change;
        }
        converged = done && tol <= limits_.tol && largest <= limits_.tol;
        if (converged || !done) break;
        tol = std::min(inner_share * largest, tol / 2);
      }
    }
    return solution(converged);
  }

 private:
  double* row_of(int64_t column) { return weight_.data() + column * stride_; }

  // Calls body(column, value) for the entries of a row, the intercept's column included.
  template <class Body>
  [[gnu::always_inline]] void for_entries(int64_t i, Body body) const {
    if (rows_.sparse()) {
      for (int64_t k = rows_.start[i]; k < rows_.start[i + 1]; ++k) body(rows_.index[k], rows_.value[k]);
    } else {
      const double* x = rows_.row(i);
      for (int64_t j = 0; j < rows_.n_columns; ++j) body(j, x[j]);
    }
    if (rows_.bias != 0) body(rows_.n_columns, rows_.bias);
  }

  // g_m = w_m · x_i for all classes: the weights of a column's classes stand together.
  [[gnu::always_inline]] void add_scores(int64_t i, double* g) {
    for_entries(i, [&](int64_t j, double x) {
      const double* w = weight_.data() + j * stride_;
      Four a, b;
      for (int64_t m = 0; m < stride_; m += 4) {
        load_four(w + m, a);
        load_four(g + m, b);
        b += x * a;
        store_four(b, g + m);
      }
    });
  }
  [[gnu::always_inline]] void add_change(int64_t i, const double* change) {
    for_entries(i, [&](int64_t j, double x) { add_multiple(change, x, stride_, weight_.data() + j * stride_); });
  }
  void add_scores_baseline(int64_t i, double* g) { add_scores(i, g); }
  WEALD_TARGET_AVX2 void add_scores_avx2(int64_t i, double* g) { add_scores(i, g); }
  void add_change_baseline(int64_t i, const double* change) { add_change(i, change); }
  WEALD_TARGET_AVX2 void add_change_avx2(int64_t i, const double* change) { add_change(i, change); }

  void scores(int64_t i) {
    std::copy(offset_.begin(), offset_.end(), g_.begin());
    if (simd_level() == Simd::avx2) return add_scores_avx2(i, g_.data());
    add_scores_baseline(i, g_.data());
  }

  // The best α of one row with all others fixed: α_m = min(C_m, (β − B_m)/A), with β so that they add up to 0
  // (equation 25). C_m is C for the row's class and 0 for others.
  void solve_row(double a, int64_t label, double upper) {
    const auto n = static_cast<size_t>(n_classes_), own = static_cast<size_t>(label);
    std::copy(b_.begin(), b_.begin() + n_classes_, sorted_.begin());
    sorted_[own] += a * upper;
    std::sort(sorted_.begin(), sorted_.begin() + n_classes_, std::greater<>());
    double beta = sorted_[0] - a * upper;
    size_t r = 1;
    for (; r < n && beta < static_cast<double>(r) * sorted_[r]; ++r) beta += sorted_[r];
    beta /= static_cast<double>(r);
    for (size_t m = 0; m < n; ++m) change_[m] = std::min(m == own ? upper : 0.0, (beta - b_[m]) / a);
  }

  // One row; returns how far it was from optimal (equation 24).
  double step(int64_t i) {
    const auto row = static_cast<size_t>(i);
    const int64_t label = p_.label[row];
    const double upper = p_.upper[row], a = norm_[row];
    double* alpha = alpha_.data() + i * n_classes_;
    scores(i);
    double highest = -infinite, lowest = infinite;
    for (int64_t m = 0; m < n_classes_; ++m) {
      const auto at = static_cast<size_t>(m);
      g_[at] += m == label ? 0.0 : 1.0;
      highest = std::max(highest, g_[at]);
      if (alpha[m] < (m == label ? upper : 0.0)) lowest = std::min(lowest, g_[at]);
    }
    const double violation = std::max(0.0, highest - lowest);
    if (violation <= least_change || !(a > 0)) return violation > least_change && a > 0 ? violation : 0.0;
    for (int64_t m = 0; m < n_classes_; ++m) b_[static_cast<size_t>(m)] = g_[static_cast<size_t>(m)] - a * alpha[m];
    solve_row(a, label, upper);
    bool moved = false;
    for (int64_t m = 0; m < n_classes_; ++m) {
      const double next = change_[static_cast<size_t>(m)];
      const double by = change_[static_cast<size_t>(m)] = next - alpha[m];
      alpha[m] = next;
      moved |= std::abs(by) >= least_change;
    }
    if (moved && simd_level() == Simd::avx2) {
      add_change_avx2(i, change_.data());
    } else if (moved) {
      add_change_baseline(i, change_.data());
    }
    return violation;
  }

  // Passes over all rows, or as many steps.
  int64_t n_passes() const { return (n_steps_ + n_ - 1) / n_; }

  // Passes until no row is violated by more than tol; false if time or passes ran out.
  bool descend(double tol) {
    double quiet = 0;
    order_.take_all();
    while (n_passes() < limits_.max_iter) {
      order_.shuffle(n_rounds_++);
      double largest = 0;
      int64_t until_check = rows_between_checks;
      for (size_t s = 0; s < order_.count();) {
        if (--until_check == 0) {
          run_.check();
          if (limits_.late()) return false;
          until_check = rows_between_checks;
        }
        const double violation = step(order_[s]);
        ++n_steps_;
        largest = std::max(largest, violation);
        if (violation < quiet) {
          order_.set_aside(s);
        } else {
          ++s;
        }
      }
      progress_.tell(n_passes(), largest);
      quiet = quiet_share * largest;
      if (limits_.late()) return false;
      if (largest > tol && order_.count() > 0) continue;
      if (order_.whole()) return true;
      order_.take_all();
      quiet = 0;
    }
    return false;
  }

  ClassSolution solution(bool converged) {
    ClassSolution found;
    found.converged = converged;
    found.n_iter = n_passes();
    const int64_t width = p_.rows.width();
    found.weight.resize(static_cast<size_t>(n_classes_ * width));
    double own = 0;
    for (int64_t m = 0; m < n_classes_; ++m) {
      double* to = found.weight.data() + m * width;
      for (int64_t j = 0; j < rows_.n_columns; ++j) to[j] = row_of(j)[m];
      if (p_.rows.bias != 0) {
        const double intercept = rows_.bias * row_of(rows_.n_columns)[m];
        to[width - 1] = (p_.free_intercept ? offset_[static_cast<size_t>(m)] : intercept) / p_.rows.bias;
      }
      const int64_t counted = p_.free_intercept ? rows_.n_columns : width;
      own += dot(to, to, counted);
    }
    if (p_.free_intercept) std::fill_n(row_of(rows_.n_columns), stride_, 0.0);  // what it gave is in the offsets
    double loss = 0, gain = 0;
    for (int64_t i = 0; i < n_; ++i) {
      scores(i);
      const int64_t label = p_.label[static_cast<size_t>(i)];
      double worst = 0;
      for (int64_t m = 0; m < n_classes_; ++m) {
        if (m == label) continue;
        worst = std::max(worst, 1 + g_[static_cast<size_t>(m)] - g_[static_cast<size_t>(label)]);
        gain -= alpha_[static_cast<size_t>(i * n_classes_ + m)];
      }
      loss += p_.upper[static_cast<size_t>(i)] * worst;
    }
    found.primal = own / 2 + loss;
    found.dual = gain - own / 2 - (p_.free_intercept ? open() : 0.0);
    return found;
  }

  // What free intercepts may gain by sums of α that are not 0 (equation 4).
  double open() const {
    double sum = 0;
    for (int64_t m = 0; m < n_classes_; ++m) {
      double balance = 0;
      for (int64_t i = 0; i < n_; ++i) balance += alpha_[static_cast<size_t>(i * n_classes_ + m)];
      sum += std::abs(balance) * (std::abs(offset_[static_cast<size_t>(m)]) + 1);
    }
    return sum;
  }

  const ClassProblem& p_;
  const Limits& limits_;
  Progress& progress_;
  Run& run_;
  int64_t n_, n_classes_, stride_;
  Rows rows_;  // with the intercept's column as the descent has it
  Order order_;
  Values alpha_;   // (n, n_classes)
  Values weight_;  // (width, stride_)
  Values norm_, g_, b_, change_, sorted_, offset_;
  int64_t n_rounds_ = 0, n_steps_ = 0;
};

}  // namespace

ClassSolution solve_classes(const ClassProblem& problem, const Limits& limits, Progress& progress, Run& run) {
  for (const int32_t each : problem.label) require(each >= 0 && each < problem.n_classes, "class out of range");
  return Classes(problem, limits, progress, run).solve();
}

}  // namespace weald::linear
