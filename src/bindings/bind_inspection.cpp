// Proximity: the leaves of rows in; the rows of leaves, nearest rows and proximities out.

#include <nanobind/nanobind.h>

#include "bindings/arrays.h"
#include "bindings/call.h"
#include "bindings/parts.h"
#include "core/inspection/proximity.h"

namespace weald::bindings {

namespace {

LeafTable leaf_table(const Matrix<int32_t>& nodes) {
  return {view(nodes), static_cast<int64_t>(nodes.shape(0)), static_cast<int64_t>(nodes.shape(1))};
}

}  // namespace

void bind_inspection(nb::module_& m) {
  m.def(
      "leaf_rows",
      [](const Matrix<int32_t>& nodes, const Vector<int64_t>& node_start, int n_threads) {
        LeafRows found = call(n_threads, [&](Run& run) { return leaf_rows(leaf_table(nodes), view(node_start), run); });
        return nb::make_tuple(to_numpy(std::move(found.start)), to_numpy(std::move(found.rows)));
      },
      nb::arg("nodes").noconvert(), nb::arg("node_start").noconvert(), nb::arg("n_threads"));
  m.def(
      "nearest_rows",
      [](const Matrix<int32_t>& nodes, const Vector<int64_t>& node_start, const Vector<int32_t>& start,
         const Vector<int32_t>& rows, const Matrix<uint64_t>& sets, int64_t k, int n_threads) {
        const size_t n = nodes.shape(0), width = static_cast<size_t>(k);
        const LeafRowsView groups{view(node_start), view(start), view(rows), static_cast<int64_t>(n)};
        Neighbours found =
            call(n_threads, [&](Run& run) { return nearest_rows(leaf_table(nodes), groups, view(sets), k, run); });
        return nb::make_tuple(to_numpy(std::move(found.row), {n, width}), to_numpy(std::move(found.share), {n, width}),
                              to_numpy(std::move(found.found)));
      },
      nb::arg("nodes").noconvert(), nb::arg("node_start").noconvert(), nb::arg("start").noconvert(),
      nb::arg("rows").noconvert(), nb::arg("sets").noconvert(), nb::arg("k"), nb::arg("n_threads"));
  m.def(
      "proximity_matrix",
      [](const Matrix<int32_t>& nodes, const Vector<int64_t>& node_start, const Vector<int32_t>& start,
         const Vector<int32_t>& rows, int64_t n_rows, const Matrix<uint64_t>& sets, int n_threads) {
        const LeafRowsView groups{view(node_start), view(start), view(rows), n_rows};
        return to_numpy(
            call(n_threads, [&](Run& run) { return proximity_matrix(leaf_table(nodes), groups, view(sets), run); }),
            {nodes.shape(0), static_cast<size_t>(n_rows)});
      },
      nb::arg("nodes").noconvert(), nb::arg("node_start").noconvert(), nb::arg("start").noconvert(),
      nb::arg("rows").noconvert(), nb::arg("n_rows"), nb::arg("sets").noconvert(), nb::arg("n_threads"));
  m.def(
      "squared_proximities",
      [](const Matrix<int32_t>& nodes, const Vector<int64_t>& node_start, const Vector<int32_t>& start,
         const Vector<int32_t>& rows, const Vector<int32_t>& group, int n_threads) {
        const LeafRowsView groups{view(node_start), view(start), view(rows), static_cast<int64_t>(nodes.shape(0))};
        return to_numpy(call(
            n_threads, [&](Run& run) { return squared_proximities(leaf_table(nodes), groups, view(group), run); }));
      },
      nb::arg("nodes").noconvert(), nb::arg("node_start").noconvert(), nb::arg("start").noconvert(),
      nb::arg("rows").noconvert(), nb::arg("group").noconvert(), nb::arg("n_threads"));
}

}  // namespace weald::bindings
