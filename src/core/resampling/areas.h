// Areas under curves of resampled rows: equation S3 of docs/methods/uncertainty.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/resampling/plan.h"

namespace weald {

// Rows of two classes by descending score.
struct RankedRows {
  std::span<const int32_t> order;     // (n) the row at each place
  std::span<const uint8_t> positive;  // (n) by place
  std::span<const uint8_t> last;      // (n) by place: whether the next place has a lower score; 1 at the end
  std::span<const double> weight;     // (n) by place
};

enum class Area : int { roc = 0, precision = 1 };

// The area under the ROC curve, ties half, or the average precision, of each resample from `first` to `last`. NaN where
// there is none, as a class is absent.
std::vector<double> resample_areas(const ResamplePlan& plan, const RankedRows& rows, Area area, uint64_t seed,
                                   int64_t first, int64_t last, Run& run);

// The same without the rows of each group: group (n) by row, from 0 to n_groups.
std::vector<double> areas_without(const RankedRows& rows, Area area, std::span<const int32_t> group, int64_t n_groups,
                                  Run& run);

}  // namespace weald
