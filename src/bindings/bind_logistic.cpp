// Logistic regression: several problems on the same rows in, weights and how far they are from the best out.

#include <nanobind/nanobind.h>

#include <utility>
#include <vector>

#include "bindings/arrays.h"
#include "bindings/call.h"
#include "bindings/matrices.h"
#include "bindings/parts.h"
#include "core/logistic/solve.h"

namespace weald::bindings {

namespace {

// `label`: (n_problems, n_rows); `start`: (n_problems, n_lines · width) or of no rows. Weights are handed over line
// after line; the core holds them column after column.
nb::list solve_logistic(const nb::tuple& X, double bias, const Matrix<int32_t>& label, const Vector<double>& cost,
                        const Matrix<double>& start, int64_t n_lines, double ridge, double lasso, bool free_intercept,
                        int solver, double tol, int64_t max_iter, const nb::object& told, int n_threads) {
  const linear::Rows rows = linear_rows(X, bias);
  const size_t n_problems = label.shape(0), n = label.shape(1), width = static_cast<size_t>(rows.width());
  const auto lines = static_cast<size_t>(n_lines);
  require(n == static_cast<size_t>(rows.n_rows) && cost.size() == n, "one label and one cost per row");
  require(start.shape(0) == 0 || (start.shape(0) == n_problems && start.shape(1) == lines * width),
          "a start has a value per weight");
  std::vector<logistic::Problem> problems;
  std::vector<logistic::Values> starts(n_problems);
  for (size_t k = 0; k < n_problems; ++k) {
    logistic::Problem one{rows, view(label).subspan(k * n, n), view(cost), n_lines, ridge, lasso, free_intercept, {}};
    const auto stride = static_cast<size_t>(one.stride());
    if (start.shape(0) != 0) starts[k].assign(width * stride, 0.0);
    for (size_t at = 0; at < lines * width && start.shape(0) != 0; ++at) {
      starts[k][at % width * stride + at / width] = view(start)[k * lines * width + at];
    }
    one.start = starts[k];
    problems.push_back(one);
  }
  std::vector<linear::Progress> progress(n_problems);
  const linear::Limits limits = limits_of(tol, max_iter, longest_seconds, 0);
  auto found = call_telling(n_threads, teller(told, progress), [&](Run& run) {
    return logistic::solve(problems, static_cast<logistic::Solver>(solver), limits, progress, run);
  });
  nb::list out;
  for (const logistic::Solution& each : found) {
    const auto stride = static_cast<size_t>(problems.front().stride());
    std::vector<double> weight(lines * width);
    for (size_t at = 0; at < weight.size(); ++at) weight[at] = each.weight[at % width * stride + at / width];
    nb::dict one;
    one["weight"] = to_numpy(std::move(weight), {lines, width});
    one["objective"] = each.objective;
    one["gap"] = each.gap;
    one["gradient"] = each.gradient;
    one["n_iter"] = each.n_iter;
    one["converged"] = each.converged;
    one["separable"] = each.separable;
    out.append(one);
  }
  return out;
}

}  // namespace

void bind_logistic(nb::module_& m) {
  m.def("solve_logistic", solve_logistic, nb::arg("X"), nb::arg("bias"), nb::arg("label").noconvert(),
        nb::arg("cost").noconvert(), nb::arg("start").noconvert(), nb::arg("n_lines"), nb::arg("ridge"),
        nb::arg("lasso"), nb::arg("free_intercept"), nb::arg("solver"), nb::arg("tol"), nb::arg("max_iter"),
        nb::arg("told").none(), nb::arg("n_threads"));
}

}  // namespace weald::bindings
