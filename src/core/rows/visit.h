// The visit: one pass over a block for each level of a tree. It applies the splits of the last level to the node
// numbers of the rows, and adds the rows to the histograms of the nodes that need one.
//
//   node    (n) of each row; −1: the row takes no part. In and out
//   pairs   (n, 2) g and h in units
//   cells   (histograms, cells each): per column (n_codes + 1) cells of Σ g, Σ h and how many rows. Added to, so that
//           the blocks of a table, in any order, give its histograms
//
// Of a sparse column only the listed entries are added; fill_defaults gives the default code the rest of the node once
// all blocks have been visited.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/data/codes.h"
#include "core/rows/route.h"

namespace weald {

inline constexpr size_t visit_lanes = 3;

// What happens to the nodes of a tree at one level.
struct Level {
  std::span<const int32_t> split;  // per node: its place in `splits`, −1: it is not split now
  std::vector<CodeSplit> splits;
  std::span<const int32_t> left, right;  // per split: the children's numbers
  std::span<const int32_t> histogram;    // per node, children too: which histogram its rows add to, −1: none
};

// Where the cells of each column begin, in int64 of one histogram; the last: how many there are in all.
std::vector<size_t> cell_starts(const Codes& codes);

void visit(const Codes& block, const Level& level, std::span<const int64_t> pairs, std::span<int32_t> node,
           std::span<int64_t> cells, Run& run);

// `totals` (histograms, visit_lanes): what all rows of each node add up to.
void fill_defaults(const Codes& codes, std::span<const int64_t> totals, std::span<int64_t> cells);

}  // namespace weald
