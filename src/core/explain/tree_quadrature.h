// Path-dependent values by quadrature, tree after tree and sixteen rows at a time (equations S2 to S5 of
// docs/methods/explain.md). Exact for any depth: at every point all factors are between 0 and 1, and what a column adds
// follows from the product of all of them by one division, which no rounding error can grow by.
#pragma once

#include <cstdint>
#include <vector>

#include "core/explain/explained_forest.h"
#include "core/explain/quadrature.h"
#include "core/explain/row_values.h"
#include "core/explain/totals.h"

namespace weald {

// What one tree does with a bundle of rows: a walk through all of its nodes, there and back.
struct QuadratureStep {
  enum Kind : uint8_t { ask, enter, leave, leaf };
  Kind kind;
  bool left;      // the child is the left one
  bool repeated;  // the path has asked the column before
  bool first;     // the first child to come back
  int32_t level;  // of the parent
  int32_t node;   // of `ask` the parent, of `leaf` the child
  int32_t slot;
  int32_t before;       // level of the child that the path last asked the column at
  double share;         // of the parent's weight
  int64_t coefficient;  // where the edge's numbers begin
};

class QuadratureTree {
 public:
  explicit QuadratureTree(const ExplainedForest& forest) : forest_(forest) {}

  // Lays out one tree.
  void prepare(size_t tree);
  // Adds what its columns add to the scores of rows first … first + bundle_rows: totals[(output · n_targets + target) ·
  // bundle_rows + row].
  void add(const RowValues& rows, int64_t first, const Totals& targets, double* totals);

  // For the kernels.
  std::vector<QuadratureStep> steps;
  std::vector<double> coefficient;  // per edge and point: ratio and gain of rows that go there, then of all others
  Quadrature quadrature;
  std::vector<double> others_gain;  // per point: −1 / (1 − t)
  double weight = 0;
  int32_t output = 0;
  int64_t width = 0;
  std::vector<double> product, sum, gain;  // per level, point and row; sums per output besides
  std::vector<int64_t> goes_left, known;   // per level and row: masks
  std::vector<int32_t> slot_at;            // per level, while adding

  const ExplainedForest& forest() const { return forest_; }

 private:
  struct PathEntry;
  void lay_out(int32_t node, int32_t level);
  void add_edge(int32_t node, int32_t level, bool left, bool first);

  const ExplainedForest& forest_;
  std::vector<int32_t> last_level_;  // per slot: where the path last asked it; 0 if it has not
  std::vector<double> share_at_;     // per level: of the column asked there, merged over the path
};

}  // namespace weald
