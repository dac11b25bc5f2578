// Gradients, links and the leaf values of quantile losses: arrays in, arrays filled or out.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "bindings/arrays.h"
#include "bindings/call.h"
#include "bindings/parts.h"
#include "core/boosting/losses/gradients.h"
#include "core/boosting/losses/links.h"
#include "core/boosting/stage/leaf_quantiles.h"

namespace weald::bindings {

namespace {

void fill_gradients(const std::string& loss, const Vector<double>& parameters, const Matrix<double>& scores,
                    const Matrix<double>& target, const FilledMatrix<double>& g, const FilledMatrix<double>& h,
                    int n_threads) {
  const size_t n_outputs = scores.shape(0);
  const size_t n_rows = scores.shape(1);
  const auto fits = [&](const auto& array) { return array.shape(0) == n_outputs && array.shape(1) == n_rows; };
  require(fits(g) && fits(h), "scores, g and h have one shape");
  require(target.shape(1) == n_rows && (target.shape(0) == n_outputs || target.shape(0) == 1),
          "a target has a row for each output, or one");
  const auto stride = target.shape(0) == 1 ? 0 : static_cast<int64_t>(n_rows);
  require(loss != "softmax" || stride == 0, "softmax reads one target");
  const GradientRows rows{scores.data(), target.data(), static_cast<int64_t>(n_rows), static_cast<int64_t>(n_outputs),
                          stride};
  call(n_threads, [&](Run& run) { gradients(loss, view(parameters), rows, g.data(), h.data(), run); });
}

auto mapped(const std::string& function, const Vector<double>& values, int n_threads) {
  std::vector<double> out(values.size());
  call(n_threads, [&](Run& run) { map_values(function, view(values), out.data(), run); });
  return to_numpy(std::move(out));
}

auto softmax(const Matrix<double>& scores, int n_threads) {
  const size_t n_rows = scores.shape(0);
  const size_t n_classes = scores.shape(1);
  require(n_classes > 0, "softmax needs a class");
  std::vector<double> out(scores.size());
  call(n_threads, [&](Run& run) {
    softmax_rows(scores.data(), static_cast<int64_t>(n_rows), static_cast<int64_t>(n_classes), out.data(), run);
  });
  return to_numpy(std::move(out), {n_rows, n_classes});
}

auto quantiles_of_leaves(const Vector<double>& target, const Vector<double>& scores, const Vector<int64_t>& weight,
                         const Vector<int32_t>& leaf, int64_t n_leaves, double alpha, int n_threads) {
  const size_t n_rows = target.size();
  require(scores.size() == n_rows && leaf.size() == n_rows && (weight.size() == 0 || weight.size() == n_rows),
          "one target, score, weight and leaf per row");
  const ResidualRows rows{view(target), view(scores), view(weight), view(leaf)};
  return to_numpy(call(n_threads, [&](Run& run) { return leaf_quantiles(rows, n_leaves, alpha, run); }));
}

}  // namespace

void bind_losses(nb::module_& m) {
  m.def("gradients", fill_gradients, nb::arg("loss"), nb::arg("parameters").noconvert(), nb::arg("scores").noconvert(),
        nb::arg("target").noconvert(), nb::arg("g").noconvert(), nb::arg("h").noconvert(), nb::arg("n_threads"));
  m.def("map_values", mapped, nb::arg("function"), nb::arg("values").noconvert(), nb::arg("n_threads"));
  m.def("softmax", softmax, nb::arg("scores").noconvert(), nb::arg("n_threads"));
  m.def("leaf_quantiles", quantiles_of_leaves, nb::arg("target").noconvert(), nb::arg("scores").noconvert(),
        nb::arg("weight").noconvert(), nb::arg("leaf").noconvert(), nb::arg("n_leaves"), nb::arg("alpha"),
        nb::arg("n_threads"));
}

}  // namespace weald::bindings
