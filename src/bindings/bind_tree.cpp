// Quantising and growing: integer statistics in, the arrays of one tree out.

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.h"
#include "bindings/call.h"
#include "bindings/parts.h"
#include "bindings/tree_dict.h"
#include "core/tree/kinds/tree.h"
#include "core/tree/statistics/quantise.h"
#include "core/tree/statistics/threshold_ranks.h"

namespace weald::bindings {

namespace {

void bind_options(nb::module_& m) {
  nb::class_<GrowOptions>(m, "GrowOptions")
      .def(nb::init<>())
      .def_rw("max_depth", &GrowOptions::max_depth)
      .def_rw("min_rows_split", &GrowOptions::min_rows_split)
      .def_rw("min_rows_leaf", &GrowOptions::min_rows_leaf)
      .def_rw("min_weight_leaf", &GrowOptions::min_weight_leaf)
      .def_rw("max_leaves", &GrowOptions::max_leaves)
      .def_rw("min_decrease", &GrowOptions::min_decrease)
      .def_rw("must_gain", &GrowOptions::must_gain)
      .def_rw("max_columns", &GrowOptions::max_columns)
      .def_rw("category_chance", &GrowOptions::category_chance)
      .def_rw("tree_orders", &GrowOptions::tree_orders)
      .def_rw("chance_within", &GrowOptions::chance_within)
      .def_rw("free_categories", &GrowOptions::free_categories)
      .def_rw("combined_columns", &GrowOptions::combined_columns)
      .def_rw("leaf_means_only", &GrowOptions::leaf_means_only)
      .def_rw("seed", &GrowOptions::seed)
      .def_rw("columns", &GrowOptions::columns)
      .def_rw("level_columns", &GrowOptions::level_columns)
      .def_rw("node_columns", &GrowOptions::node_columns)
      .def_rw("column_weights", &GrowOptions::column_weights)
      .def_rw("interactions", &GrowOptions::interactions)
      .def_rw("one_hot_categories", &GrowOptions::one_hot_categories)
      .def_rw("max_categories", &GrowOptions::max_categories)
      .def_rw("rare_rows", &GrowOptions::rare_rows)
      .def_rw("group_rows", &GrowOptions::group_rows)
      .def_rw("level_by_level", &GrowOptions::level_by_level)
      .def_rw("random", &GrowOptions::random)
      .def_rw("random_ties", &GrowOptions::random_ties)
      .def_prop_rw(
          "monotone",
          [](const GrowOptions& options) { return std::vector<int>(options.monotone.begin(), options.monotone.end()); },
          [](GrowOptions& options, const std::vector<int>& directions) {
            options.monotone.assign(directions.begin(), directions.end());
          })
      .def_prop_rw(
          "search", [](const GrowOptions& options) { return static_cast<int>(options.search); },
          [](GrowOptions& options, int search) { options.search = static_cast<Search>(search); })
      .def_rw("histogram_bytes", &GrowOptions::histogram_bytes)
      .def_rw("value_bytes", &GrowOptions::value_bytes);
}

void bind_bags(nb::module_& m) {
  nb::class_<Bags>(m, "Bags")
      .def(nb::init<>())
      .def_rw("n_trees", &Bags::n_trees)
      .def_rw("first_tree", &Bags::first_tree)
      .def_rw("n_draws", &Bags::n_draws)
      .def_rw("seed", &Bags::seed)
      .def_rw("min_weight_share", &Bags::min_weight_share)
      .def_rw("class_draws", &Bags::class_draws)
      .def_rw("class_replace", &Bags::class_replace);
  m.def(
      "draw_bag",
      [](uint64_t seed, int64_t tree, int64_t n_draws, int64_t n_rows) {
        require(n_draws >= 0 && n_rows > 0, "draws need rows to draw from");
        std::vector<uint32_t> counts(static_cast<size_t>(n_rows), 0);
        draw_bag(seed, tree, n_draws, counts);
        return to_numpy(std::move(counts));
      },
      nb::arg("seed"), nb::arg("tree"), nb::arg("n_draws"), nb::arg("n_rows"));
  m.def(
      "draw_class_bag",
      [](const Bags& bags, int64_t tree, const Vector<int32_t>& class_of_row) {
        const std::span<const int32_t> classes = view(class_of_row);
        std::vector<uint32_t> present;
        for (size_t row = 0; row < classes.size(); ++row) {
          require(classes[row] < static_cast<int64_t>(bags.class_draws.size()), "class out of range");
          if (classes[row] >= 0) present.push_back(static_cast<uint32_t>(row));
        }
        const RowsByClass by_class(classes, present, bags.class_draws.size());
        check_draws(bags, by_class);
        return to_numpy(class_bag(bags, tree, by_class, classes.size()));
      },
      nb::arg("bags"), nb::arg("tree"), nb::arg("class_of_row").noconvert());
}

void bind_quantise(nb::module_& m) {
  m.attr("LOWEST_EXPONENT") = lowest_exponent;
  m.def(
      "count_exponents",
      [](const Vector<double>& values, const Vector<int64_t>& times) {
        require(times.size() == 0 || times.size() == values.size(), "one number of times per value");
        return to_numpy(count_exponents(view(values), view(times)));
      },
      nb::arg("values").noconvert(), nb::arg("times").noconvert());
  m.def(
      "to_units",
      [](const Vector<double>& values, int power) {
        std::vector<int64_t> out(values.size());
        to_units(view(values), power, out);
        return to_numpy(std::move(out));
      },
      nb::arg("values").noconvert(), nb::arg("power"));
}

}  // namespace

void bind_tree(nb::module_& m) {
  bind_options(m);
  bind_bags(m);
  bind_quantise(m);
  m.def(
      "rank_thresholds",
      [](const Vector<int32_t>& column, const Vector<double>& threshold, const Vector<uint8_t>& kind) {
        return to_numpy(call(1, [&](Run&) { return rank_thresholds(view(column), view(threshold), view(kind)); }));
      },
      nb::arg("column").noconvert(), nb::arg("threshold").noconvert(), nb::arg("kind").noconvert());
  m.def(
      "grow_class_trees",
      [](const Codes& codes, const Matrix<int32_t>& lane, const std::vector<int>& output_start,
         const Vector<int64_t>& weights, int weight_power, bool balance, int criterion, const GrowOptions& options,
         const Bags* bags, int n_threads) {
        const ClassTarget target{view(lane), output_start, view(weights), weight_power, balance};
        TreeArrays tree = call(n_threads, [&](Run& run) {
          return grow_class_trees(codes, target, static_cast<ClassCriterion>(criterion), options, bags, run);
        });
        return grown_arrays(std::move(tree), static_cast<size_t>(output_start.back()));
      },
      nb::arg("codes"), nb::arg("lane").noconvert(), nb::arg("output_start"), nb::arg("weights").noconvert(),
      nb::arg("weight_power"), nb::arg("balance"), nb::arg("criterion"), nb::arg("options"), nb::arg("bags").none(),
      nb::arg("n_threads"));
  m.def(
      "grow_moment_trees",
      [](const Codes& codes, const Matrix<int64_t>& lanes, const Vector<int64_t>& squares,
         const Matrix<double>& targets, const std::vector<int>& sum_powers, int weight_power, int square_power,
         int criterion, const GrowOptions& options, const Bags* bags, int n_threads) {
        const MomentPowers powers{sum_powers, weight_power, square_power};
        TreeArrays tree = call(n_threads, [&](Run& run) {
          return grow_moment_trees(codes, view(lanes), view(squares), view(targets), powers,
                                   static_cast<MomentCriterion>(criterion), options, bags, run);
        });
        return grown_arrays(std::move(tree), sum_powers.size() + 1);
      },
      nb::arg("codes"), nb::arg("lanes").noconvert(), nb::arg("squares").noconvert(), nb::arg("targets").noconvert(),
      nb::arg("sum_powers"), nb::arg("weight_power"), nb::arg("square_power"), nb::arg("criterion"), nb::arg("options"),
      nb::arg("bags").none(), nb::arg("n_threads"));
  m.def(
      "grow_absolute_trees",
      [](const Codes& codes, const Matrix<int64_t>& values, const Vector<int64_t>& weights,
         const Matrix<double>& targets, int value_power, int weight_power, bool wide, const GrowOptions& options,
         const Bags* bags, int n_threads) {
        TreeArrays tree = call(n_threads, [&](Run& run) {
          return grow_absolute_trees(codes, view(values), view(weights), view(targets), value_power, weight_power, wide,
                                     options, bags, run);
        });
        return grown_arrays(std::move(tree), 1);
      },
      nb::arg("codes"), nb::arg("values").noconvert(), nb::arg("weights").noconvert(), nb::arg("targets").noconvert(),
      nb::arg("value_power"), nb::arg("weight_power"), nb::arg("wide"), nb::arg("options"), nb::arg("bags").none(),
      nb::arg("n_threads"));
}

}  // namespace weald::bindings
