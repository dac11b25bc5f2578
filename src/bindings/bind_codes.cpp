// Codes: columns in, an opaque `Codes` out.

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.h"
#include "bindings/call.h"
#include "bindings/parts.h"
#include "core/data/encode.h"

namespace weald::bindings {

namespace {

// columns: [(values, missing | None, kind, n_levels), …]
std::vector<ColumnSource> read_sources(const nb::list& columns, int64_t n_rows) {
  std::vector<ColumnSource> sources;
  sources.reserve(columns.size());
  for (const nb::handle item : columns) {
    const auto column = nb::cast<nb::tuple>(item);
    sources.push_back({raw_column(column[0], column[1], n_rows), static_cast<ColumnKind>(nb::cast<int>(column[2])),
                       nb::cast<uint32_t>(column[3])});
  }
  return sources;
}

nb::object column_copy(const Codes& codes, size_t j) {
  const CodeColumn& column = codes.columns.at(j);
  return with_codes(column,
                    [&](const auto* data) { return nb::cast(to_numpy(std::vector(data, data + codes.n_rows))); });
}

}  // namespace

void bind_codes(nb::module_& m) {
  nb::class_<Codes>(m, "Codes")
      .def_ro("n_rows", &Codes::n_rows)
      .def_prop_ro("n_columns", [](const Codes& codes) { return codes.columns.size(); })
      .def("n_codes", [](const Codes& codes, size_t j) { return codes.columns.at(j).n_codes; })
      .def("width", [](const Codes& codes, size_t j) { return codes.columns.at(j).width; })
      .def("column", column_copy)
      .def("marks", [](const Codes& codes, size_t j) { return to_numpy(std::vector(codes.columns.at(j).marks)); });
  m.def(
      "encode",
      [](const nb::list& columns, int64_t n_rows, const Vector<int64_t>& weights, uint32_t max_bins, int n_threads) {
        const std::vector<ColumnSource> sources = read_sources(columns, n_rows);
        require(weights.size() == 0 || static_cast<int64_t>(weights.size()) == n_rows, "one weight a row");
        return call(n_threads, [&](Run& run) { return encode(sources, n_rows, view(weights), max_bins, run); });
      },
      nb::arg("columns"), nb::arg("n_rows"), nb::arg("weights").noconvert(), nb::arg("max_bins"), nb::arg("n_threads"));
}

}  // namespace weald::bindings
