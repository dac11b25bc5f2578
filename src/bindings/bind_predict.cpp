// Prediction: a Forest's arrays in, a `Predictor` out; tables in, scores and leaves out.

#include <nanobind/nanobind.h>

#include <algorithm>

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

// (values, missing | None, levels), from the item `at` of the tuple on
PredictColumn read_column(const nb::tuple& column, size_t at, int64_t n_rows) {
  return {raw_column(column[at], column[at + 1], n_rows), nb::cast<bool>(column[at + 2])};
}

// The rows to predict, from one of
//   [(values, missing | None, levels), …]
//   (array, [(position, values, missing | None, levels), …])    an array of two dimensions, some columns replaced
//   (matrix, [(position, values, missing | None, levels), …])   the same of a sparse matrix
struct TableArgument {
  SparseView matrix;
  PredictTable table;

  TableArgument(const nb::object& argument, int64_t n_rows) {
    table.n_rows = n_rows;
    if (nb::isinstance<nb::list>(argument)) {
      for (const nb::handle item : nb::cast<nb::list>(argument)) {
        table.columns.push_back(read_column(nb::cast<nb::tuple>(item), 0, n_rows));
      }
      return;
    }
    const auto parts = nb::cast<nb::tuple>(argument);
    const bool sparse = nb::isinstance<nb::tuple>(parts[0]);
    if (sparse) {
      matrix = sparse_view(nb::cast<nb::tuple>(parts[0]));
      require(matrix.by_rows && matrix.n_rows == n_rows, "a sparse table is compressed by rows");
      table.sparse = &matrix;
    } else {
      table.columns.reserve(nb::cast<AnyTable>(parts[0], false).shape(1));
      for_columns(parts[0], n_rows, [&](const RawColumn& raw) { table.columns.push_back({raw, false}); });
    }
    for (const nb::handle item : nb::cast<nb::list>(parts[1])) {
      const auto column = nb::cast<nb::tuple>(item);
      const auto position = nb::cast<int32_t>(column[0]);
      const PredictColumn read = read_column(column, 1, n_rows);
      if (sparse) {
        table.positions.push_back(position);
        table.columns.push_back(read);
      } else {
        table.columns.at(static_cast<size_t>(position)) = read;
      }
    }
  }
  TableArgument(const TableArgument&) = delete;
  TableArgument& operator=(const TableArgument&) = delete;
};

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
