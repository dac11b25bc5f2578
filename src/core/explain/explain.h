// What each column, or each pair of columns, adds to the raw scores of rows: SHAP values of forests, exact. Equations
// by number from docs/methods/explain.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/explain/explained_forest.h"
#include "core/explain/explained_rows.h"
#include "core/predict/predict.h"

namespace weald {

// One forest, for any number of tables; several threads may ask at once. Every result is the same for any number of
// threads: a row's numbers are added up by one of them, tree after tree.
class Explainer {
 public:
  Explainer(const ForestView& forest, std::span<const double> cover)
      : forest_(std::make_unique<const ExplainedForest>(forest, cover)) {}

  int64_t n_outputs() const { return forest_->laid.n_outputs(); }
  int64_t n_columns() const { return forest_->laid.n_columns; }
  int64_t n_trees() const { return static_cast<int64_t>(forest_->laid.n_trees()); }

  // What the trees predict in the mean of their training rows, by their covers: (n_outputs).
  std::vector<double> expected(TreeRange trees) const;

  // Adds values or interactions (S2, S5; with a background S8, S9). `done` counts rows · trees.
  void explain(const PredictTable& table, const Background& background, TreeRange trees, const ExplainedRows& out,
               std::atomic<int64_t>& done, Run& run) const;
  // Adds what the means change by along the rows' paths (S11).
  void approximate(const PredictTable& table, TreeRange trees, const ExplainedRows& out, std::atomic<int64_t>& done,
                   Run& run) const;

 private:
  bool by_tables(int64_t n_rows, TreeRange trees, bool pairs) const;
  void by_quadrature(const PredictTable& table, TreeRange trees, const ExplainedRows& out, std::atomic<int64_t>& done,
                     Run& run) const;

  std::unique_ptr<const ExplainedForest> forest_;
};

}  // namespace weald
