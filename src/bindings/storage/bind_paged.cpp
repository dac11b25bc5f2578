// Trees of rows that pass by in blocks: what blocks count and add up, and the tree that comes of it.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/arrays.h"
#include "bindings/call.h"
#include "bindings/parts.h"
#include "core/boosting/losses/gradients.h"
#include "core/rows/block_of.h"
#include "core/rows/leaves.h"
#include "core/rows/paged_tree.h"
#include "core/rows/shipping.h"

namespace weald::bindings {

namespace {

// The rows of a block with their gradients, and which of them are drawn. It keeps the arrays that it reads.
class BlockGradients {
 public:
  BlockGradients(uint64_t first_row, const RowDraw& draw, const Vector<double>& weight, bool whole, size_t n_rows)
      : first_row_(first_row),
        weight_(weight),
        whole_(whole),
        drawn_(draw_block(draw, view(weight), n_rows, first_row)) {
    require(weight.size() == 0 || weight.size() == n_rows, "one weight per row");
  }

  void take_loss(const std::string& loss, const Vector<double>& parameters, int64_t output,
                 const Vector<double>& scores, const Vector<double>& target) {
    require(scores.size() == target.size(), "one score and target per row");
    kept_ = {scores, target};
    source_ = loss_source(loss, view(parameters), output, scores.data(), target.data());
    given_ = {{{}, {}, source_.get(), view(weight_), whole_}};
  }
  void take_arrays(const Matrix<double>& g, const Matrix<double>& h) {
    require(g.size() == h.size() && g.shape(0) == h.shape(0), "as many hessians as gradients");
    matrices_ = {g, h};
    const size_t n = g.shape(1);
    for (size_t k = 0; k < g.shape(0); ++k) {
      given_.push_back({view(g).subspan(k * n, n), view(h).subspan(k * n, n), nullptr, view(weight_), whole_});
    }
  }

  uint64_t first_row() const { return first_row_; }
  std::span<const Gradients> given() const { return given_; }
  const DrawnRows& drawn() const { return drawn_; }

