// Forests and the tables that go through them, as Python hands them over.
#pragma once

#include <nanobind/nanobind.h>

#include <span>

#include "bindings/arrays.h"
#include "core/predict/fill_rows.h"
#include "core/predict/laid_out_forest.h"

namespace weald::bindings {

template <class T>
std::span<const T> forest_array(const nb::dict& arrays, const char* name) {
  const auto array = nb::cast<nb::ndarray<const T, nb::c_contig, nb::device::cpu>>(arrays[name], false);
  return {array.data(), array.size()};
}

// The arrays of a Forest by their names; the dictionary keeps them alive.
inline ForestView forest_view(const nb::dict& arrays, int64_t n_columns, int64_t width) {
  ForestView forest;
  forest.n_columns = n_columns;
  forest.width = width;
  forest.base_score = forest_array<double>(arrays, "base_score");
  forest.tree_start = forest_array<int64_t>(arrays, "tree_start");
  forest.tree_output = forest_array<int32_t>(arrays, "tree_output");
  forest.tree_weight = forest_array<double>(arrays, "tree_weight");
  forest.slot = forest_array<int32_t>(arrays, "slot");
  forest.column = forest_array<int32_t>(arrays, "column");
  forest.threshold = forest_array<double>(arrays, "threshold");
  forest.kind = forest_array<uint8_t>(arrays, "kind");
  forest.missing_left = forest_array<uint8_t>(arrays, "missing_left");
  forest.right = forest_array<int32_t>(arrays, "right");
  forest.side = forest_array<int32_t>(arrays, "side");
  forest.value = forest_array<double>(arrays, "value");
  forest.set_start = forest_array<int64_t>(arrays, "set_start");
  forest.set_codes = forest_array<uint32_t>(arrays, "set_codes");
  forest.set_left = forest_array<uint8_t>(arrays, "set_left");
  forest.combination_start = forest_array<int64_t>(arrays, "combination_start");
  forest.combination_column = forest_array<int32_t>(arrays, "combination_column");
  forest.combination_coefficient = forest_array<double>(arrays, "combination_coefficient");
  return forest;
}

// (values, missing | None, levels), from the item `at` of the tuple on
inline PredictColumn read_column(const nb::tuple& column, size_t at, int64_t n_rows) {
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

}  // namespace weald::bindings
