// Linear machines: several problems on the same rows in, weights and dual variables out; all classes in one machine;
// scores; and what the columns of sparse rows are like.

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "bindings/arrays.h"
#include "bindings/call.h"
#include "bindings/matrices.h"
#include "bindings/parts.h"
#include "core/data/medians.h"
#include "core/data/sparse_moments.h"
#include "core/svm/linear/classes.h"
#include "core/svm/linear/scores.h"
#include "core/svm/linear/solve.h"

namespace weald::bindings {

namespace {

nb::list solve_linear(const nb::tuple& X, double bias, const Matrix<double>& target, const Matrix<double>& upper,
                      bool squared, bool regression, double epsilon, bool l1, bool free_intercept, int solver,
                      double tol, int64_t max_iter, double max_seconds, uint64_t seed, const nb::object& told,
                      int n_threads) {
  const linear::Rows rows = linear_rows(X, bias);
  const size_t n_problems = target.shape(0), n = target.shape(1);
  require(n == static_cast<size_t>(rows.n_rows) && upper.shape(0) == n_problems && upper.shape(1) == n,
          "one target and one C per row and problem");
  std::vector<linear::Problem> problems;
  for (size_t k = 0; k < n_problems; ++k) {
    problems.push_back({rows, view(target).subspan(k * n, n), view(upper).subspan(k * n, n), squared, regression,
                        epsilon, l1, free_intercept});
  }
  std::vector<linear::Progress> progress(n_problems);
  const linear::Limits limits = limits_of(tol, max_iter, max_seconds, seed);
  auto found = call_telling(n_threads, teller(told, progress), [&](Run& run) {
    return linear::solve(problems, static_cast<linear::Solver>(solver), limits, progress, run);
  });
  nb::list out;
  for (linear::Solution& each : found) {
    nb::dict one;
    one["weight"] = to_numpy(std::move(each.weight));
    one["alpha"] = to_numpy(std::move(each.alpha));
    one["primal"] = each.primal;
    one["dual"] = each.dual;
    one["n_iter"] = each.n_iter;
    one["converged"] = each.converged;
    out.append(one);
  }
  return out;
}

nb::dict solve_classes(const nb::tuple& X, double bias, const Vector<int32_t>& label, const Vector<double>& upper,
                       int64_t n_classes, bool free_intercept, double tol, int64_t max_iter, double max_seconds,
                       uint64_t seed, const nb::object& told, int n_threads) {
  const linear::Rows rows = linear_rows(X, bias);
  const auto n = static_cast<size_t>(rows.n_rows);
  require(label.size() == n && upper.size() == n, "one label and one C per row");
  const linear::ClassProblem problem{rows, view(label), view(upper), n_classes, free_intercept};
  std::vector<linear::Progress> progress(1);
  const linear::Limits limits = limits_of(tol, max_iter, max_seconds, seed);
  auto found = call_telling(n_threads, teller(told, progress),
                            [&](Run& run) { return linear::solve_classes(problem, limits, progress[0], run); });
  nb::dict out;
  out["weight"] =
      to_numpy(std::move(found.weight), {static_cast<size_t>(n_classes), static_cast<size_t>(rows.width())});
  out["primal"] = found.primal;
  out["dual"] = found.dual;
  out["n_iter"] = found.n_iter;
  out["converged"] = found.converged;
  return out;
}

auto linear_scores(const nb::tuple& X, const Matrix<double>& weight, const Vector<double>& intercept, int n_threads) {
  const linear::Rows rows = linear_rows(X, 0);
  const auto n_rows = static_cast<size_t>(rows.n_rows);
  require(weight.shape(0) == intercept.size() && static_cast<int64_t>(weight.shape(1)) == rows.n_columns,
          "one weight per column and output");
  std::vector<double> out(n_rows * intercept.size());
  call(n_threads, [&](Run& run) { linear::score(rows, view(weight), view(intercept), run, out); });
  return to_numpy(std::move(out), {n_rows, intercept.size()});
}

CsrEntries entries_of(const Vector<int64_t>& start, const Vector<int32_t>& index, const Vector<double>& value,
                      const Vector<double>& weight, int64_t n_columns) {
  return {view(start), view(index), view(value), view(weight), n_columns};
}

auto count_sparse_entries(const Vector<int64_t>& start, const Vector<int32_t>& index, const Vector<double>& value,
                          const Vector<double>& weight, int64_t n_columns) {
  auto found = call(1, [&](Run&) { return count_entries(entries_of(start, index, value, weight, n_columns)); });
  return nb::make_tuple(to_numpy(std::move(found.known)), to_numpy(std::move(found.missing)));
}

auto sparse_moments(const Vector<int64_t>& start, const Vector<int32_t>& index, const Vector<double>& value,
                    const Vector<double>& weight, const Vector<double>& fill, double total, bool spread) {
  const auto n_columns = static_cast<int64_t>(fill.size());
  auto found = call(
      1, [&](Run&) { return moments(entries_of(start, index, value, weight, n_columns), view(fill), total, spread); });
  return nb::make_tuple(to_numpy(std::move(found.low)), to_numpy(std::move(found.high)),
                        to_numpy(std::move(found.mean)), to_numpy(std::move(found.deviation)));
}

// (medians, whether all values are finite or missing)
auto dense_medians(const Matrix<double>& table, int n_threads) {
  const auto n_rows = static_cast<int64_t>(table.shape(0)), n_columns = static_cast<int64_t>(table.shape(1));
  auto found = call(n_threads, [&](Run& run) { return column_medians(view(table), n_rows, n_columns, run); });
  return nb::make_tuple(to_numpy(std::move(found.value)), found.finite);
}

void bind_columns(nb::module_& m) {
  m.def("dense_medians", dense_medians, nb::arg("table").noconvert(), nb::arg("n_threads"));
  m.def("count_sparse_entries", count_sparse_entries, nb::arg("start").noconvert(), nb::arg("index").noconvert(),
        nb::arg("value").noconvert(), nb::arg("weight").noconvert(), nb::arg("n_columns"));
  m.def("sparse_moments", sparse_moments, nb::arg("start").noconvert(), nb::arg("index").noconvert(),
        nb::arg("value").noconvert(), nb::arg("weight").noconvert(), nb::arg("fill").noconvert(), nb::arg("total"),
        nb::arg("spread"));
}

}  // namespace

void bind_linear(nb::module_& m) {
  bind_columns(m);
  m.def("solve_linear", solve_linear, nb::arg("X"), nb::arg("bias"), nb::arg("target").noconvert(),
        nb::arg("upper").noconvert(), nb::arg("squared"), nb::arg("regression"), nb::arg("epsilon"), nb::arg("l1"),
        nb::arg("free_intercept"), nb::arg("solver"), nb::arg("tol"), nb::arg("max_iter"), nb::arg("max_seconds"),
        nb::arg("seed"), nb::arg("told").none(), nb::arg("n_threads"));
  m.def("solve_classes", solve_classes, nb::arg("X"), nb::arg("bias"), nb::arg("label").noconvert(),
        nb::arg("upper").noconvert(), nb::arg("n_classes"), nb::arg("free_intercept"), nb::arg("tol"),
        nb::arg("max_iter"), nb::arg("max_seconds"), nb::arg("seed"), nb::arg("told").none(), nb::arg("n_threads"));
  m.def("linear_scores", linear_scores, nb::arg("X"), nb::arg("weight").noconvert(), nb::arg("intercept").noconvert(),
        nb::arg("n_threads"));
}

}  // namespace weald::bindings
