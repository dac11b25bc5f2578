// What a forest predicts for each row while one column, or two, is set to one value after another: individual curves,
// and their weighted mean and spread (docs/methods/dependence.md, equations E1 to E4).
//
// A row's own path is walked once per tree. Wherever it meets a split on a free column, those points of the column that
// would go the other way are followed there, all other columns as the row has them: a step function for each row, tree
// and column, all columns in one pass. 64 rows go together, as bits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/explain/dependence/free_points.h"
#include "core/explain/dependence/row_tile.h"

namespace weald {

// What becomes of raw scores: f; 1 / (1 + exp(−m f)); exp(f); the softmax of m f over the outputs.
enum class CurveLink : uint8_t { identity = 0, logistic = 1, exponential = 2, softmax = 3 };

struct CurveOptions {
  CurveLink link = CurveLink::identity;
  double factor = 1.0;     // m
  bool centred = false;    // each curve less what it is at the first point of its column
  bool pair = false;       // two columns free together; else each by itself
  bool rows_apart = true;  // false: only the mean, of the identity: m2 stays 0
};

struct CurveRows {
  SlotColumns columns;
  std::span<const double> raw;     // (n_rows, n_outputs): the raw scores as the rows are
  std::span<const double> weight;  // (n_rows), or empty for 1
};

// The points of all columns one after another (of a pair: the first column's outside), n_outputs for each.
struct CurveMoments {
  std::vector<double> mean;  // Σ w f / Σ w
  std::vector<double> m2;    // Σ w (f − mean)²
};

// Weighted mean and spread over the rows. Blocks of rows are put together in their order, and what the blocks are does
// not depend on threads. `individual`, if not null: (outputs.size(), n_rows, points), the curves of these outputs.
CurveMoments dependence_curves(const LaidOutForest& forest, TreeRange trees, const FreePoints& points,
                               const CurveRows& rows, const CurveOptions& options, std::span<const int32_t> outputs,
                               double* individual, Run& run);

}  // namespace weald
