// Pruning: the arrays of one tree in; its weakest-link sequence, or losses on held-out rows, out.

#include <nanobind/nanobind.h>

#include "bindings/arrays.h"
#include "bindings/call.h"
#include "bindings/parts.h"
#include "core/tree/model/prune.h"

namespace weald::bindings {

void bind_prune(nb::module_& m) {
  m.def(
      "prune_sequence",
      [](const Vector<int32_t>& slot, const Vector<int32_t>& right, const Vector<double>& gain) {
        PruneSequence found =
            call(1, [&](Run& run) { return prune_sequence({view(slot), view(right)}, view(gain), run); });
        nb::dict out;
        out["node"] = to_numpy(std::move(found.node));
        out["alpha"] = to_numpy(std::move(found.alpha));
        out["gain"] = to_numpy(std::move(found.gain));
        out["splits"] = to_numpy(std::move(found.splits));
        out["collapse"] = to_numpy(std::move(found.collapse));
        return out;
      },
      nb::arg("slot").noconvert(), nb::arg("right").noconvert(), nb::arg("gain").noconvert());
  m.def(
      "held_out_class_losses",
      [](const Vector<int32_t>& slot, const Vector<int32_t>& right, const Vector<double>& collapse,
         const Vector<double>& alphas, const Vector<int32_t>& leaf, const Vector<double>& weight,
         const Matrix<int32_t>& lane, const Matrix<double>& table) {
        require(table.shape(0) == slot.size(), "one row of the table per node");
        const HeldOut rows{view(collapse), view(alphas), view(leaf), view(weight), static_cast<int64_t>(lane.shape(1))};
        return to_numpy(call(1, [&](Run& run) {
          return held_out_class_losses({view(slot), view(right)}, rows, view(lane), view(table), run);
        }));
      },
      nb::arg("slot").noconvert(), nb::arg("right").noconvert(), nb::arg("collapse").noconvert(),
      nb::arg("alphas").noconvert(), nb::arg("leaf").noconvert(), nb::arg("weight").noconvert(),
      nb::arg("lane").noconvert(), nb::arg("table").noconvert());
  m.def(
      "held_out_number_losses",
      [](const Vector<int32_t>& slot, const Vector<int32_t>& right, const Vector<double>& collapse,
         const Vector<double>& alphas, const Vector<int32_t>& leaf, const Vector<double>& weight,
         const Matrix<double>& target, const Matrix<double>& value, int loss, double floor) {
        const HeldOut rows{view(collapse), view(alphas), view(leaf), view(weight),
                           static_cast<int64_t>(target.shape(1))};
        return to_numpy(call(1, [&](Run& run) {
          return held_out_number_losses({view(slot), view(right)}, rows, view(target), view(value),
                                        static_cast<NumberLoss>(loss), floor, run);
        }));
      },
      nb::arg("slot").noconvert(), nb::arg("right").noconvert(), nb::arg("collapse").noconvert(),
      nb::arg("alphas").noconvert(), nb::arg("leaf").noconvert(), nb::arg("weight").noconvert(),
      nb::arg("target").noconvert(), nb::arg("value").noconvert(), nb::arg("loss"), nb::arg("floor"));
}

}  // namespace weald::bindings
