// A node of a growing tree, and where a subtree hangs in its tree.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/tree/rows/sparse_entries.h"
#include "core/tree/split/categorical.h"
#include "core/tree/split/split.h"
#include "core/tree/statistics/ranks.h"

namespace weald {

// Histograms go back to where a fit of many trees keeps them, which has room for all (Histograms::make): this runs
// while exceptions are on their way, std::bad_alloc too.
struct ReturnCells {
  std::vector<std::unique_ptr<int64_t[]>>* spare = nullptr;
  void operator()(int64_t* cells) const noexcept {
    std::unique_ptr<int64_t[]> owned(cells);
    if (spare != nullptr && spare->size() < spare->capacity()) spare->push_back(std::move(owned));
  }
};
using Cells = std::unique_ptr<int64_t[], ReturnCells>;

// How far a row, or several, lies from what is predicted: w g² in units, and how many rows it stands for.
struct RowSquare {
  int64_t square = 0, times = 0;
  void add(const RowSquare& other) { square += other.square, times += other.times; }
  void subtract(const RowSquare& other) { square -= other.square, times -= other.times; }
};

inline int64_t square_of_lane(int64_t g) {
  return g * g;
}

// Those of all rows of the table, where categories are judged by them.
struct RowSquares {
  std::span<const RowSquare> of_row = {};
  double unit = 0;        // in units of the first lane, squared
  bool of_lanes = false;  // the squares of what items carry, in place of `of_row`: a row stands for one
  bool known() const { return of_lanes || !of_row.empty(); }
  NodeSpread spread(const RowSquare& sum) const {
    return {unit * static_cast<double>(sum.square), static_cast<double>(sum.times)};
  }
};

struct GrowNode {
  int32_t record = 0;
  size_t begin = 0, end = 0;  // its range in the rows of the tree
  size_t place = 0;           // among those that are searched together
  int64_t depth = 0;
  uint64_t path = 0;
  double worth = 0;  // gain in units of the score: never overflows
  // What the node may predict under monotone constraints, in units of Criterion::value.
  double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
  RowSquare squares = {};  // of its rows
  Split split;
  std::vector<SparseRange> sparse;  // sparse columns that are not constant here (carried mode), ascending
  std::vector<int32_t> active;      // columns that are not constant here (carried mode)
  Cells cells;                      // histograms of the columns in that state; may be absent
  bool in_second = false;           // items only: which buffer has its rows
  bool inherits = false;            // `cells` holds the parent's sums until the sibling's are subtracted
  std::vector<uint8_t> allowed;     // per column, if the rules differ from node to node
  std::vector<int32_t> used;        // columns split on above, where interactions are limited
  std::string turns;                // best-first only: the way from the root, 0 = left

  bool may_use(int32_t j) const { return allowed.empty() || allowed[static_cast<size_t>(j)] != 0; }
  size_t size() const { return end - begin; }
  bool preorder_before(const GrowNode& other) const { return turns < other.turns; }
};

// Where a subtree hangs in its tree.
struct Place {
  uint64_t path = 0;
  int64_t depth = 0;
  int64_t tree_weight = 0;  // units, of the whole tree; 0: this is the whole tree
  double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
  std::vector<int32_t> used = {};          // columns split on above it, where interactions are limited
  RankedWhole whole = {};                  // what its rows were taken from, if that has ranks
  std::span<const TreeOrder> orders = {};  // of the whole tree, per column; empty: not asked for
  std::vector<int32_t> lanes = {};         // compact lanes: which of the tree's each of its own is; empty: the same
};

}  // namespace weald
