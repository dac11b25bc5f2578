// Values by tables of patterns (pattern_tree.h): path-dependent ones of shallow trees, and interventional ones, whose
// cost grows with the rows and with the background, not with their product (docs/methods/explain.md, S7 to S10).
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/pool.h"
#include "core/explain/explained_forest.h"
#include "core/explain/explained_rows.h"
#include "core/explain/pattern_tree.h"
#include "core/predict/predict.h"

namespace weald {

// Adds to `out`. `done` counts rows · trees.
void explain_by_patterns(const ExplainedForest& forest, const PredictTable& table, const Background& background,
                         TreeRange trees, const PatternLimits& limits, const ExplainedRows& out,
                         std::atomic<int64_t>& done, Run& run);

}  // namespace weald
