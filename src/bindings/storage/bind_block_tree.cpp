// Trees of classes and of means whose rows pass by in blocks.

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings/arrays.h"
#include "bindings/call.h"
#include "bindings/parts.h"
#include "bindings/tree_dict.h"
#include "core/rows/statistic/block_tree.h"

namespace weald::bindings {

namespace {

// The rows of a block, as (lane, weight, lanes, squares, targets, count); see StatisticRows.
struct BlockRows {
  Matrix<int32_t> lane;
  Vector<int64_t> weight;
  Matrix<int64_t> lanes;
  Vector<int64_t> squares;
  Matrix<double> targets;
  Vector<uint32_t> count;

  StatisticRows rows() const {
    return {view(lane), view(weight), view(lanes), view(squares), view(targets), view(count)};
  }
  void check(const BlockTree& tree, size_t n) const {
    const StatisticKind& kind = tree.kind();
    require(lane.size() == n * kind.n_outputs(), "one class per row and output");
    require(weight.size() == (kind.weighted() ? n : 0), "one weight per row");
    require(lanes.size() == (kind.classes() ? 0 : n * kind.n_lanes()) && targets.size() == n * kind.n_targets() &&
                squares.size() == (kind.classes() ? 0 : n),
            "lanes, squares and targets must have one row each");
    require(count.size() == (tree.drawn() ? n : 0), "how often a bag has each row");
    for (const int32_t each : view(lane)) {
      require(each >= 0 && static_cast<size_t>(each) < kind.n_lanes(), "class out of range");
    }
  }
};

template <class Number>
void add_to_tree(BlockTree& tree, const Codes* codes, const Matrix<int32_t>& lane, const Vector<int64_t>& weight,
                 const Matrix<int64_t>& lanes, const Vector<int64_t>& squares, const Matrix<double>& targets,
                 const Vector<uint32_t>& count, uint64_t first_row, FilledVector<Number> number, int n_threads) {
  const size_t n = number.size();
  if (codes != nullptr) require(static_cast<size_t>(codes->n_rows) == n, "one node per row");
  const BlockRows given{lane, weight, lanes, squares, targets, count};
  given.check(tree, n);
  const auto of_row = view(number);
  require(n == 0 || *std::max_element(of_row.begin(), of_row.end()) < tree.n_numbers(),
          "a row is in a node that is not there");
  call(n_threads, [&](Run& run) { tree.add<Number>(codes, given.rows(), first_row, of_row, run); });
}

template <class Number>
void def_add(nb::class_<BlockTree>& tree) {
  tree.def("add", add_to_tree<Number>, nb::arg("codes").none(), nb::arg("lane").noconvert(),
           nb::arg("weight").noconvert(), nb::arg("lanes").noconvert(), nb::arg("squares").noconvert(),
           nb::arg("targets").noconvert(), nb::arg("count").noconvert(), nb::arg("first_row"),
           nb::arg("number").noconvert(), nb::arg("n_threads"));
}

}  // namespace

void bind_block_tree(nb::module_& m) {
  nb::class_<StatisticKind>(m, "StatisticKind");
  m.def(
      "class_kind",
      [](const std::vector<int>& output_start, bool weighted, int weight_power, bool drawn, int64_t most,
         int criterion) {
        return class_kind(output_start, weighted, weight_power, drawn, most, static_cast<ClassCriterion>(criterion))
            .release();
      },
      nb::rv_policy::take_ownership, nb::arg("output_start"), nb::arg("weighted"), nb::arg("weight_power"),
      nb::arg("drawn"), nb::arg("most"), nb::arg("criterion"));
  m.def(
      "moment_kind",
      [](const std::vector<int>& sum_powers, int weight_power, int square_power, int criterion) {
        return moment_kind({sum_powers, weight_power, square_power}, static_cast<MomentCriterion>(criterion)).release();
      },
      nb::rv_policy::take_ownership, nb::arg("sum_powers"), nb::arg("weight_power"), nb::arg("square_power"),
      nb::arg("criterion"));
  nb::class_<BlockTree> tree(m, "BlockTree");
  tree.def(
          "__init__",
          [](BlockTree* self, const Codes& codebook, const StatisticKind& kind, const GrowOptions& options,
             size_t n_rows, size_t memory_rows, bool drawn, double weight_share, int64_t n_trees) {
            new (self) BlockTree(codebook, kind, options, {n_rows, memory_rows, drawn, weight_share, n_trees});
          },
          nb::arg("codebook"), nb::arg("kind"), nb::arg("options"), nb::arg("n_rows"), nb::arg("memory_rows"),
          nb::arg("drawn"), nb::arg("weight_share"), nb::arg("n_trees"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def("next", [](BlockTree& self) { return call(1, [&](Run&) { return self.next(); }); })
      .def_prop_ro("reads_codes", &BlockTree::reads_codes)
      .def(
          "take", [](BlockTree& self, int n_threads) { call(n_threads, [&](Run& run) { self.take(run); }); },
          nb::arg("n_threads"));
  def_add<uint16_t>(tree);
  def_add<uint32_t>(tree);
  nb::class_<TreeJoiner>(m, "TreeJoiner")
      .def(nb::init<int64_t>(), nb::arg("n_trees"))
      .def(
          "add",
          [](TreeJoiner& joiner, int64_t t, BlockTree& grown) {
            call(1, [&](Run&) { joiner.add(t, grown.finish()); });
          },
          nb::arg("t"), nb::arg("tree"))
      .def(
          "finish", [](TreeJoiner& joiner, size_t n_lanes) { return grown_arrays(joiner.finish(), n_lanes); },
          nb::arg("n_lanes"));
}

}  // namespace weald::bindings