 private:
  uint64_t first_row_;
  Vector<double> weight_;
  bool whole_;
  DrawnRows drawn_;
  std::unique_ptr<GradientSource> source_;
  std::vector<Vector<double>> kept_;
  std::vector<Matrix<double>> matrices_;
  std::vector<Gradients> given_;
};

RowDraw row_draw(const std::tuple<double, uint64_t, int64_t>& draw) {
  return {std::get<0>(draw), std::get<1>(draw), std::get<2>(draw)};
}

template <class Number>
void require_below(std::span<const Number> number, size_t end) {
  require(number.empty() || largest_of(number) < end, "a row is in a node that is not there");
}

template <class Number>
void add_block(LevelSums& sums, const BlockGradients& rows, const Codes* codes, FilledVector<Number> number,
               FilledVector<uint32_t> kept, int n_threads) {
  require(kept.size() == 0 || kept.size() == number.size(), "one kept value per row");
  static_assert(sizeof(NarrowRows::Value) == sizeof(uint32_t));
  if (codes != nullptr) require(static_cast<size_t>(codes->n_rows) == number.size(), "one node per row");
  const size_t n_numbers = sums.task().plan.split.size();
  require_below<Number>(view(number), n_numbers);
  const TrainingBlock block{codes,
                            rows.first_row(),
                            rows.given(),
                            rows.drawn(),
                            {reinterpret_cast<NarrowRows::Value*>(kept.data()), kept.size()}};
  call(n_threads, [&](Run& run) { sums.add(block, view(number), run); });
}

template <class Number>
void route_block(const LevelTask& task, const Codes& codes, FilledVector<Number> number, int n_threads) {
  require(static_cast<size_t>(codes.n_rows) == number.size(), "one node per row");
  for (const Number each : view(number)) require(each < task.plan.split.size(), "a row is in a node that is not there");
  const Gradients none{};
  const DrawnRows nobody{0, {}};
  call(n_threads, [&](Run& run) {
    LevelSums sums(codes, routes_only(task));
    sums.add(TrainingBlock{&codes, 0, {&none, 1}, nobody, {}}, view(number), run);
  });
}

template <class Number>
void add_numbered_values(const Vector<double>& values, const Vector<Number>& number, FilledVector<double> scores,
                         int n_threads) {
  require(number.size() == scores.size(), "one node per score");
  require_below<Number>(view(number), values.size());
  constexpr size_t together = 4096;
  const size_t n = scores.size();
  call(n_threads, [&](Run& run) {
    parallel_for(run, static_cast<int64_t>((n + together - 1) / together), [&](int64_t block, int) {
      const size_t first = static_cast<size_t>(block) * together;
      add_leaf_values(values.data(), number.data() + first, std::min(together, n - first), scores.data() + first);
    });
  });
}

void bind_block_gradients(nb::module_& m) {
  nb::class_<BlockGradients>(m, "BlockGradients")
      .def_static(
          "of_loss",
          [](const std::string& loss, const Vector<double>& parameters, int64_t output, const Vector<double>& scores,
             const Vector<double>& target, const Vector<double>& weight, bool whole, uint64_t first_row,
             const std::tuple<double, uint64_t, int64_t>& draw) {
            BlockGradients rows(first_row, row_draw(draw), weight, whole, scores.size());
            rows.take_loss(loss, parameters, output, scores, target);
            return rows;
          },
          nb::arg("loss"), nb::arg("parameters").noconvert(), nb::arg("output"), nb::arg("scores").noconvert(),
          nb::arg("target").noconvert(), nb::arg("weight").noconvert(), nb::arg("whole"), nb::arg("first_row"),
          nb::arg("draw"))
      .def_static(
          "of_arrays",
          [](const Matrix<double>& g, const Matrix<double>& h, const Vector<double>& weight, bool whole,
             uint64_t first_row, const std::tuple<double, uint64_t, int64_t>& draw) {
            BlockGradients rows(first_row, row_draw(draw), weight, whole, g.shape(1));
            rows.take_arrays(g, h);
            return rows;
          },
          nb::arg("g").noconvert(), nb::arg("h").noconvert(), nb::arg("weight").noconvert(), nb::arg("whole"),
          nb::arg("first_row"), nb::arg("draw"));
  m.def(
      "drawn_of_block",
      [](const Vector<double>& weight, size_t n_rows, uint64_t first_row,
         const std::tuple<double, uint64_t, int64_t>& draw) {
        const DrawnRows drawn = draw_block(row_draw(draw), view(weight), n_rows, first_row);
        std::vector<uint8_t> taken(n_rows, drawn.ids.empty() && drawn.size() == n_rows ? 1 : 0);
        for (const uint32_t row : drawn.ids) taken.at(row) = 1;
        return to_numpy(std::move(taken));
      },
      nb::arg("weight").noconvert(), nb::arg("n_rows"), nb::arg("first_row"), nb::arg("draw"));
  m.def(
      "nearest_of_block",
      [](const Vector<double>& weight, size_t n_rows, uint64_t first_row,
         const std::tuple<double, uint64_t, int64_t>& draw) {
        const NearestRow found = nearest_of_block(row_draw(draw), view(weight), n_rows, first_row);
        return std::make_tuple(found.word, found.row);
      },
      nb::arg("weight").noconvert(), nb::arg("n_rows"), nb::arg("first_row"), nb::arg("draw"));
}

// What processes that grow one tree together send each other.
void bind_shipping(nb::module_& m) {
  nb::class_<LevelTask>(m, "LevelTask")
      .def("to_bytes", [](const LevelTask& task) { return to_numpy(to_bytes(task)); })
      .def_static(
          "of_bytes", [](const Vector<uint8_t>& bytes) { return task_of_bytes(view(bytes)); },
          nb::arg("bytes").noconvert())
      .def_prop_ro("splits", [](const LevelTask& task) { return !task.plan.splits.empty(); })
      .def_prop_ro("reads_codes", &LevelTask::reads_codes)
      .def(
          "sums", [](const LevelTask& task, const Codes& codebook) { return LevelSums(codebook, task); },
          nb::arg("codebook"))
      .def("route", route_block<uint16_t>, nb::arg("codes"), nb::arg("number").noconvert(), nb::arg("n_threads"))
      .def("route", route_block<uint32_t>, nb::arg("codes"), nb::arg("number").noconvert(), nb::arg("n_threads"));
}

void bind_level_sums(nb::module_& m) {
  nb::class_<GradientCounts>(m, "GradientCounts")
      .def(nb::init<>())
      .def("to_bytes", [](const GradientCounts& counts) { return to_numpy(to_bytes(counts)); })
      .def_static(
          "of_bytes", [](const Vector<uint8_t>& bytes) { return counts_of_bytes(view(bytes)); },
          nb::arg("bytes").noconvert())
      .def_ro("n_drawn", &GradientCounts::n_drawn)
      .def("add", &GradientCounts::add, nb::arg("other"))
      .def(
          "add_block",
          [](GradientCounts& counts, const BlockGradients& rows, bool squared, int n_threads) {
            counts.add(
                call(n_threads, [&](Run& run) { return count_block(rows.given(), rows.drawn(), squared, run); }));
          },
          nb::arg("rows"), nb::arg("squared"), nb::arg("n_threads"));
  nb::class_<LevelSums>(m, "LevelSums")
      .def(
          "add",
          [](LevelSums& sums, LevelSums& other, int n_threads) {
            call(n_threads, [&](Run& run) { sums.add(other, run); });
          },
          nb::arg("other"), nb::arg("n_threads"))
      .def(
          "told",
          [](LevelSums& sums, int n_threads) {
            return to_numpy(call(n_threads, [&](Run& run) { return sums.told(run); }));
          },
          nb::arg("n_threads"))
      .def(
          "take", [](LevelSums& sums, const Vector<int64_t>& told) { sums.take(view(told)); },
          nb::arg("told").noconvert())
      .def("add_block", add_block<uint16_t>, nb::arg("rows"), nb::arg("codes").none(), nb::arg("number").noconvert(),
           nb::arg("kept").noconvert(), nb::arg("n_threads"))
      .def("add_block", add_block<uint32_t>, nb::arg("rows"), nb::arg("codes").none(), nb::arg("number").noconvert(),
           nb::arg("kept").noconvert(), nb::arg("n_threads"));
}

}  // namespace

void bind_paged(nb::module_& m) {
  bind_block_gradients(m);
  bind_shipping(m);
  bind_level_sums(m);
  nb::class_<PagedTree>(m, "PagedTree")
      .def(nb::init<const Codes&, const GradientCounts&, const NewtonOptions&, bool, bool>(), nb::arg("codebook"),
           nb::arg("counts"), nb::arg("options"), nb::arg("weighted"), nb::arg("whole"), nb::keep_alive<1, 2>())
      .def_static("squares", &PagedTree::squares, nb::arg("codebook"), nb::arg("options"), nb::arg("n_outputs"))
      .def("next", [](PagedTree& tree) { return call(1, [&](Run&) { return tree.next(); }); })
      .def_prop_ro("reads_codes", &PagedTree::reads_codes)
      .def("task", [](const PagedTree& tree) { return tree.task(); })
      .def(
          "sums", [](const PagedTree& tree, const Codes& codebook) { return LevelSums(codebook, tree.task()); },
          nb::arg("codebook"))
      .def(
          "take",
          [](PagedTree& tree, LevelSums& sums, int n_threads) {
            call(n_threads, [&](Run& run) { tree.take(sums, run); });
          },
          nb::arg("sums"), nb::arg("n_threads"))
      .def("finish", [](PagedTree& tree) { return call(1, [&](Run&) { return tree.finish(); }); })
      .def("leaf_of_numbers",
           [](const PagedTree& tree) { return to_numpy(std::vector<int32_t>(tree.leaf_of_numbers())); });
  m.def(
      "block_of",
      [](const Codes& table, int64_t first, int64_t n_rows) {
        return call(1, [&](Run&) { return block_of(table, first, n_rows); });
      },
      nb::arg("table"), nb::arg("first"), nb::arg("n_rows"), nb::keep_alive<0, 1>());
  m.def(
      "leaf_of_block",
      [](const NewtonTree& tree, const Codes& codes, int n_threads) {
        std::vector<int32_t> leaf(static_cast<size_t>(codes.n_rows));
        constexpr size_t together = 4096;
        call(n_threads, [&](Run& run) {
          parallel_for(run, static_cast<int64_t>((leaf.size() + together - 1) / together), [&](int64_t block, int) {
            const size_t first = static_cast<size_t>(block) * together;
            for (size_t row = first; row < std::min(leaf.size(), first + together); ++row) {
              leaf[row] = leaf_of_row(tree.arrays, codes, static_cast<uint32_t>(row));
            }
          });
        });
        return to_numpy(std::move(leaf));
      },
      nb::arg("tree"), nb::arg("codes"), nb::arg("n_threads"));
  m.def("add_numbered_values", add_numbered_values<uint16_t>, nb::arg("values").noconvert(),
        nb::arg("number").noconvert(), nb::arg("scores").noconvert(), nb::arg("n_threads"));
  m.def("add_numbered_values", add_numbered_values<uint32_t>, nb::arg("values").noconvert(),
        nb::arg("number").noconvert(), nb::arg("scores").noconvert(), nb::arg("n_threads"));
}

}  // namespace weald::bindings
