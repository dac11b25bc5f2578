// The search by categories whose means are believed as far as their spread allows (belief.h): boosting only.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/tree/split/belief.h"
#include "core/tree/split/categorical.h"

namespace weald {

// Candidates are the prefixes of the categories in order of what is believed of them, judged by that. Where their
// spread is no more than chance makes it, a few that stand out may still be split off, if they gain more than the best
// of so many would by chance.
template <class Criterion, int N>
void scan_believed(const PresentCategories& present, int32_t column, const CategoryRules& rules,
                   Scan<Criterion, N>& scan, Split& split) {
  const int64_t* missing = scan.n_missing > 0 ? scan.missing.data() : nullptr;
  const Believed believed = believe(present, missing, scan.total().data(), rules.spread);
  const size_t n = believed.order.size();
  if (n == 0) {
    constexpr double times_as_rare = 4;
    CategoryRules strict = rules;
    strict.rare_rows *= times_as_rare;
    strict.rare_weight *= times_as_rare;
    strict.chance = believed.noise;
    return scan_ends(present, column, strict, scan, split);
  }
  const Criterion judge = scan.criterion().for_categories();
  scan.judge_by(judge);
  scan.begin_belief(believed.excess);
  clear_lanes(scan.left);
  int64_t n_left = 0;
  for (size_t k = 0; k < n; ++k) {
    const size_t i = believed.order[k];
    scan.left.data()[0] += believed.g[k];
    scan.left.data()[1] += present.cell(i)[1];
    n_left += present.n_rows[i];
    scan.consider(static_cast<uint32_t>(k + 1), k + 1 < n ? 1 : 0, n_left);
  }
  scan.end_belief();
  if (!scan.gains() || !scan.offer(column, split)) return;
  list_prefix(present, believed.order, split);
  for (size_t k = 0; k < split.code; ++k) split.left[0] += present.cell(believed.order[k])[0] - believed.g[k];
}

}  // namespace weald
