// Prediction: a Forest's arrays in, a `Predictor` out; tables in, scores and leaves out.

#include <nanobind/nanobind.h>

#include <algorithm>

#include "bindings/arrays.h"
#include "bindings/call.h"
#include "bindings/explain/forest_arguments.h"
#include "bindings/parts.h"
#include "core/predict/predict.h"

namespace weald::bindings {

namespace {

Predictor make_predictor(const nb::dict& arrays, int64_t n_columns, int64_t width) {
  return Predictor(forest_view(arrays, n_columns, width));
}

// Scores to add to: any strides, so that (n_outputs, n_rows) goes too, transposed.
using AnyScores = nb::ndarray<double, nb::ndim<2>, nb::device::cpu>;

TreeRange tree_range(const Predictor& predictor, int64_t first, int64_t last) {
  require(0 <= first && first <= last && last <= predictor.n_trees(), "a range of the forest's trees");
  return {static_cast<size_t>(first), static_cast<size_t>(last)};
}

void add_scores(const Predictor& predictor, const nb::object& table, int64_t n_rows, const AnyScores& out,
                int64_t first, int64_t last, int n_threads) {
  require(static_cast<int64_t>(out.shape(0)) == n_rows && static_cast<int64_t>(out.shape(1)) == predictor.n_outputs(),
          "scores of each row and output");
  const TreeRange trees = tree_range(predictor, first, last);
  const TableArgument argument(table, n_rows);
  const ScoreView scores{out.data(), out.stride(0), out.stride(1)};
  call(n_threads, [&](Run& run) { predictor.add_scores(argument.table, trees, scores, run); });
}

auto scores(const Predictor& predictor, const nb::object& table, int64_t n_rows, int64_t first, int64_t last, bool base,
            int n_threads) {
  const TreeRange trees = tree_range(predictor, first, last);
  const TableArgument argument(table, n_rows);
  const std::vector<double>& start = predictor.base_score();
  std::vector<double> out(static_cast<size_t>(n_rows) * start.size());
  const ScoreView view{out.data(), predictor.n_outputs(), 1};
  call(n_threads, [&](Run& run) {
    for (int64_t i = 0; base && i < n_rows; ++i) std::ranges::copy(start, &view.at(i, 0));
    predictor.add_scores(argument.table, trees, view, run);
  });
  return to_numpy(std::move(out), {static_cast<size_t>(n_rows), start.size()});
}

auto leaves(const Predictor& predictor, const nb::object& table, int64_t n_rows, int64_t first, int64_t last,
            int n_threads) {
  const TreeRange trees = tree_range(predictor, first, last);
  const TableArgument argument(table, n_rows);
  std::vector<int32_t> out(static_cast<size_t>(n_rows) * trees.size());
  call(n_threads, [&](Run& run) { predictor.leaves(argument.table, trees, out.data(), run); });
  return to_numpy(std::move(out), {static_cast<size_t>(n_rows), trees.size()});
}

}  // namespace

void bind_predict(nb::module_& m) {
  nb::class_<Predictor>(m, "Predictor")
      .def_prop_ro("n_trees", &Predictor::n_trees)
      .def("scores", scores, nb::arg("table"), nb::arg("n_rows"), nb::arg("first"), nb::arg("last"), nb::arg("base"),
           nb::arg("n_threads"))
      .def("add_scores", add_scores, nb::arg("table"), nb::arg("n_rows"), nb::arg("out").noconvert(), nb::arg("first"),
           nb::arg("last"), nb::arg("n_threads"))
      .def("leaves", leaves, nb::arg("table"), nb::arg("n_rows"), nb::arg("first"), nb::arg("last"),
           nb::arg("n_threads"));
  m.def("make_predictor", make_predictor, nb::arg("arrays"), nb::arg("n_columns"), nb::arg("width"));
}

}  // namespace weald::bindings
