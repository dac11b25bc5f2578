#include "core/svm/linear/solvers/descent.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "core/base/simd.h"
#include "core/svm/linear/objective.h"
#include "core/svm/linear/order.h"
#include "core/svm/linear/vector.h"

namespace weald::linear {

namespace {

constexpr int64_t rows_between_checks = 1024;
constexpr size_t row_ahead = 8, row_entries_ahead = 3;  // rows whose data is asked for before their turn
constexpr int64_t most_fetched = 256;                   // entries of a row that are
constexpr double least_gradient = 1e-12;
constexpr double inner_share = 0.1;  // of the intercept's last change: how precise a pass between two changes is

using Values = std::vector<double>;

// The columns of sparse rows by how often they occur, so that the weights that are read most lie side by side in the
// nearest cache. Entries keep their order, and with it every sum its bits.
class ByFrequency {
 public:
  explicit ByFrequency(const Rows& rows) : rows_(rows) {
    if (!rows.sparse() || rows.n_columns < fewest_columns) return;
    const auto n = static_cast<size_t>(rows.n_columns);
    const std::span index(rows.index + rows.start[0], static_cast<size_t>(rows.n_entries()));
    std::vector<uint32_t> count(n, 0);
    for (const int32_t column : index) ++count[static_cast<size_t>(column)];
    // by powers of two alone: no sorting
    std::array<int32_t, 34> next{};
    const auto bucket = [&](size_t j) { return static_cast<size_t>(std::countl_zero(count[j])); };
    for (size_t j = 0; j < n; ++j) ++next[bucket(j) + 1];
    for (size_t b = 1; b < next.size(); ++b) next[b] += next[b - 1];
    place_.resize(n);
    for (size_t j = 0; j < n; ++j) place_[j] = next[bucket(j)]++;
    index_.resize(index.size());
    for (size_t k = 0; k < index.size(); ++k) index_[k] = place_[static_cast<size_t>(index[k])];
    rows_.index = index_.data() - rows.start[0];
  }
  ByFrequency(const ByFrequency&) = delete;
  ByFrequency& operator=(const ByFrequency&) = delete;

  // The rows with their columns in that order.
  const Rows& rows() const { return rows_; }
  // Weights of these columns in the order of the table's.
  std::vector<double> back(const std::vector<double>& weight) const {
    if (place_.empty()) return weight;
    std::vector<double> out(weight.size());
    for (size_t j = 0; j < out.size(); ++j) out[j] = weight[static_cast<size_t>(place_[j])];
    return out;
  }

 private:
  static constexpr int64_t fewest_columns = 4096;  // weights of fewer fit into that cache

  Rows rows_;
  std::vector<int32_t> place_, index_;
};

// What a step needs of a row, in one line of the cache: rows come in random order.
struct alignas(64) RowRecord {
  double alpha = 0;  // of classes in [0, C], of regressions in [−C, C]
  double target = 0;
  double upper = 0;          // C; infinite if the loss is squared
  double own = 0;            // what the squared loss adds to the diagonal
  double curvature = 0;      // ‖x‖² + own
  int64_t start = 0, n = 0;  // of its entries; 0 and the number of columns of dense rows
};

// The entries of one row, and what to do with them. The intercept's weight is kept apart.
struct SparseRows {
  const Rows& rows;

  [[gnu::always_inline]] double dot(const RowRecord& row, int64_t, const double* v) const {
    const int32_t* index = rows.index + row.start;
    const double* value = rows.value + row.start;
    double a = 0, b = 0, c = 0, e = 0;  // additions wait for one another
    int64_t k = 0;
    for (; k + 4 <= row.n; k += 4) {
      a += value[k] * v[index[k]];
      b += value[k + 1] * v[index[k + 1]];
      c += value[k + 2] * v[index[k + 2]];
      e += value[k + 3] * v[index[k + 3]];
    }
    for (; k < row.n; ++k) a += value[k] * v[index[k]];
    return (a + c) + (b + e);
  }
  [[gnu::always_inline]] void add(const RowRecord& row, int64_t, double u, double* v) const {
    const int32_t* index = rows.index + row.start;
    const double* value = rows.value + row.start;
    for (int64_t k = 0; k < row.n; ++k) v[index[k]] += u * value[k];
  }
  [[gnu::always_inline]] void fetch(const RowRecord& row, int64_t) const {
    const double* value = rows.value + row.start;
    const int32_t* index = rows.index + row.start;
    const int64_t n = std::min(row.n, most_fetched);
    for (int64_t k = 0; k < n; k += 8) __builtin_prefetch(value + k);
    for (int64_t k = 0; k < n; k += 16) __builtin_prefetch(index + k);
  }
};

struct DenseRows {
  const Rows& rows;

