// Weighted quantile sketches, and the candidates of tree_method="approx".

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>

#include "bindings/arrays.h"
#include "bindings/call.h"
#include "bindings/parts.h"
#include "core/data/encode/coarse_bins.h"
#include "core/data/encode/coarsen.h"
#include "core/data/sketch.h"

namespace weald::bindings {

void bind_sketch(nb::module_& m) {
  nb::class_<SketchSummary>(m, "SketchSummary")
      .def_ro("total", &SketchSummary::total)
      .def_prop_ro("n_entries", [](const SketchSummary& summary) { return summary.entries.size(); })
      .def("rank_bounds", &rank_bounds, nb::arg("value"))
      .def("value_at", &value_at, nb::arg("rank"))
      .def(
          "cuts",
          [](const SketchSummary& summary, uint32_t max_bins) { return to_numpy(sketch_cuts(summary, max_bins)); },
          nb::arg("max_bins"));
  nb::class_<QuantileSketch>(m, "QuantileSketch")
      .def(nb::init<double>(), nb::arg("epsilon"))
      .def("copy", [](const QuantileSketch& sketch) { return QuantileSketch(sketch); })
      .def_prop_ro("total", &QuantileSketch::total)
      .def_prop_ro("block_size", &QuantileSketch::block_size)
      .def_prop_ro("n_entries", &QuantileSketch::n_entries)
      .def(
          "add",
          [](QuantileSketch& sketch, const Vector<double>& values, const Vector<int64_t>& weights) {
            sketch.add(view(values), view(weights));
          },
          nb::arg("values").noconvert(), nb::arg("weights").noconvert())
      .def("merge", &QuantileSketch::merge, nb::arg("other"))
      .def("scale", &QuantileSketch::scale, nb::arg("shift"))
      .def("summary", &QuantileSketch::summary);
  nb::class_<CoarseBins>(m, "CoarseBins")
      .def(nb::init<const Codes&>(), nb::arg("codebook"))
      .def(
          "add",
          [](CoarseBins& bins, const Codes& block, const Vector<int64_t>& weights, int n_threads) {
            call(n_threads, [&](Run& run) { bins.add(block, view(weights), run); });
          },
          nb::arg("block"), nb::arg("weights").noconvert(), nb::arg("n_threads"))
      .def("close", &CoarseBins::close, nb::arg("max_bins"))
      .def("codebook", &CoarseBins::codebook)
      .def(
          "code",
          [](const CoarseBins& bins, const Codes& block, int n_threads) {
            return call(n_threads, [&](Run& run) { return bins.code(block, run); });
          },
          nb::arg("block"), nb::arg("n_threads"));
  m.def(
      "coarsen",
      [](const Codes& codes, const Vector<int64_t>& weights, uint32_t max_bins, int n_threads) {
        return call(n_threads, [&](Run& run) { return coarsen(codes, view(weights), max_bins, run); });
      },
      nb::arg("codes"), nb::arg("weights").noconvert(), nb::arg("max_bins"), nb::arg("n_threads"));
}

}  // namespace weald::bindings
