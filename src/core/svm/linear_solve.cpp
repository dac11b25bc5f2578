#include "core/svm/linear_solve.h"

#include <memory>

#include "core/base/check.h"
#include "core/svm/linear_columns.h"
#include "core/svm/linear_descent.h"
#include "core/svm/linear_interior.h"
#include "core/svm/linear_l1.h"
#include "core/svm/linear_newton.h"

namespace weald::linear {

namespace {

// Up to here n·d² a step costs less than the hundreds of passes of a descent.
constexpr int64_t few_columns = 1000;

bool one_thread(Solver solver) {
  return solver == Solver::descent || solver == Solver::coordinates;
}

void check(const Problem& p, Solver solver) {
  const auto n = static_cast<size_t>(p.rows.n_rows);
  require(n > 0 && p.target.size() == n && p.upper.size() == n, "one target and one C a row");
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
  const bool primal = solver == Solver::primal;
  if (primal || solver == Solver::automatic) solver = choose(problems.front(), primal);
  for (const Problem& each : problems) check(each, solver);
  const auto columns = columns_for(problems.front().rows, solver);
  std::vector<Solution> found(problems.size());
  if (one_thread(solver) && problems.size() > 1) {
    parallel_for(run, static_cast<int64_t>(problems.size()), [&](int64_t k, int) {
      const auto at = static_cast<size_t>(k);
      Run part(&run);
      found[at] = solve_one(problems[at], solver, columns.get(), limits, progress[at], part);
    });
  } else {
    for (size_t k = 0; k < problems.size(); ++k) {
      found[k] = solve_one(problems[k], solver, columns.get(), limits, progress[k], run);
    }
  }
  return found;
}

}  // namespace weald::linear
