// What one pass over all rows does to a growing tree: which splits it applies, and which histograms it adds up. Nodes
// go by numbers in the order in which they came to be, so that a child's is larger than its parent's; the root is 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/tree/grow/node.h"
#include "core/tree/model/split_kind.h"

namespace weald {

struct PlannedSplit {
  int32_t column = -1;
  SplitKind kind = SplitKind::numeric;
  bool missing_left = false;
  uint32_t code = 0;          // numeric: the largest that goes left
  std::vector<uint32_t> set;  // categories listed, ascending
  bool set_left = false;      // whether these go left
  int32_t left = -1;          // the number of the left child; the right one's is the next
};

struct LevelPlan {
  std::vector<int32_t> split;  // per number: its place among the splits, −1: it is not split now
  std::vector<PlannedSplit> splits;
  std::vector<int32_t> histogram;  // per number: which histogram its rows add to, −1: none
  size_t n_histograms = 0;
};

// What is known of the rows of a node beside its lanes.
struct NodeTold {
  int64_t squares = 0;
  bool any = false, differ = false;  // some row; two of which are not alike
};

// What a pass has added up. Integers: parts of any rows in any order give the same.
struct LevelTotals {
  std::vector<int64_t> rows;       // per number: rows of the tree that are there now
  std::vector<int64_t> lanes;      // (histograms, lanes) of all rows of a histogram
  std::vector<RowSquare> squares;  // per histogram, where they are asked for
  std::vector<NodeTold> told;      // per number, in trees of classes and of means
  // Per column, in the first pass of trees that ask for it: rows of each category, up to 2.
  std::vector<std::vector<uint8_t>> seen;
};

}  // namespace weald
