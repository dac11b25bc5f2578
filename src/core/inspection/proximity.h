// Proximity: in how many trees two rows share a leaf. Equations by number from docs/methods/forests.md.
//
// All of it rests on the rows of every leaf, so no pair of rows that never meet is looked at: the work for one row is
// the number of rows in its leaves, over all trees. That is little for deep trees and a good part of all pairs for
// shallow ones. Counts are integers, so the results are exact and the same for any number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/pool.h"

namespace weald {

// Where rows come to rest: (n_rows, n_trees), node ids counted from the first node of the tree; −1: the row does not
// count in that tree.
struct LeafTable {
  std::span<const int32_t> nodes;
  int64_t n_rows = 0;
  int64_t n_trees = 0;

  const int32_t* row(int64_t i) const { return nodes.data() + i * n_trees; }
};

// The rows that count in each leaf, ascending. Node `v` of tree `t` has rows[t · n_rows + i], i from start[s] to
// start[s + 1], where s = node_start[t] + t + v: every tree has one entry more than nodes.
struct LeafRows {
  std::vector<int32_t> start;
  std::vector<int32_t> rows;
};
struct LeafRowsView {
  std::span<const int64_t> node_start;  // (n_trees + 1) nodes of the trees before
  std::span<const int32_t> start;
  std::span<const int32_t> rows;
  int64_t n_rows = 0;
};

// The trees in which each row counts, a bit per tree: (n_rows, ⌈n_trees / 64⌉); empty: every row in every tree.
using TreeSets = std::span<const uint64_t>;

struct Neighbours {
  std::vector<int32_t> row;    // (n_rows, k) by falling proximity, then ascending; −1 where there are no more
  std::vector<double> share;   // (n_rows, k)
  std::vector<int32_t> found;  // (n_rows)
};

LeafRows leaf_rows(const LeafTable& leaves, std::span<const int64_t> node_start, Run& run);

// The k nearest other rows of each row, of those whose proximity is above 0: P1, or P2 with sets.
Neighbours nearest_rows(const LeafTable& leaves, const LeafRowsView& groups, TreeSets sets, int64_t k, Run& run);

// P1, or P2 with sets: (rows of `leaves`, rows of `groups`). With sets the two are the same rows; a pair that never
// counts in the same tree has NaN.
std::vector<double> proximity_matrix(const LeafTable& leaves, const LeafRowsView& groups, TreeSets sets, Run& run);

// The sum of squared proximities (P1) of each row to the rows of its own group, itself included.
std::vector<double> squared_proximities(const LeafTable& leaves, const LeafRowsView& groups,
                                        std::span<const int32_t> group, Run& run);

}  // namespace weald
