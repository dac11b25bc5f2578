// Which rows a bootstrap resample takes: equation R1 of docs/methods/uncertainty.md.
//
// A draw is a hash of (seed, resample, position), so resamples are the same whoever draws them, in any order, and none
// has to be stored: n_resamples × n numbers are never in memory.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

namespace weald {

// What a statistic has no value for: no pairs, no spread.
inline constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

struct ResamplePlan {
  int64_t n = 0;                     // rows, at least 1 and below 2^31
  std::span<const int32_t> members;  // (n) rows by stratum; empty: one stratum
  std::span<const int64_t> strata;   // (n_strata + 1) where each stratum starts in `members`
  int64_t block_length = 0;          // neighbours that are drawn together, at most n; 0: single rows
  bool circular = false;             // whether blocks may run over the end to the first row
};

// Fills out (n) with the row at each position. Position i takes a row of the stratum of row i.
void draw_rows(const ResamplePlan& plan, uint64_t seed, uint64_t resample, std::span<int32_t> out);

// The seed of the resamples that are drawn from resample `resample`.
uint64_t inner_seed(uint64_t seed, uint64_t resample);

}  // namespace weald
