// Dependence: the curves of a forest where columns are free.

#include <nanobind/nanobind.h>

#include "bindings/arrays.h"
#include "bindings/call.h"
#include "bindings/parts.h"
#include "core/explain/dependence/curves.h"

namespace weald::bindings {

namespace {

// [(column, values, whether a missing point follows), …]; the caller keeps the arrays alive.
std::vector<FreeColumn> free_columns(const nb::list& given) {
  std::vector<FreeColumn> columns;
  for (const nb::handle item : given) {
    const auto parts = nb::cast<nb::tuple>(item);
    const auto values = nb::cast<Vector<double>>(parts[1], false);
    columns.push_back({nb::cast<int32_t>(parts[0]), view(values), nb::cast<bool>(parts[2])});
  }
  return columns;
}

CurveOptions curve_options(const nb::tuple& given) {
  CurveOptions options;
  const auto link = nb::cast<int>(given[0]);
  require(link >= 0 && link <= static_cast<int>(CurveLink::softmax), "a link of curves");
  options.link = static_cast<CurveLink>(link);
  options.factor = nb::cast<double>(given[1]);
  options.centred = nb::cast<bool>(given[2]);
  options.pair = nb::cast<bool>(given[3]);
  options.rows_apart = nb::cast<bool>(given[4]);
  return options;
}

auto curves(const Predictor& predictor, int64_t first, int64_t last, const nb::list& columns,
            const Matrix<double>& values, const Matrix<double>& raw, const nb::object& weight, const nb::tuple& options,
            const Vector<int32_t>& outputs, const nb::object& individual, int n_threads) {
  require(0 <= first && first <= last && last <= predictor.n_trees(), "a range of the forest's trees");
  const TreeRange trees{static_cast<size_t>(first), static_cast<size_t>(last)};
  const LaidOutForest& forest = predictor.forest();
  require(static_cast<int64_t>(values.shape(0)) == forest.used.size(), "the columns that the forest reads");
  CurveRows rows{{values.data(), static_cast<int64_t>(raw.shape(0))}, view(raw), {}};
  require(values.shape(1) == raw.shape(0), "columns and scores of the same rows");
  if (!weight.is_none()) rows.weight = view(nb::cast<Vector<double>>(weight, false));
  double* out = nullptr;
  if (!individual.is_none()) {
    const auto array = nb::cast<nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>>(individual, false);
    require(array.shape(0) == outputs.size() && array.shape(1) == raw.shape(0), "room for every curve");
    out = array.data();
  }
  const CurveOptions asked = curve_options(options);
  const std::vector<FreeColumn> free = free_columns(columns);
  CurveMoments found = call(n_threads, [&](Run& run) {
    const FreePoints points(forest, trees, free);
    return dependence_curves(forest, trees, points, rows, asked, view(outputs), out, run);
  });
  return nb::make_tuple(to_numpy(std::move(found.mean)), to_numpy(std::move(found.m2)));
}

}  // namespace

void bind_dependence(nb::module_& m) {
  m.def("dependence_curves", curves, nb::arg("predictor"), nb::arg("first"), nb::arg("last"), nb::arg("columns"),
        nb::arg("values").noconvert(), nb::arg("raw").noconvert(), nb::arg("weight").none(), nb::arg("options"),
        nb::arg("outputs").noconvert(), nb::arg("individual").none(), nb::arg("n_threads"));
}

}  // namespace weald::bindings
