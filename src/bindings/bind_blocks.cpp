// Block functions: what growing a tree asks of a block of rows, wherever it lies.

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "bindings/arrays.h"
#include "bindings/call.h"
#include "bindings/parts.h"
#include "core/rows/code.h"
#include "core/rows/leaves.h"
#include "core/rows/units.h"
#include "core/rows/visit.h"

namespace weald::bindings {

namespace {

// [(values, missing | None, kind, n_levels), …]: the kind is the codebook's
Codes code_columns(const Codes& codebook, const nb::list& columns, int64_t n_rows, int n_threads) {
  std::vector<ColumnSource> sources;
  sources.reserve(columns.size());
  for (const nb::handle item : columns) {
    const auto column = nb::cast<nb::tuple>(item);
    sources.push_back({raw_column(column[0], column[1], n_rows)});
  }
  return call(n_threads, [&](Run& run) { return code_block(codebook, sources, n_rows, run); });
}

// `placed`: [(position, values, missing | None), …] by ascending position
Codes code_matrix(const Codes& codebook, const nb::tuple& matrix, const nb::list& placed, int n_threads) {
  const SparseView sparse = sparse_view(matrix);
  std::vector<PlacedColumn> given;
  for (const nb::handle item : placed) {
    const auto column = nb::cast<nb::tuple>(item);
    given.push_back({nb::cast<int64_t>(column[0]), {raw_column(column[1], column[2], sparse.n_rows)}});
    require(given.back().position >= 0 && given.back().position < sparse.n_columns, "a column outside the matrix");
  }
  return call(n_threads, [&](Run& run) { return code_sparse_block(codebook, sparse, given, run); });
}

// One level of a tree: split and histogram per node; column, kind, missing_left, code, set_start, set_codes, set_left,
// left and right per split.
struct LevelArrays {
  Vector<int32_t> split, histogram;
  Vector<int32_t> column;
  Vector<uint8_t> kind, missing_left;
  Vector<uint32_t> code;
  Vector<int64_t> set_start;
  Vector<uint32_t> set_codes;
  Vector<uint8_t> set_left;
  Vector<int32_t> left, right;