  [[gnu::always_inline]] double dot(const RowRecord& row, int64_t i, const double* v) const {
    return dot_of(rows.row(i), v, row.n);
  }
  [[gnu::always_inline]] void add(const RowRecord& row, int64_t i, double u, double* v) const {
    add_multiple(rows.row(i), u, row.n, v);
  }
  [[gnu::always_inline]] void fetch(const RowRecord& row, int64_t i) const {
    const double* x = rows.row(i);
    const int64_t n = std::min(row.n, most_fetched);
    for (int64_t j = 0; j < n; j += 8) __builtin_prefetch(x + j);
  }
};

// What descends: a dual variable per row, and v.
struct Machine {
  const Problem& p;
  ByFrequency columns;
  double bias;        // of the intercept's column
  double offset = 0;  // a fixed part of the intercept (equation 17)
  std::vector<RowRecord> rows;
  Values weight;
  double of_bias = 0;  // the weight of the intercept's column

  Machine(const Problem& problem, double bias_value)
      : p(problem), columns(problem.rows), bias(bias_value), rows(static_cast<size_t>(problem.rows.n_rows)) {
    Rows with_bias = p.rows;
    with_bias.bias = bias;
    for (size_t i = 0; i < rows.size(); ++i) {
      RowRecord& row = rows[i];
      const auto at = static_cast<int64_t>(i);
      row.target = p.target[i];
      row.upper = p.squared ? infinite : p.upper[i];
      row.own = p.squared ? 0.5 / p.upper[i] : 0.0;
      row.curvature = squared_norm(with_bias, at) + row.own;
      row.start = p.rows.sparse() ? p.rows.start[i] : 0;
      row.n = p.rows.sparse() ? p.rows.start[i + 1] - row.start : p.rows.n_columns;
    }
    weight.assign(static_cast<size_t>(p.rows.n_columns), 0.0);
  }
};

// What a pass found: the range of projected gradients, or the largest violation and the sum of all.
struct Found {
  double highest = -infinite, lowest = infinite;
  double largest = 0, sum = 0;
};

// One step on a row of a classifier. `highest` and `lowest` are those of the pass before. Returns whether the row can
// be set aside.
template <class Access>
[[gnu::always_inline]] inline bool step_class(Machine& m, const Access& access, int64_t i, double highest,
                                              double lowest, Found& found) {
  RowRecord& row = m.rows[static_cast<size_t>(i)];
  const double f = access.dot(row, i, m.weight.data()) + m.bias * m.of_bias + m.offset;
  const double g = row.target * f - 1 + row.own * row.alpha;
  double projected = g;
  if (row.alpha <= 0) {
    if (g > highest) return true;
    projected = std::min(g, 0.0);
  } else if (row.alpha >= row.upper) {
    if (g < lowest) return true;
    projected = std::max(g, 0.0);
  }
  found.highest = std::max(found.highest, projected);
  found.lowest = std::min(found.lowest, projected);
  if (std::abs(projected) <= least_gradient) return false;
  const double before = row.alpha;
  row.alpha = row.curvature > 0 ? std::clamp(before - g / row.curvature, 0.0, row.upper) : g < 0 ? row.upper : 0.0;
  const double change = (row.alpha - before) * row.target;
  access.add(row, i, change, m.weight.data());
  m.of_bias += change * m.bias;
  return false;
}

// One step on a row of a regression.
template <class Access>
[[gnu::always_inline]] inline bool step_number(Machine& m, const Access& access, int64_t i, double largest,
                                               Found& found) {
  RowRecord& row = m.rows[static_cast<size_t>(i)];
  const double f = access.dot(row, i, m.weight.data()) + m.bias * m.of_bias + m.offset;
  const double beta = row.alpha, g = f - row.target + row.own * beta;
  const double low = g + m.p.epsilon, high = g - m.p.epsilon;
  double violation = 0;
  if (beta == 0) {
    if (low > largest && high < -largest) return true;
    violation = std::max({-low, high, 0.0});
  } else if (beta >= row.upper) {
    if (low < -largest) return true;
    violation = std::max(low, 0.0);
  } else if (beta <= -row.upper) {
    if (high > largest) return true;
    violation = std::max(-high, 0.0);
  } else {
    violation = std::abs(beta > 0 ? low : high);
  }
  found.largest = std::max(found.largest, violation);
  found.sum += violation;
  double step = -beta;
  if (!(row.curvature > 0)) {
    step = low < 0 ? infinite : high > 0 ? -infinite : 0.0;
  } else if (low < row.curvature * beta) {
    step = -low / row.curvature;
  } else if (high > row.curvature * beta) {
    step = -high / row.curvature;
  }
  if (std::abs(step) < least_gradient) return false;
  row.alpha = std::clamp(beta + step, -row.upper, row.upper);
  const double change = row.alpha - beta;
  access.add(row, i, change, m.weight.data());
  m.of_bias += change * m.bias;
  return false;
}

// A pass over the rows in order; stops in between when it is late.
template <class Access>
[[gnu::always_inline]] inline Found pass(Machine& m, const Access& access, Order& order, const Found& last,
                                         const Limits& limits, Run& run) {
  Found found;
  int64_t until_check = rows_between_checks;
  for (size_t s = 0; s < order.count();) {
    if (--until_check == 0) {
      run.check();
      if (limits.late()) break;
      until_check = rows_between_checks;
    }
    if (s + row_ahead < order.count()) __builtin_prefetch(&m.rows[static_cast<size_t>(order[s + row_ahead])], 1);
    if (s + row_entries_ahead < order.count()) {
      const int64_t next = order[s + row_entries_ahead];
      access.fetch(m.rows[static_cast<size_t>(next)], next);
    }
    const bool done = m.p.regression ? step_number(m, access, order[s], last.largest, found)
                                     : step_class(m, access, order[s], last.highest, last.lowest, found);
    if (done) {
      order.set_aside(s);
    } else {
      ++s;
    }
  }
  return found;
}

Found pass_sparse(Machine& m, Order& order, const Found& last, const Limits& limits, Run& run) {
  return pass(m, SparseRows{m.columns.rows()}, order, last, limits, run);
}
Found pass_dense(Machine& m, Order& order, const Found& last, const Limits& limits, Run& run) {
  return pass(m, DenseRows{m.p.rows}, order, last, limits, run);
}
WEALD_TARGET_AVX2 Found pass_dense_avx2(Machine& m, Order& order, const Found& last, const Limits& limits, Run& run) {
  return pass(m, DenseRows{m.p.rows}, order, last, limits, run);
}

class Descent {
 public:
  Descent(const Problem& problem, const Limits& limits, Progress& progress, Run& run)
      : p_(problem),
        limits_(limits),
        progress_(progress),
        run_(run),
        machine_(problem, problem.free_intercept ? typical_length(problem.rows) : problem.rows.bias),
        order_(static_cast<size_t>(problem.rows.n_rows), limits.seed, Purpose::row_order) {
    pass_ = p_.rows.sparse() ? pass_sparse : simd_level() == Simd::avx2 ? pass_dense_avx2 : pass_dense;
  }

