// Kernel machines: kernel values and scores, sources of kernel rows, the dual solver.

#include <nanobind/nanobind.h>
#include <nanobind/stl/unique_ptr.h>

#include <utility>

#include "bindings/arrays.h"
#include "bindings/call.h"
#include "bindings/matrices.h"
#include "bindings/parts.h"
#include "core/svm/dual/solver.h"
#include "core/svm/dual/sources.h"
#include "core/svm/kernel/pivoted_root.h"
#include "core/svm/kernel/scores.h"

namespace weald::bindings {

namespace {

// Given rows, with the array that they lie in.
struct HeldRows final : svm::GivenRows {
  using GivenRows::GivenRows;
  Matrix<double> held;
};

auto values_of(const Matrix<double>& program, const nb::tuple& A, const nb::tuple& B, int n_threads) {
  const svm::MatrixView left = matrix_view(A), right = matrix_view(B);
  require(left.n_columns == right.n_columns && left.sparse == right.sparse, "both matrices are of one kind");
  std::vector<double> out(static_cast<size_t>(left.n_rows * right.n_rows));
  call(n_threads, [&](Run& run) { svm::kernel_values(svm::Program(view(program)), left, right, run, out.data()); });
  return to_numpy(std::move(out), {static_cast<size_t>(left.n_rows), static_cast<size_t>(right.n_rows)});
}

auto scores_of(const Matrix<double>& program, const nb::tuple& X, const nb::tuple& support,
               const Matrix<double>& coefficients, int n_threads) {
  const svm::MatrixView rows = matrix_view(X), left = matrix_view(support);
  require(rows.n_columns == left.n_columns && rows.sparse == left.sparse, "both matrices are of one kind");
  require(static_cast<int64_t>(coefficients.shape(1)) == left.n_rows, "one coefficient per support row");
  const size_t n_outputs = coefficients.shape(0);
  std::vector<double> out(static_cast<size_t>(rows.n_rows) * n_outputs);
  call(n_threads, [&](Run& run) {
    svm::kernel_scores(svm::Program(view(program)), rows, left, view(coefficients), static_cast<int64_t>(n_outputs),
                       run, out.data());
  });
  return to_numpy(std::move(out), {static_cast<size_t>(rows.n_rows), n_outputs});
}

// (projection, whether the matrix is one of a kernel); see pivoted_root.h.
nb::tuple root_of(const Matrix<double>& kernel, double floor, int n_threads) {
  require(kernel.shape(0) == kernel.shape(1), "a kernel matrix is square");
  const size_t n = kernel.shape(0);
  svm::PivotedRoot found =
      call(n_threads, [&](Run& run) { return svm::pivoted_root(view(kernel), static_cast<int64_t>(n), floor, run); });
  const size_t rows = found.definite ? n : 0;
  return nb::make_tuple(to_numpy(std::move(found.projection), {rows, static_cast<size_t>(found.n_kept)}),
                        found.definite);
}

auto program_rows(const Matrix<double>& program, const nb::tuple& X, int64_t cache_bytes, int n_threads) {
  const svm::MatrixView matrix = matrix_view(X);
  return call(n_threads, [&](Run& run) {
    return std::make_unique<svm::ProgramRows>(svm::Program(view(program)), matrix, cache_bytes, run);
  });
}

auto dual_solver(svm::RowSource& source, const Vector<int32_t>& rows, const Vector<int8_t>& signs,
                 const Vector<double>& linear, const Vector<double>& upper, double tolerance, int64_t max_steps,
                 bool shrinking, int64_t working_set, int n_threads) {
  require(rows.size() == signs.size() && rows.size() == linear.size() && rows.size() == upper.size(),
          "one row, sign, linear term and upper bound per variable");
  const svm::DualProblem problem{view(rows), view(signs), view(linear), view(upper)};
  const svm::SolverOptions options{tolerance, max_steps, shrinking, working_set};
  return call(n_threads, [&](Run& run) { return std::make_unique<svm::DualSolver>(source, problem, options, run); });
}

nb::dict solution_of(svm::DualSolver& solver, int n_threads) {
  svm::Solution found = call(n_threads, [&](Run& run) { return solver.solution(run); });
  nb::dict out;
  out["alpha"] = to_numpy(std::move(found.alpha));
  out["gradient"] = to_numpy(std::move(found.gradient));
  out["intercept"] = found.intercept;
  out["objective"] = found.objective;
  out["gap"] = found.gap;
  out["duality_gap"] = found.duality_gap;
  return out;
}

void bind_solver(nb::module_& m) {
  nb::class_<svm::DualSolver>(m, "DualSolver")
      .def(
          "advance",
          [](svm::DualSolver& solver, double seconds, int n_threads) {
            call(n_threads, [&](Run& run) { solver.advance(seconds, run); });
          },
          nb::arg("seconds"), nb::arg("n_threads"))
      .def(
          "wanted",
          [](svm::DualSolver& solver, int n_threads) {
            return to_numpy(call(n_threads, [&](Run& run) { return solver.wanted(run); }));
          },
          nb::arg("n_threads"))
      .def(
          "step", [](svm::DualSolver& solver, int n_threads) { call(n_threads, [&](Run& run) { solver.step(run); }); },
          nb::arg("n_threads"))
      .def("solution", solution_of, nb::arg("n_threads"))
      .def_prop_ro("stopped", [](const svm::DualSolver& solver) { return static_cast<int>(solver.stopped()); })
      .def_prop_ro("gap", &svm::DualSolver::gap)
      .def_prop_ro("n_steps", &svm::DualSolver::n_steps);
  m.def("dual_solver", dual_solver, nb::arg("source"), nb::arg("rows").noconvert(), nb::arg("signs").noconvert(),
        nb::arg("linear").noconvert(), nb::arg("upper").noconvert(), nb::arg("tolerance"), nb::arg("max_steps"),
        nb::arg("shrinking"), nb::arg("working_set"), nb::arg("n_threads"), nb::keep_alive<0, 1>());
}

}  // namespace

void bind_svm(nb::module_& m) {
  m.def("kernel_values", values_of, nb::arg("program").noconvert(), nb::arg("A"), nb::arg("B"), nb::arg("n_threads"));
  m.def("kernel_scores", scores_of, nb::arg("program").noconvert(), nb::arg("X"), nb::arg("support"),
        nb::arg("coefficients").noconvert(), nb::arg("n_threads"));
  m.def("pivoted_root", root_of, nb::arg("kernel").noconvert(), nb::arg("floor"), nb::arg("n_threads"));
  nb::class_<svm::RowSource>(m, "RowSource");
  nb::class_<svm::ProgramRows, svm::RowSource>(m, "ProgramRows");
  nb::class_<HeldRows, svm::RowSource>(m, "GivenRows")
      .def(nb::init<int64_t>(), nb::arg("n_rows"))
      .def(
          "give",
          [](HeldRows& source, const Vector<int32_t>& ids, const Matrix<double>& rows) {
            require(rows.shape(0) == ids.size() && static_cast<int64_t>(rows.shape(1)) == source.n_rows(),
                    "given rows are as long as the kernel matrix");
            const Matrix<double> before = std::exchange(source.held, rows);
            source.give(view(ids), rows.data());
          },
          nb::arg("ids").noconvert(), nb::arg("rows").noconvert());
  m.def("program_rows", program_rows, nb::arg("program").noconvert(), nb::arg("X"), nb::arg("cache_bytes"),
        nb::arg("n_threads"), nb::keep_alive<0, 2>());
  bind_solver(m);
}

}  // namespace weald::bindings
