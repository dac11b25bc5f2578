#include "core/svm/linear/solve.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <utility>

#include "core/base/check.h"
#include "core/svm/linear/columns.h"
#include "core/svm/linear/solvers/descent.h"
#include "core/svm/linear/solvers/interior.h"
#include "core/svm/linear/solvers/l1.h"
#include "core/svm/linear/solvers/newton.h"

namespace weald::linear {

namespace {

// Up to here n·d² per step costs less than the hundreds of passes of a descent.
constexpr int64_t few_columns = 1000;

bool one_thread(Solver solver) {
  return solver == Solver::descent || solver == Solver::coordinates;
}

void check(const Problem& p, Solver solver) {
  const auto n = static_cast<size_t>(p.rows.n_rows);
  require(n > 0 && p.target.size() == n && p.upper.size() == n, "one target and one C per row");
  require(!p.free_intercept || p.rows.bias != 0, "a free intercept has a column");
  const bool l1 = solver == Solver::proximal || solver == Solver::coordinates;
  const bool newton = solver == Solver::newton || solver == Solver::newton_products;
  require(l1 == p.l1, "the solver is of the problem's penalty");
  require((!l1 && !newton) || p.squared, "the solver is of the problem's loss");
  require(solver != Solver::interior || !p.squared, "the solver is of the problem's loss");
}

// Xᵀu of sparse rows with more columns than this is taken from a copy of the columns.
constexpr int64_t many_columns = 2000;

std::unique_ptr<Columns> columns_for(const Rows& rows, Solver solver) {
  const bool products = solver == Solver::newton_products && rows.sparse() && rows.width() > many_columns;
  return solver == Solver::coordinates || products ? std::make_unique<Columns>(rows) : nullptr;
}

Solution solve_one(const Problem& p, Solver solver, const Columns* columns, const Limits& limits, Progress& progress,
                   Run& run) {
  switch (solver) {
    case Solver::interior:
      return solve_interior(p, limits, progress, run);
    case Solver::newton:
    case Solver::newton_products:
      return solve_newton(p, solver == Solver::newton_products, columns, limits, progress, run);
    case Solver::proximal:
      return solve_proximal(p, limits, progress, run);
    case Solver::coordinates:
      return solve_coordinates(p, *columns, limits, progress, run);
    default:
      return solve_descent(p, limits, progress, run);
  }
}

// A descent that ends at its limit leaves a machine to the interior point if a step of that takes no more
// multiplications, and if the limit was no tight one.
constexpr double most_multiplications = 1e10;
constexpr int64_t tight_limit = 100;

bool interior_may_follow(const Problem& p, const Limits& limits) {
  if (p.l1 || p.squared || limits.max_iter < tight_limit) return false;
  const auto width = static_cast<double>(p.rows.width());
  double products = 0;
  if (p.rows.sparse()) {
    for (int64_t i = 0; i < p.rows.n_rows; ++i) {
      const auto n = static_cast<double>(p.rows.start[i + 1] - p.rows.start[i] + 1);
      products += n * n / 2;
    }
  } else {
    products = static_cast<double>(p.rows.n_rows) * width * width / 2;
  }
  return products + width * width * width / 3 <= most_multiplications;
}

// The machine that was not begun because the time is over: all weights 0.
Solution left_out(const Problem& p) {
  Solution found;
  found.weight.assign(static_cast<size_t>(p.rows.width()), 0.0);
  found.alpha.assign(static_cast<size_t>(p.rows.n_rows), 0.0);
  for (int64_t i = 0; i < p.rows.n_rows; ++i) {
    for (int side = 0; side < p.n_sides(); ++side) {
      const double z = std::max(p.threshold(side, i), 0.0);
      found.primal += p.upper[static_cast<size_t>(i)] * (p.squared ? z * z : z);
    }
  }
  return found;
}

// What is left of the time, shared out among the problems that are left.
class Shares {
 public:
  Shares(const Limits& limits, size_t n_problems, int at_once)
      : limits_(limits), left_(static_cast<int64_t>(n_problems)), at_once_(at_once) {}

  Limits next() {
    const int64_t left = left_.fetch_sub(1);
    Limits own = limits_;
    if (own.deadline == std::chrono::steady_clock::time_point::max()) return own;
    const auto now = std::chrono::steady_clock::now();
    const auto rest = std::max(own.deadline - now, std::chrono::steady_clock::duration::zero());
    own.deadline = now + rest * std::min<int64_t>(at_once_, left) / left;
    return own;
  }

 private:
  const Limits& limits_;
  std::atomic<int64_t> left_;
  int at_once_;
};

}  // namespace

Solver choose(const Problem& p, bool primal) {
  const int64_t width = p.rows.width();
  const bool few = width <= few_columns;
  if (p.l1) return few ? Solver::proximal : Solver::coordinates;
  if (!p.squared) return few ? Solver::interior : Solver::descent;
  if (few) return Solver::newton;
  const bool descends = !primal && p.rows.n_rows <= 2 * width && !p.free_intercept;
  return descends ? Solver::descent : Solver::newton_products;
}

std::vector<Solution> solve(std::span<const Problem> problems, Solver solver, const Limits& limits,
                            std::span<Progress> progress, Run& run) {
  require(!problems.empty() && progress.size() == problems.size(), "each problem has its progress");
  const bool primal = solver == Solver::primal, free_choice = primal || solver == Solver::automatic;
  if (free_choice) solver = choose(problems.front(), primal);
  for (const Problem& each : problems) check(each, solver);
  const auto columns = columns_for(problems.front().rows, solver);
  const bool side_by_side = one_thread(solver) && problems.size() > 1;
  const bool may_follow = free_choice && solver == Solver::descent && interior_may_follow(problems.front(), limits);
  Shares shares(limits, problems.size(), side_by_side ? run.n_threads() : 1);
  std::vector<Solution> found(problems.size());
  const auto solve_at = [&](size_t k, Run& part) {
    const Limits own = shares.next();
    if (k > 0 && limits.late()) {
      found[k] = left_out(problems[k]);
      return;
    }
    found[k] = solve_one(problems[k], solver, columns.get(), own, progress[k], part);
    if (found[k].converged || !may_follow || own.late()) return;
    Solution next = solve_one(problems[k], Solver::interior, nullptr, own, progress[k], part);
    next.n_iter += found[k].n_iter;
    if (next.converged || next.primal < found[k].primal) found[k] = std::move(next);
  };
  if (side_by_side) {
    parallel_for(run, static_cast<int64_t>(problems.size()), [&](int64_t k, int) {
      Run part(&run);
      solve_at(static_cast<size_t>(k), part);
    });
  } else {
    for (size_t k = 0; k < problems.size(); ++k) solve_at(k, run);
  }
  return found;
}

}  // namespace weald::linear
