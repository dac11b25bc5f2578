// Nearest rows: an index of fitted rows, and its searches.

#include <nanobind/nanobind.h>
#include <nanobind/stl/unique_ptr.h>

#include "bindings/arrays.h"
#include "bindings/call.h"
#include "bindings/matrices.h"
#include "bindings/parts.h"
#include "core/neighbors/index.h"

namespace weald::bindings {

namespace {

// (points, codes, weights); the caller keeps the arrays alive. Codes are checked against the levels.
neighbors::Rows rows_view(const nb::tuple& parts, const neighbors::Categories& categories, bool weighted) {
  neighbors::Rows rows;
  rows.points = matrix_view(nb::cast<nb::tuple>(parts[0]));
  const auto codes = nb::cast<Matrix<int32_t>>(parts[1], false);
  rows.weight = view(nb::cast<Vector<double>>(parts[2], false));
  require(static_cast<int64_t>(codes.shape(0)) == rows.n() && static_cast<int64_t>(codes.shape(1)) == categories.n(),
          "each row has a code per categorical column");
  require(!weighted || static_cast<int64_t>(rows.weight.size()) == rows.n(), "each row has a weight");
  rows.codes = codes.data();
  for (size_t i = 0; i < codes.size(); ++i) {
    const size_t c = i % codes.shape(1);
    require(codes.data()[i] >= 0 && codes.data()[i] < categories.start[c + 1] - categories.start[c],
            "codes are those of the levels");
  }
  return rows;
}

// (cost, against, start) of categories.
neighbors::Categories categories_view(const nb::tuple& parts) {
  neighbors::Categories found;
  found.cost = view(nb::cast<Vector<double>>(parts[0], false));
  found.against = view(nb::cast<Vector<double>>(parts[1], false));
  found.start = view(nb::cast<Vector<int64_t>>(parts[2], false));
  require(found.start.size() == found.cost.size() + 1 && found.start[0] == 0 &&
              found.start.back() == static_cast<int64_t>(found.against.size()),
          "each categorical column has its codes");
  return found;
}

// An index with the arrays that it reads.
struct HeldIndex {
  nb::object held;
  neighbors::Metric metric;
  neighbors::Categories categories;
  std::unique_ptr<neighbors::Index> index;
};

auto neighbor_index(int rule, double p, const nb::tuple& fitted, const nb::tuple& categories, bool tree,
                    int64_t leaf_size, int n_threads) {
  auto made = std::make_unique<HeldIndex>();
  made->held = nb::make_tuple(fitted, categories);
  made->metric = {static_cast<neighbors::Rule>(rule), p};
  made->categories = categories_view(categories);
  const bool weighted = made->metric.rule == neighbors::Rule::cosine && made->categories.n() > 0;
  const neighbors::Rows rows = rows_view(fitted, made->categories, weighted);
  made->index = call(n_threads, [&](Run& run) {
    return std::make_unique<neighbors::Index>(made->metric, rows, made->categories, tree, leaf_size, run);
  });
  return made;
}

nb::tuple nearest_rows(const HeldIndex& held, const nb::tuple& queries, int64_t k, bool exclude_self, int n_threads) {
  const bool weighted = held.metric.rule == neighbors::Rule::cosine && held.categories.n() > 0;
  const neighbors::Rows rows = rows_view(queries, held.categories, weighted);
  const auto n = static_cast<size_t>(rows.n()), width = static_cast<size_t>(k);
  std::vector<double> distances(n * width);
  std::vector<int64_t> found(n * width);
  call(n_threads, [&](Run& run) { held.index->search(rows, k, exclude_self, run, distances.data(), found.data()); });
  return nb::make_tuple(to_numpy(std::move(distances), {n, width}), to_numpy(std::move(found), {n, width}));
}

}  // namespace

void bind_neighbors(nb::module_& m) {
  nb::class_<HeldIndex>(m, "NeighborIndex")
      .def("nearest", nearest_rows, nb::arg("queries"), nb::arg("k"), nb::arg("exclude_self"), nb::arg("n_threads"));
  m.def("neighbor_index", neighbor_index, nb::arg("rule"), nb::arg("p"), nb::arg("fitted"), nb::arg("categories"),
        nb::arg("tree"), nb::arg("leaf_size"), nb::arg("n_threads"));
}

}  // namespace weald::bindings
