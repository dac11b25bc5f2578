// Codes: columns in, an opaque `Codes` out.

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings/arrays.h"
#include "bindings/call.h"
#include "bindings/parts.h"
#include "core/data/encode/encode.h"
#include "core/data/encode/sparse.h"

namespace weald::bindings {

namespace {

// (values, missing | None, kind, n_levels), from the item `at` of the tuple on
ColumnSource read_source(const nb::tuple& column, size_t at, int64_t n_rows) {
  return {raw_column(column[at], column[at + 1], n_rows), static_cast<ColumnKind>(nb::cast<int>(column[at + 2])),
          nb::cast<uint32_t>(column[at + 3])};
}

// [(position, values, missing | None, kind, n_levels), …]
std::vector<PlacedColumn> read_placed(const nb::list& columns, int64_t n_rows) {
  std::vector<PlacedColumn> placed;
  placed.reserve(columns.size());
  for (const nb::handle item : columns) {
    const auto column = nb::cast<nb::tuple>(item);
    placed.push_back({nb::cast<int64_t>(column[0]), read_source(column, 1, n_rows)});
  }
  return placed;
}

Codes encode_columns(const nb::list& columns, int64_t n_rows, const Vector<int64_t>& weights, uint32_t max_bins,
                     int n_threads, int64_t limit) {
  std::vector<ColumnSource> sources;
  sources.reserve(columns.size());
  for (const nb::handle item : columns) sources.push_back(read_source(nb::cast<nb::tuple>(item), 0, n_rows));
  require(weights.size() == 0 || static_cast<int64_t>(weights.size()) == n_rows, "one weight per row");
  return call(n_threads, [&](Run& run) { return encode(sources, n_rows, view(weights), max_bins, run, limit); });
}

Codes encode_array(const nb::object& array, int kind, const nb::list& placed, int64_t n_rows,
                   const Vector<int64_t>& weights, uint32_t max_bins, int n_threads, int64_t limit) {
  std::vector<ColumnSource> sources;
  for_columns(array, n_rows, [&](const RawColumn& raw) { sources.push_back({raw, static_cast<ColumnKind>(kind), 0}); });
  for (const auto& [position, source] : read_placed(placed, n_rows)) sources.at(static_cast<size_t>(position)) = source;
  require(weights.size() == 0 || static_cast<int64_t>(weights.size()) == n_rows, "one weight per row");
  return call(n_threads, [&](Run& run) { return encode(sources, n_rows, view(weights), max_bins, run, limit); });
}

Codes encode_matrix(const nb::tuple& matrix, int kind, const nb::list& placed, const Vector<int64_t>& weights,
                    uint32_t max_bins, int n_threads, int64_t limit) {
  const SparseView sparse = sparse_view(matrix);
  const std::vector<PlacedColumn> dense = read_placed(placed, sparse.n_rows);
  require(weights.size() == 0 || static_cast<int64_t>(weights.size()) == sparse.n_rows, "one weight per row");
  return call(n_threads, [&](Run& run) {
    return encode_sparse(sparse, static_cast<ColumnKind>(kind), dense, view(weights), max_bins, run, limit);
  });
}

// The codes of every row, also of a sparse column.
nb::object column_copy(const Codes& codes, size_t j) {
  const CodeColumn& column = codes.columns.at(j);
  return with_codes(column, [&](const auto* data) {
    using Code = std::remove_cvref_t<decltype(*data)>;
    if (!column.sparse) return nb::cast(to_numpy(std::vector<Code>(data, data + codes.n_rows)));
    std::vector<Code> full(static_cast<size_t>(codes.n_rows), static_cast<Code>(column.default_code));
    for (uint32_t i = 0; i < column.n_entries; ++i) full[column.rows[i]] = data[i];
    return nb::cast(to_numpy(std::move(full)));
  });
}

nb::object rows_copy(const Codes& codes, size_t j) {
  const CodeColumn& column = codes.columns.at(j);
  return nb::cast(to_numpy(std::vector<uint32_t>(column.rows, column.rows + column.n_entries)));
}

bool has_missing(const Codes& codes, size_t j) {
  const CodeColumn& column = codes.columns.at(j);
  if (column.sparse && column.default_code == 0 && column.n_entries < codes.n_rows) return true;
  const auto n = column.sparse ? static_cast<int64_t>(column.n_entries) : codes.n_rows;
  return with_codes(column, [&](const auto* data) { return std::find(data, data + n, 0U) != data + n; });
}

}  // namespace

void bind_codes(nb::module_& m) {
  nb::class_<Codes>(m, "Codes")
      .def_ro("n_rows", &Codes::n_rows)
      .def_prop_ro("n_columns", [](const Codes& codes) { return codes.columns.size(); })
      .def("n_codes", [](const Codes& codes, size_t j) { return codes.columns.at(j).n_codes; })
      .def("width", [](const Codes& codes, size_t j) { return codes.columns.at(j).width; })
      .def("column", column_copy)
      .def("marks",
           [](const Codes& codes, size_t j) {
             const auto marks = codes.columns.at(j).marks;
             return to_numpy(std::vector<double>(marks.begin(), marks.end()));
           })
      .def("has_missing", has_missing)
      .def("is_sparse", [](const Codes& codes, size_t j) { return codes.columns.at(j).sparse; })
      .def("n_entries", [](const Codes& codes, size_t j) { return codes.columns.at(j).n_entries; })
      .def("default_code", [](const Codes& codes, size_t j) { return codes.columns.at(j).default_code; })
      .def("rows", rows_copy);
  m.def("encode", encode_columns, nb::arg("columns"), nb::arg("n_rows"), nb::arg("weights").noconvert(),
        nb::arg("max_bins"), nb::arg("n_threads"), nb::arg("limit") = sample_limit);
  m.def("encode_array", encode_array, nb::arg("array"), nb::arg("kind"), nb::arg("placed"), nb::arg("n_rows"),
        nb::arg("weights").noconvert(), nb::arg("max_bins"), nb::arg("n_threads"), nb::arg("limit") = sample_limit);
  m.def("encode_sparse", encode_matrix, nb::arg("matrix"), nb::arg("kind"), nb::arg("placed"),
        nb::arg("weights").noconvert(), nb::arg("max_bins"), nb::arg("n_threads"), nb::arg("limit") = sample_limit);
}

}  // namespace weald::bindings