  Level level(const Codes& codes) const {
    const size_t n = column.size();
    require(kind.size() == n && missing_left.size() == n && code.size() == n && set_start.size() == n + 1 &&
                set_left.size() == n && left.size() == n && right.size() == n,
            "a level has as many of all as splits");
    Level out{view(split), {}, view(left), view(right), view(histogram)};
    for (const int32_t at : out.split) require(at < static_cast<int64_t>(n), "a split that is not there");
    for (size_t i = 0; i < n; ++i) {
      require(column(i) >= 0 && static_cast<size_t>(column(i)) < codes.columns.size(), "a column that is not there");
      require(set_start(i) >= 0 && set_start(i) <= set_start(i + 1) &&
                  static_cast<size_t>(set_start(i + 1)) <= set_codes.size(),
              "sets within their codes");
      const auto first = static_cast<size_t>(set_start(i)), last = static_cast<size_t>(set_start(i + 1));
      out.splits.push_back({column(i), static_cast<SplitKind>(kind(i)), missing_left(i) != 0, code(i),
                            view(set_codes).subspan(first, last - first), set_left(i) != 0});
    }
    return out;
  }
};

void bind_visit(nb::module_& m) {
  m.def("visit_cells", [](const Codes& codes) { return to_numpy(cell_starts(codes)); }, nb::arg("codes"));
  m.def(
      "visit_block",
      [](const Codes& codes, const Vector<int32_t>& split, const Vector<int32_t>& histogram,
         const Vector<int32_t>& column, const Vector<uint8_t>& kind, const Vector<uint8_t>& missing_left,
         const Vector<uint32_t>& code, const Vector<int64_t>& set_start, const Vector<uint32_t>& set_codes,
         const Vector<uint8_t>& set_left, const Vector<int32_t>& left, const Vector<int32_t>& right,
         const Matrix<int64_t>& pairs, FilledVector<int32_t> node, FilledVector<int64_t> cells, int n_threads) {
        const LevelArrays arrays{split,     histogram, column,   kind, missing_left, code,
                                 set_start, set_codes, set_left, left, right};
        const Level level = arrays.level(codes);
        call(n_threads, [&](Run& run) { visit(codes, level, view(pairs), view(node), view(cells), run); });
      },
      nb::arg("codes"), nb::arg("split").noconvert(), nb::arg("histogram").noconvert(), nb::arg("column").noconvert(),
      nb::arg("kind").noconvert(), nb::arg("missing_left").noconvert(), nb::arg("code").noconvert(),
      nb::arg("set_start").noconvert(), nb::arg("set_codes").noconvert(), nb::arg("set_left").noconvert(),
      nb::arg("left").noconvert(), nb::arg("right").noconvert(), nb::arg("pairs").noconvert(),
      nb::arg("node").noconvert(), nb::arg("cells").noconvert(), nb::arg("n_threads"));
  m.def(
      "fill_default_cells",
      [](const Codes& codes, const Matrix<int64_t>& totals, FilledVector<int64_t> cells) {
        call(1, [&](Run&) { fill_defaults(codes, view(totals), view(cells)); });
      },
      nb::arg("codes"), nb::arg("totals").noconvert(), nb::arg("cells").noconvert());
}

void bind_leaves(nb::module_& m) {
  m.attr("DIGIT_PASSES") = n_digit_passes;
  m.def(
      "add_leaf_sums",
      [](const Matrix<int64_t>& pairs, const Vector<int32_t>& leaf, FilledVector<int64_t> sums) {
        call(1, [&](Run&) { add_leaf_sums(view(pairs), view(leaf), view(sums)); });
      },
      nb::arg("pairs").noconvert(), nb::arg("leaf").noconvert(), nb::arg("sums").noconvert());
  m.def(
      "count_digits",
      [](const Vector<double>& value, const Vector<int64_t>& weight, const Vector<int32_t>& leaf,
         const Vector<uint64_t>& found, int pass, FilledVector<int64_t> counts) {
        const LeafValues rows{view(value), view(weight), view(leaf)};
        call(1, [&](Run&) { count_digits(rows, view(found), pass, view(counts)); });
      },
      nb::arg("value").noconvert(), nb::arg("weight").noconvert(), nb::arg("leaf").noconvert(),
      nb::arg("found").noconvert(), nb::arg("pass_"), nb::arg("counts").noconvert());
  m.def(
      "take_digits",
      [](const Vector<int64_t>& counts, int pass, FilledVector<uint64_t> found, FilledVector<int64_t> rank) {
        take_digits(view(counts), pass, view(found), view(rank));
      },
      nb::arg("counts").noconvert(), nb::arg("pass_"), nb::arg("found").noconvert(), nb::arg("rank").noconvert());
  m.def("value_of_digits", value_of_digits, nb::arg("found"));
  m.def("rank_of_share", rank_of_share, nb::arg("alpha"), nb::arg("total"));
  m.def(
      "add_leaf_values",
      [](const Vector<double>& values, const Vector<int32_t>& leaf, FilledVector<double> scores) {
        require(leaf.size() == scores.size(), "one leaf per score");
        for (const int32_t at : view(leaf)) {
          require(at >= 0 && static_cast<size_t>(at) < values.size(), "a row is in a leaf that is not there");
        }
        call(1, [&](Run&) { add_leaf_values(values.data(), leaf.data(), leaf.size(), scores.data()); });
      },
      nb::arg("values").noconvert(), nb::arg("leaf").noconvert(), nb::arg("scores").noconvert());
}

}  // namespace

void bind_blocks(nb::module_& m) {
  m.def("code_block", code_columns, nb::arg("codebook"), nb::arg("columns"), nb::arg("n_rows"), nb::arg("n_threads"));
  m.def("code_sparse_block", code_matrix, nb::arg("codebook"), nb::arg("matrix"), nb::arg("placed"),
        nb::arg("n_threads"));
  m.def(
      "block_exponents",
      [](const Vector<double>& g, const Vector<double>& h, const Vector<double>& weight, bool whole, int n_threads) {
        const Gradients given{view(g), view(h), nullptr, view(weight), whole};
        Exponents found = call(n_threads, [&](Run& run) { return block_exponents(given, run); });
        return std::make_tuple(to_numpy(std::move(found.g)), to_numpy(std::move(found.h)), found.negative_h,
                               found.zeros);
      },
      nb::arg("g").noconvert(), nb::arg("h").noconvert(), nb::arg("weight").noconvert(), nb::arg("whole"),
      nb::arg("n_threads"));
  m.def(
      "common_power", [](const Vector<int64_t>& counts) { return common_power(view(counts)); },
      nb::arg("counts").noconvert());
  m.def(
      "block_units",
      [](const Vector<double>& g, const Vector<double>& h, const Vector<double>& weight, bool whole, int g_power,
         int h_power, int n_threads) {
        const Gradients given{view(g), view(h), nullptr, view(weight), whole};
        std::vector<int64_t> pairs(2 * g.size());
        call(n_threads, [&](Run& run) { block_units(given, {g_power, h_power}, pairs, run); });
        const size_t n = g.size();
        return to_numpy(std::move(pairs), {n, 2});
      },
      nb::arg("g").noconvert(), nb::arg("h").noconvert(), nb::arg("weight").noconvert(), nb::arg("whole"),
      nb::arg("g_power"), nb::arg("h_power"), nb::arg("n_threads"));
  bind_visit(m);
  bind_leaves(m);
}

}  // namespace weald::bindings
