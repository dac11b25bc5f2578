// Stagewise boosting: pseudo-residuals and losses of all rows, and leaf values that need residuals in order.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "bindings/arrays.h"
#include "bindings/call.h"
#include "bindings/parts.h"
#include "core/boosting/stage/leaves.h"
#include "core/boosting/stage/stage.h"

namespace weald::bindings {

namespace {

StageRows rows_of(const Matrix<double>& scores, const Vector<double>& target) {
  require(scores.shape(1) == target.size(), "one target per row");
  return {scores.data(), target.data(), static_cast<int64_t>(scores.shape(1)), static_cast<int64_t>(scores.shape(0))};
}

// g and h of no rows: no gradients are wanted.
nb::tuple pass_over(const std::string& loss, const Vector<double>& parameters, const Matrix<double>& scores,
                    const Vector<double>& target, const FilledMatrix<double>& g, const FilledMatrix<double>& h,
                    const Vector<double>& weight, bool wants_loss, int n_threads) {
  const bool fills = g.size() > 0;
  const auto fits = [&](const FilledMatrix<double>& array) {
    return !fills || (array.shape(0) == scores.shape(0) && array.shape(1) == scores.shape(1));
  };
  require(fits(g) && fits(h), "scores, g and h have one shape");
  require(weight.size() == 0 || weight.size() == target.size(), "one weight per row");
  const StageRows rows = rows_of(scores, target);
  const StageWanted wanted{fills ? g.data() : nullptr, fills ? h.data() : nullptr, wants_loss, view(weight)};
  const LossSum sum = call(n_threads, [&](Run& run) { return stage_pass(loss, view(parameters), rows, wanted, run); });
  return nb::make_tuple(sum.loss, sum.weight);
}

ResidualRows residual_rows(const Vector<double>& target, const Vector<double>& scores, const Vector<int64_t>& weight,
                           const Vector<int32_t>& leaf) {
  const size_t n_rows = target.size();
  require(scores.size() == n_rows && leaf.size() == n_rows && (weight.size() == 0 || weight.size() == n_rows),
          "one target, score, weight and leaf per row");
  return {view(target), view(scores), view(weight), view(leaf)};
}

}  // namespace

void bind_stage(nb::module_& m) {
  m.def("stage_pass", pass_over, nb::arg("loss"), nb::arg("parameters").noconvert(), nb::arg("scores").noconvert(),
        nb::arg("target").noconvert(), nb::arg("g").noconvert(), nb::arg("h").noconvert(),
        nb::arg("weight").noconvert(), nb::arg("wants_loss"), nb::arg("n_threads"));
  m.def(
      "stage_quantiles",
      [](const Vector<double>& target, const Vector<double>& scores, const Vector<int64_t>& weight,
         const Vector<int32_t>& leaf, int64_t n_leaves, double alpha, bool middle, int n_threads) {
        const ResidualRows rows = residual_rows(target, scores, weight, leaf);
        return to_numpy(call(n_threads, [&](Run& run) { return stage_quantiles(rows, n_leaves, alpha, middle, run); }));
      },
      nb::arg("target").noconvert(), nb::arg("scores").noconvert(), nb::arg("weight").noconvert(),
      nb::arg("leaf").noconvert(), nb::arg("n_leaves"), nb::arg("alpha"), nb::arg("middle"), nb::arg("n_threads"));
  m.def(
      "stage_huber",
      [](const Vector<double>& target, const Vector<double>& scores, const Vector<int64_t>& weight,
         const Vector<int32_t>& leaf, int64_t n_leaves, double delta, bool exact, int n_threads) {
        const ResidualRows rows = residual_rows(target, scores, weight, leaf);
        return to_numpy(call(n_threads, [&](Run& run) { return stage_huber(rows, n_leaves, delta, exact, run); }));
      },
      nb::arg("target").noconvert(), nb::arg("scores").noconvert(), nb::arg("weight").noconvert(),
      nb::arg("leaf").noconvert(), nb::arg("n_leaves"), nb::arg("delta"), nb::arg("exact"), nb::arg("n_threads"));
}

}  // namespace weald::bindings
