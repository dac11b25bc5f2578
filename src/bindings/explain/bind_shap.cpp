// SHAP values: a Forest's arrays in, an `Explainer` out; tables in, values of columns and of pairs of columns out.

#include <nanobind/nanobind.h>

#include <atomic>
#include <functional>
#include <optional>

#include "bindings/arrays.h"
#include "bindings/call.h"
#include "bindings/explain/forest_arguments.h"
#include "bindings/parts.h"
#include "core/explain/explain.h"

namespace weald::bindings {

namespace {

using FilledValues = nb::ndarray<double, nb::c_contig, nb::device::cpu>;

Explainer make_explainer(const nb::dict& arrays, int64_t n_columns, int64_t width) {
  return Explainer(forest_view(arrays, n_columns, width), forest_array<double>(arrays, "cover"));
}

TreeRange explained_trees(const Explainer& explainer, int64_t first, int64_t last) {
  require(0 <= first && first <= last && last <= explainer.n_trees(), "a range of the forest's trees");
  return {static_cast<size_t>(first), static_cast<size_t>(last)};
}

ExplainedRows explained_rows(const Explainer& explainer, const FilledValues& out, int64_t n_rows) {
  const bool pairs = out.ndim() == 4;
  bool fits = out.ndim() == 3 || pairs;
  for (size_t axis = 0; fits && axis < out.ndim(); ++axis) {
    const int64_t size = axis == 0 ? n_rows : axis == 1 ? explainer.n_outputs() : explainer.n_columns();
    fits = static_cast<int64_t>(out.shape(axis)) == size;
  }
  require(fits, "values of each row, output and column");
  return {out.data(), pairs};
}

// `tell` is None, or called about every 100 ms with the rows · trees that are done.
template <class F>
void told(const nb::object& tell, int n_threads, F&& f) {
  std::atomic<int64_t> done{0};
  std::function<void()> telling;
  if (!tell.is_none()) telling = [&] { tell(done.load()); };
  call_telling(n_threads, telling, [&](Run& run) { f(done, run); });
}

void explain(const Explainer& explainer, const nb::object& table, int64_t n_rows, const nb::object& background,
             const Vector<double>& weight, int64_t first, int64_t last, const FilledValues& out, int n_threads,
             const nb::object& tell) {
  const TreeRange trees = explained_trees(explainer, first, last);
  const ExplainedRows rows = explained_rows(explainer, out, n_rows);
  const TableArgument argument(table, n_rows);
  std::optional<TableArgument> other;
  Background against;
  if (!background.is_none()) {
    other.emplace(background, static_cast<int64_t>(weight.size()));
    against = {&other->table, view(weight)};
  }
  told(tell, n_threads, [&](std::atomic<int64_t>& done, Run& run) {
    explainer.explain(argument.table, against, trees, rows, done, run);
  });
}

void approximate(const Explainer& explainer, const nb::object& table, int64_t n_rows, int64_t first, int64_t last,
                 const FilledValues& out, int n_threads, const nb::object& tell) {
  const TreeRange trees = explained_trees(explainer, first, last);
  const ExplainedRows rows = explained_rows(explainer, out, n_rows);
  require(!rows.pairs, "approximate values have no pairs");
  const TableArgument argument(table, n_rows);
  told(tell, n_threads,
       [&](std::atomic<int64_t>& done, Run& run) { explainer.approximate(argument.table, trees, rows, done, run); });
}

}  // namespace

void bind_shap(nb::module_& m) {
  nb::class_<Explainer>(m, "Explainer")
      .def(
          "expected",
          [](const Explainer& explainer, int64_t first, int64_t last) {
            return to_numpy(explainer.expected(explained_trees(explainer, first, last)));
          },
          nb::arg("first"), nb::arg("last"))
      .def("explain", explain, nb::arg("table"), nb::arg("n_rows"), nb::arg("background").none(),
           nb::arg("weight").noconvert(), nb::arg("first"), nb::arg("last"), nb::arg("out").noconvert(),
           nb::arg("n_threads"), nb::arg("tell").none())
      .def("approximate", approximate, nb::arg("table"), nb::arg("n_rows"), nb::arg("first"), nb::arg("last"),
           nb::arg("out").noconvert(), nb::arg("n_threads"), nb::arg("tell").none());
  m.def("make_explainer", make_explainer, nb::arg("arrays"), nb::arg("n_columns"), nb::arg("width"));
}

}  // namespace weald::bindings
