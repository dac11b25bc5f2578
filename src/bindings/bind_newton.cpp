// Boosting's rows: gradients in, a tree and the place of every row out.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "bindings/arrays.h"
#include "bindings/call.h"
#include "bindings/parts.h"
#include "bindings/tree_dict.h"
#include "core/boosting/losses/gradients.h"
#include "core/tree/newton/rows.h"

namespace weald::bindings {

namespace {

void bind_newton_options(nb::module_& m) {
  nb::class_<NewtonOptions>(m, "NewtonOptions")
      .def(nb::init<>())
      .def_rw("reg_lambda", &NewtonOptions::lambda)
      .def_rw("reg_alpha", &NewtonOptions::alpha)
      .def_rw("max_step", &NewtonOptions::max_step)
      .def_rw("min_weight", &NewtonOptions::min_weight)
      .def_rw("category_smooth", &NewtonOptions::category_smooth)
      .def_rw("category_lambda", &NewtonOptions::category_lambda)
      .def_rw("believes_categories", &NewtonOptions::believes_categories)
      .def_rw("rare_weight", &NewtonOptions::rare_weight)
      .def_rw("gamma", &NewtonOptions::gamma)
      .def_rw("zero_gain", &NewtonOptions::zero_gain)
      .def_rw("prune_after", &NewtonOptions::prune_after)
      .def_rw("row_share", &NewtonOptions::row_share)
      .def_rw("narrow", &NewtonOptions::narrow)
      .def_rw("narrow_rows", &NewtonOptions::narrow_rows)
      .def_rw("round", &NewtonOptions::round)
      .def_rw("grow", &NewtonOptions::grow);
}

}  // namespace

void bind_newton(nb::module_& m) {
  bind_newton_options(m);
  nb::class_<NewtonTree>(m, "NewtonTree")
      .def_prop_ro("narrow", [](const NewtonTree& tree) { return tree.narrow; })
      .def_prop_ro("n_leaves", [](const NewtonTree& tree) { return tree.arrays.leaf_start.size() - 1; })
      .def("leaf_sums",
           [](const NewtonTree& tree) {
             return to_numpy(std::vector<double>(tree.leaf_sums), {tree.leaf_sums.size() / 2, 2});
           })
      .def("arrays", [](const NewtonTree& tree) {
        nb::dict out = forest_arrays(tree.arrays);
        const size_t n_nodes = tree.arrays.slot.size();
        out["value"] = to_numpy(std::vector<double>(tree.value), {n_nodes, tree.value.size() / n_nodes});
        out["cover"] = to_numpy(std::vector<double>(tree.cover));
        return out;
      });
  nb::class_<NewtonRows>(m, "NewtonRows")
      .def(nb::init<const Codes&>(), nb::arg("codes"), nb::keep_alive<1, 2>())
      .def(
          "grow",
          [](NewtonRows& rows, const Matrix<double>& g, const Matrix<double>& h, const Vector<double>& weight,
             bool whole, const NewtonOptions& options, int n_threads, const Vector<double>& curvature, bool unit_h) {
            const Gradients given{view(g), view(h), nullptr, view(weight), whole, view(curvature), unit_h};
            return call(n_threads, [&](Run& run) { return rows.grow(given, options, run); });
          },
          nb::arg("g").noconvert(), nb::arg("h").noconvert(), nb::arg("weight").noconvert(), nb::arg("whole"),
          nb::arg("options"), nb::arg("n_threads"), nb::arg("curvature").noconvert(), nb::arg("unit_h"))
      .def(
          "grow_loss",
          [](NewtonRows& rows, const std::string& loss, const Vector<double>& parameters, int64_t output,
             const Vector<double>& scores, const Vector<double>& target, const Vector<double>& weight, bool whole,
             const NewtonOptions& options, int n_threads) {
            const auto n_rows = static_cast<size_t>(rows.codes().n_rows);
            require(scores.size() == n_rows && target.size() == n_rows, "one score and target per row");
            const auto source = loss_source(loss, view(parameters), output, scores.data(), target.data());
            const Gradients given{{}, {}, source.get(), view(weight), whole};
            return call(n_threads, [&](Run& run) { return rows.grow(given, options, run); });
          },
          nb::arg("loss"), nb::arg("parameters").noconvert(), nb::arg("output"), nb::arg("scores").noconvert(),
          nb::arg("target").noconvert(), nb::arg("weight").noconvert(), nb::arg("whole"), nb::arg("options"),
          nb::arg("n_threads"))
      .def(
          "add_scores",
          [](const NewtonRows& rows, const NewtonTree& tree, const Vector<double>& leaf_values,
             FilledVector<double> scores, int n_threads) {
            call(n_threads, [&](Run& run) { rows.add_scores(tree, view(leaf_values), view(scores), run); });
          },
          nb::arg("tree"), nb::arg("leaf_values").noconvert(), nb::arg("scores").noconvert(), nb::arg("n_threads"))
      .def(
          "leaf_sums",
          [](const NewtonRows& rows, const NewtonTree& tree, const Vector<double>& g, const Vector<double>& h,
             const Vector<double>& weight, bool whole, int n_threads) {
            const Gradients given{view(g), view(h), nullptr, view(weight), whole};
            auto sums = call(n_threads, [&](Run& run) { return rows.leaf_sums(tree, given, run); });
            const size_t n_leaves = sums.size() / 2;
            return to_numpy(std::move(sums), {n_leaves, 2});
          },
          nb::arg("tree"), nb::arg("g").noconvert(), nb::arg("h").noconvert(), nb::arg("weight").noconvert(),
          nb::arg("whole"), nb::arg("n_threads"))
      .def(
          "leaf_of_row",
          [](const NewtonRows& rows, const NewtonTree& tree, bool drawn_only) {
            std::vector<int32_t> out(static_cast<size_t>(rows.codes().n_rows));
            rows.leaf_of_row(tree, drawn_only, out);
            return to_numpy(std::move(out));
          },
          nb::arg("tree"), nb::arg("drawn_only"));
}

}  // namespace weald::bindings
