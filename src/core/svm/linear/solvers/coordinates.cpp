#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/svm/linear/columns.h"
#include "core/svm/linear/loss.h"
#include "core/svm/linear/objective.h"
#include "core/svm/linear/order.h"
#include "core/svm/linear/solvers/l1.h"
#include "core/svm/linear/solvers/l1_step.h"

namespace weald::linear {

namespace {

constexpr int most_halvings = 20;
constexpr double least_step = 1e-12, least_curvature = 1e-12;
constexpr int64_t entries_between_checks = 1 << 18;
constexpr size_t column_ahead = 8, column_entries_ahead = 4;  // columns whose data is asked for before their turn

// What an entry needs of its row, side by side. Of classes z = 1 − yf and 2Cy; of regressions y − f and 2C.
template <bool regression>
struct Cell {
  double rest, twice;

  Cell(const Problem& p, size_t i)
      : rest(regression ? p.target[i] : 1.0), twice(2 * p.upper[i] * (regression ? 1.0 : p.target[i])) {}

  // The part of the rest that costs something; its derivative by f, with the sign turned, is `twice` times it.
  [[gnu::always_inline]] double excess(double value, double epsilon) const {
    if constexpr (regression) return value > epsilon ? value - epsilon : value < -epsilon ? value + epsilon : 0.0;
    return std::max(value, 0.0);
  }
  [[gnu::always_inline]] double moved(double by) const {
    if constexpr (regression) return rest - by;
    return rest - std::copysign(1.0, twice) * by;
  }
  [[gnu::always_inline]] double loss(double value, double epsilon) const {
    const double open = excess(value, epsilon);
    return std::abs(twice) / 2 * open * open;
  }
};

// What a step needs of a column, in one line of the cache: columns come in random order.
struct alignas(64) ColumnRecord {
  double weight = 0;
  double ridge = 1;  // r of the penalty
  double bound = 0;  // Σ C x²
  int64_t start = 0, n = 0;
};

// Newton steps on one column at a time; what rows need is kept up to date.
template <bool regression>
class Coordinates {
 public:
  Coordinates(const Problem& problem, const Columns& columns, const Limits& limits, Progress& progress, Run& run)
      : p_(problem),
        limits_(limits),
        progress_(progress),
        run_(run),
        row_(columns.row()),
        value_(columns.value()),
        columns_(static_cast<size_t>(columns.count())),
        order_(columns_.size(), limits.seed, Purpose::column_order) {
    for (size_t i = 0; i < p_.target.size(); ++i) cells_.emplace_back(p_, i);
    for (int64_t j = 0; j < columns.count(); ++j) {
      ColumnRecord& column = columns_[static_cast<size_t>(j)];
      column.ridge = p_.ridge(j);
      column.start = columns.start(j);
      column.n = columns.start(j + 1) - column.start;
      for_entries(column, [&](Cell<regression>& cell, double x) { column.bound += std::abs(cell.twice) / 2 * x * x; });
    }
  }

  Solution solve() {
    const double share = rarer_share(p_);
    bool converged = false;
    double last = infinite, first = 0;
    while (n_passes_ < limits_.max_iter && !limits_.late() && !converged) {
      order_.shuffle(n_passes_);
      largest_ = sum_ = 0;
      pass(last);
      if (n_passes_++ == 0) first = sum_;
      progress_.tell(n_passes_, first > 0 ? sum_ / first : 0.0);
      last = largest_;
      if (sum_ > limits_.tol * share * first || limits_.late()) continue;
      converged = order_.whole();
      order_.take_all();
      last = infinite;
    }
    return solution(converged);
  }

 private:
  template <class Body>
  [[gnu::always_inline]] void for_entries(const ColumnRecord& column, Body body) {
    const int32_t* row = row_ + column.start;
    const double* value = value_ + column.start;
    for (int64_t k = 0; k < column.n; ++k) body(cells_[static_cast<size_t>(row[k])], value[k]);
  }

