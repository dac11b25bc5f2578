// The one options record of the grower.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace weald {

enum class Search : int { automatic = 0, histogram = 1, order = 2 };

struct GrowOptions {
  int64_t max_depth = std::numeric_limits<int64_t>::max();
  int64_t min_rows_split = 2;
  int64_t min_rows_leaf = 1;
  int64_t min_weight_leaf = 0;  // in units of the weight lane
  int64_t max_leaves = 0;       // 0 = no limit, depth-first; else best-first
  double min_decrease = 0;      // a split whose gain / total weight is below it is not made
  bool must_gain = false;       // a split of gain ≤ 0 is never made (Newton); else it is (XOR needs it)
  int gain_power = 0;           // a difference of scores · 2^gain_power is in real units
  int64_t max_columns = 0;      // columns drawn a node; 0 = all
  uint64_t seed = 0;
  bool random = false;               // one candidate a column, drawn (split_random.h)
  std::vector<int8_t> monotone;      // per column: predictions rise (1), fall (−1) along it; empty: no constraint
  Search search = Search::automatic;
  int64_t histogram_bytes = int64_t{1} << 30;  // above it, histograms are rebuilt instead of kept: same integers
};

}  // namespace weald
