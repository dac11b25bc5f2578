#include "core/logistic/solve.h"

#include <memory>

#include "core/base/check.h"
#include "core/logistic/curvature.h"
#include "core/logistic/solvers.h"
#include "core/svm/linear/columns.h"

namespace weald::logistic {

namespace {

// Sums over the rows of sparse tables with more weights than this are taken from a copy of the columns.
constexpr int64_t many_weights = 2000;

Solver choose(const Problem& p) {
  if (p.lasso == 0) return Solver::newton;
  return fits_coupled(p) && rows_to_sample(p, 1) > 0 ? Solver::proximal : Solver::coordinates;
}

void check(const Problem& p, Solver solver) {
  const auto n = static_cast<size_t>(p.rows.n_rows);
  require(n > 0 && p.label.size() == n && p.cost.size() == n, "one label and one cost per row");
  require(p.n_lines == 1 || p.n_lines > 2, "two classes have one line of weights");
  require(p.ridge >= 0 && p.lasso >= 0, "penalties are not negative");
  require(p.start.empty() || p.start.size() == static_cast<size_t>(p.n_values()), "a start has a value per weight");
  require((solver == Solver::newton) == (p.lasso == 0), "the solver is of the problem's penalty");
  require(solver != Solver::proximal || fits_coupled(p), "the Hessian fits into one matrix");
  const auto n_classes = static_cast<int32_t>(p.n_lines == 1 ? 2 : p.n_lines);
  for (const int32_t each : p.label) require(each >= 0 && each < n_classes, "labels are class numbers");
}

}  // namespace

std::vector<Solution> solve(std::span<const Problem> problems, Solver solver, const linear::Limits& limits,
                            std::span<linear::Progress> progress, Run& run) {
  require(!problems.empty() && progress.size() == problems.size(), "each problem has its progress");
  const Problem& first = problems.front();
  if (solver == Solver::automatic) solver = choose(first);
  for (const Problem& each : problems) check(each, solver);
  const bool by_columns = solver == Solver::newton && first.rows.sparse() && first.n_values() > many_weights;
  std::unique_ptr<linear::Columns> columns;
  if (by_columns || solver == Solver::coordinates) columns = std::make_unique<linear::Columns>(first.rows);
  std::vector<Solution> found;
  for (size_t k = 0; k < problems.size(); ++k) {
    const Problem& each = problems[k];
    if (solver == Solver::newton) {
      found.push_back(solve_newton(each, columns.get(), limits, progress[k], run));
    } else if (solver == Solver::proximal) {
      found.push_back(solve_proximal(each, limits, progress[k], run));
    } else if (each.n_lines == 1) {
      found.push_back(solve_one_line(each, *columns, limits, progress[k], run));
    } else {
      found.push_back(solve_coordinates(each, *columns, limits, progress[k], run));
    }
  }
  return found;
}

}  // namespace weald::logistic