  void pass(double last) {
    int64_t n_entries = 0;
    const double slack = last / static_cast<double>(p_.rows.n_rows);
    for (size_t s = 0; s < order_.count();) {
      if (n_entries > entries_between_checks) {
        run_.check();
        if (limits_.late()) return;
        n_entries = 0;
      }
      if (s + column_ahead < order_.count()) __builtin_prefetch(&record(s + column_ahead), 1);
      if (s + column_entries_ahead < order_.count()) {
        __builtin_prefetch(row_ + record(s + column_entries_ahead).start);
        __builtin_prefetch(value_ + record(s + column_entries_ahead).start);
      }
      n_entries += record(s).n + 1;
      if (step(record(s), slack)) {
        order_.set_aside(s);
      } else {
        ++s;
      }
    }
  }
  ColumnRecord& record(size_t s) { return columns_[static_cast<size_t>(order_[s])]; }

  // Returns whether the column can be set aside: 0, and far from wanting to be anything else.
  bool step(ColumnRecord& column, double slack) {
    double g = 0, h = 0;
    for_entries(column, [&](const Cell<regression>& cell, double x) {
      const double open = cell.excess(cell.rest, p_.epsilon);
      if (open == 0) return;
      g -= cell.twice * open * x;
      h += std::abs(cell.twice) * x * x;
    });
    if (column.weight == 0 && std::abs(g) < column.ridge - slack) return true;
    const double open = violation(g, column.weight, column.ridge);
    largest_ = std::max(largest_, open);
    sum_ += open;
    const double change = shrunken_step(g, std::max(h, least_curvature), column.weight, column.ridge);
    if (std::abs(change) >= least_step) search(column, g, change);
    return false;
  }

  // Halves the change until the objective falls by a share of what the model promises.
  void search(ColumnRecord& column, double g, double change) {
    const auto rise = [&](double by) {
      return column.ridge * (std::abs(column.weight + by) - std::abs(column.weight));
    };
    const double promised = g * change + rise(change);
    double before = 0, share = 1;
    for (int round = 0; round < most_halvings; ++round, change /= 2, share /= 2) {
      const double enough = least_descent * share * promised;
      // Σ C x² bounds the curvature, often well enough to see the fall without looking at the rows.
      bool falls = column.bound * change * change + g * change + rise(change) <= enough;
      if (!falls) {
        double after = 0;
        for_entries(column, [&](const Cell<regression>& cell, double x) {
          if (round == 0) before += cell.loss(cell.rest, p_.epsilon);
          after += cell.loss(cell.moved(change * x), p_.epsilon);
        });
        falls = after - before + rise(change) <= enough;
      }
      if (!falls) continue;
      for_entries(column, [&](Cell<regression>& cell, double x) { cell.rest = cell.moved(change * x); });
      column.weight += change;
      return;
    }
  }

  Solution solution(bool converged) {
    Solution found;
    for (const ColumnRecord& column : columns_) found.weight.push_back(column.weight);
    found.n_iter = n_passes_;
    found.converged = converged;
    found.alpha.resize(cells_.size());
    multiply(p_.rows, found.weight, run_, found.alpha);
    for (size_t i = 0; i < cells_.size(); ++i) {
      found.alpha[i] = squared_loss(p_, static_cast<int64_t>(i), found.alpha[i]).pull;
    }
    to_alpha(p_, found.alpha);
    const Objectives both = objectives(p_, found.weight, found.alpha, run_);
    found.primal = both.primal;
    found.dual = both.dual;
    return found;
  }

  const Problem& p_;
  const Limits& limits_;
  Progress& progress_;
  Run& run_;
  const int32_t* row_;  // of each entry, column after column
  const double* value_;
  std::vector<Cell<regression>> cells_;
  std::vector<ColumnRecord> columns_;
  Order order_;
  int64_t n_passes_ = 0;
  double largest_ = 0, sum_ = 0;
};

}  // namespace

Solution solve_coordinates(const Problem& problem, const Columns& columns, const Limits& limits, Progress& progress,
                           Run& run) {
  if (problem.regression) return Coordinates<true>(problem, columns, limits, progress, run).solve();
  return Coordinates<false>(problem, columns, limits, progress, run).solve();
}

}  // namespace weald::linear
