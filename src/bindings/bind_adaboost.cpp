// AdaBoost. Weights of rows: flags in, sums and new weights out. Stumps: rows laid out once, weights in, a tree out.

#include <nanobind/nanobind.h>
#include <nanobind/stl/unique_ptr.h>

#include "bindings/arrays.h"
#include "bindings/call.h"
#include "bindings/parts.h"
#include "bindings/tree_dict.h"
#include "core/boosting/adaboost/adaboost.h"
#include "core/boosting/adaboost/weights.h"

namespace weald::bindings {

namespace {

using Votes = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::span<const uint8_t> flags(const Vector<bool>& array) {
  return {reinterpret_cast<const uint8_t*>(array.data()), array.size()};
}

void bind_weights(nb::module_& m) {
  m.def(
      "wrong_units",
      [](const Vector<bool>& wrong, const Vector<int64_t>& units, int n_threads) {
        return call(n_threads, [&](Run& run) { return wrong_units(flags(wrong), view(units), run); });
      },
      nb::arg("wrong").noconvert(), nb::arg("units").noconvert(), nb::arg("n_threads"));
  m.def(
      "reweigh",
      [](const Vector<double>& values, const Vector<bool>& wrong, double for_right, double for_wrong, double total,
         int n_threads, const FilledVector<double>& new_values, const FilledVector<int64_t>& units) {
        call(n_threads, [&](Run& run) {
          reweigh(view(values), flags(wrong), for_right, for_wrong, total, run, view(new_values), view(units));
        });
      },
      nb::arg("values").noconvert(), nb::arg("wrong").noconvert(), nb::arg("for_right"), nb::arg("for_wrong"),
      nb::arg("total"), nb::arg("n_threads"), nb::arg("new_values").noconvert(), nb::arg("units").noconvert());
  m.def(
      "add_votes",
      [](const Votes& votes, const Vector<int32_t>& predicted, double weight, const Vector<int32_t>& label,
         const Vector<int64_t>& units, int n_threads) {
        return call(n_threads, [&](Run& run) {
          return add_votes({votes.data(), votes.size()}, view(predicted), weight, view(label), view(units), run);
        });
      },
      nb::arg("votes").noconvert(), nb::arg("predicted").noconvert(), nb::arg("weight"), nb::arg("label").noconvert(),
      nb::arg("units").noconvert(), nb::arg("n_threads"));
}

}  // namespace

void bind_adaboost(nb::module_& m) {
  bind_weights(m);
  nb::class_<StumpRows>(m, "StumpRows");
  m.def(
      "stump_rows",
      [](const Codes& codes, const Vector<int32_t>& label, int n_classes, int n_threads) {
        return call(n_threads,
                    [&](Run& run) { return std::make_unique<StumpRows>(codes, view(label), n_classes, run); });
      },
      nb::arg("codes"), nb::arg("label").noconvert(), nb::arg("n_classes"), nb::arg("n_threads"),
      nb::keep_alive<0, 1>());
  m.def(
      "grow_stump",
      [](const StumpRows& rows, const Vector<int64_t>& weights, int criterion, int n_threads,
         const FilledVector<int32_t>& predicted) {
        TreeArrays tree = call(n_threads, [&](Run& run) {
          return grow_stump(rows, view(weights), static_cast<ClassCriterion>(criterion), run, view(predicted));
        });
        return grown_arrays(std::move(tree), static_cast<size_t>(rows.n_classes()));
      },
      nb::arg("rows"), nb::arg("weights").noconvert(), nb::arg("criterion"), nb::arg("n_threads"),
      nb::arg("predicted").noconvert());
}

}  // namespace weald::bindings