  Solution solve() {
    bool converged = false;
    if (!p_.free_intercept) {
      converged = descend(limits_.tol);
    } else {
      // Multipliers: the intercept's column pulls Σ σα towards 0; what it contributes becomes fixed, and again
      // (equation 17). Both are in units of the decision function.
      double tol = 1;
      for (;;) {
        tol = std::max(limits_.tol, std::min(tol, 1.0));
        const bool done = descend(tol);
        const double change = machine_.bias * machine_.of_bias;
        converged = done && tol <= limits_.tol && std::abs(change) <= limits_.tol;
        machine_.offset += change;
        if (converged || !done) break;
        tol = std::min(inner_share * std::abs(change), tol / 2);
      }
    }
    return solution(converged);
  }

 private:
  // Passes until the gradients are within tol; false if time or passes ran out.
  bool descend(double tol) {
    const Found everything{.highest = infinite, .lowest = -infinite, .largest = infinite, .sum = 0};
    Found last = everything;
    order_.take_all();
    while (n_passes_ < limits_.max_iter && !limits_.late()) {
      order_.shuffle(n_passes_);
      const Found found = pass_(machine_, order_, last, limits_, run_);
      if (limits_.late()) return false;
      if (n_passes_++ == 0) first_sum_ = found.sum;
      const double reached = p_.regression ? found.sum : found.highest - found.lowest;
      progress_.tell(n_passes_, reached);
      if (reached <= (p_.regression ? tol * first_sum_ : tol) || order_.count() == 0) {
        if (order_.whole()) return true;
        order_.take_all();
        last = everything;
        continue;
      }
      last = found;
      if (last.highest <= 0) last.highest = infinite;
      if (last.lowest >= 0) last.lowest = -infinite;
    }
    return false;
  }

  Solution solution(bool converged) {
    Solution found;
    found.weight = machine_.columns.back(machine_.weight);
    if (p_.rows.bias != 0) {
      const double own = machine_.bias * machine_.of_bias / p_.rows.bias;
      found.weight.push_back(p_.free_intercept ? machine_.offset / p_.rows.bias : own);
    }
    for (const RowRecord& row : machine_.rows) found.alpha.push_back(row.alpha);
    found.n_iter = n_passes_;
    found.converged = converged;
    const Objectives both = objectives(p_, found.weight, found.alpha, run_);
    found.primal = both.primal;
    found.dual = both.dual;
    return found;
  }

  const Problem& p_;
  const Limits& limits_;
  Progress& progress_;
  Run& run_;
  Machine machine_;
  Order order_;
  Found (*pass_)(Machine&, Order&, const Found&, const Limits&, Run&);
  int64_t n_passes_ = 0;
  double first_sum_ = 0;
};

}  // namespace

Solution solve_descent(const Problem& problem, const Limits& limits, Progress& progress, Run& run) {
  return Descent(problem, limits, progress, run).solve();
}

}  // namespace weald::linear
