// The candidates of tree_method="approx": fine codes (ranks, or quantile codes) become at most max_bins codes per
// column, chosen anew from the weights of the rows at hand, their hessians. For each column the weights are added up
// over its fine codes, bins of about equal weight are closed by the rule of cuts.h, and a table from fine code to bin
// gives every row its new code. All of it is integer arithmetic: neither threads nor the order of rows show.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/pool.h"
#include "core/data/codes.h"

namespace weald {

// `weights`: whole units per row, at least 0, a total below 2^62. A numeric column becomes binned: its marks are
// halfway between two of its values (exact) or cuts it had (binned). What no weight lies on shapes no bin, but has one:
// it goes where its value belongs. Columns of levels stay as they are. Missing stays 0, sparse columns stay sparse.
Codes coarsen(const Codes& fine, std::span<const int64_t> weights, uint32_t max_bins, Run& run);

}  // namespace weald
