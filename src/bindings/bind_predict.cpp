// Prediction: a Forest's arrays in, a `Predictor` out; tables in, scores and leaves out.

#include <nanobind/nanobind.h>

#include "bindings/arrays.h"
#include "bindings/call.h"
#include "bindings/parts.h"
#include "core/predict/predict.h"

namespace weald::bindings {

namespace {

template <class T>
std::span<const T> field(const nb::dict& arrays, const char* name) {
  const auto array = nb::cast<nb::ndarray<const T, nb::c_contig, nb::device::cpu>>(arrays[name], false);
  return {array.data(), array.size()};
}

Predictor make_predictor(const nb::dict& arrays, int64_t n_columns, int64_t width) {
  ForestView forest;
  forest.n_columns = n_columns;
  forest.width = width;
  forest.base_score = field<double>(arrays, "base_score");
  forest.tree_start = field<int64_t>(arrays, "tree_start");
  forest.tree_output = field<int32_t>(arrays, "tree_output");
  forest.tree_weight = field<double>(arrays, "tree_weight");
  forest.slot = field<int32_t>(arrays, "slot");
  forest.column = field<int32_t>(arrays, "column");
  forest.threshold = field<double>(arrays, "threshold");
  forest.kind = field<uint8_t>(arrays, "kind");
  forest.missing_left = field<uint8_t>(arrays, "missing_left");
  forest.right = field<int32_t>(arrays, "right");
  forest.side = field<int32_t>(arrays, "side");
  forest.value = field<double>(arrays, "value");
  forest.set_start = field<int64_t>(arrays, "set_start");
  forest.set_codes = field<uint32_t>(arrays, "set_codes");
  forest.set_left = field<uint8_t>(arrays, "set_left");
  forest.combination_start = field<int64_t>(arrays, "combination_start");
  forest.combination_column = field<int32_t>(arrays, "combination_column");
  forest.combination_coefficient = field<double>(arrays, "combination_coefficient");
  return Predictor(forest);
}

// columns: [(values, missing | None, levels), …]
std::vector<PredictColumn> read_columns(const nb::list& columns, int64_t n_rows) {
  std::vector<PredictColumn> out;
  out.reserve(columns.size());
  for (const nb::handle item : columns) {
    const auto column = nb::cast<nb::tuple>(item);
    out.push_back({raw_column(column[0], column[1], n_rows), nb::cast<bool>(column[2])});
  }
  return out;
}

}  // namespace

void bind_predict(nb::module_& m) {
  nb::class_<Predictor>(m, "Predictor")
      .def(
          "scores",
          [](const Predictor& predictor, const nb::list& columns, int64_t n_rows, int n_threads) {
            const auto sources = read_columns(columns, n_rows);
            const auto n_outputs = static_cast<size_t>(predictor.n_outputs());
            std::vector<double> out(static_cast<size_t>(n_rows) * n_outputs);
            call(n_threads, [&](Run& run) { predictor.scores(sources, n_rows, out.data(), run); });
            return to_numpy(std::move(out), {static_cast<size_t>(n_rows), n_outputs});
          },
          nb::arg("columns"), nb::arg("n_rows"), nb::arg("n_threads"))
      .def(
          "leaves",
          [](const Predictor& predictor, const nb::list& columns, int64_t n_rows, int n_threads) {
            const auto sources = read_columns(columns, n_rows);
            const auto n_trees = static_cast<size_t>(predictor.n_trees());
            std::vector<int32_t> out(static_cast<size_t>(n_rows) * n_trees);
            call(n_threads, [&](Run& run) { predictor.leaves(sources, n_rows, out.data(), run); });
            return to_numpy(std::move(out), {static_cast<size_t>(n_rows), n_trees});
          },
          nb::arg("columns"), nb::arg("n_rows"), nb::arg("n_threads"));
  m.def("make_predictor", make_predictor, nb::arg("arrays"), nb::arg("n_columns"), nb::arg("width"));
}

}  // namespace weald::bindings
