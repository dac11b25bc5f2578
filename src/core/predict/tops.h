// Prediction without walking. Only the number of thresholds below it matters of a value, so a block of rows is first
// turned into such small codes, column after column. A split then compares one column of codes with one number, for
// some dozens of rows in one instruction; where a row leaves the tree follows from the answers of all splits, without a
// branch and without an address that depends on the row.
//
// Every split is asked of every row, so this pays for the top of a tree only: `most_exits` ways out at most. A way out
// is a leaf, or an inner node to walk on from (walk.h). Boosted trees as a rule are top altogether: "whole".
#pragma once

#include <cstdint>
#include <vector>

#include "core/predict/laid_out_forest.h"

namespace weald {

// A split of a top. Its ways out are numbered from the left, so a row that comes to this split can still leave by
// `first` and whatever lies right of it; one that goes right here can still leave by `right`.
struct TopSplit {
  uint32_t slot;  // which codes of the block
  uint16_t code;  // the largest that goes left
  uint16_t first, right;
};

struct TopTree {
  size_t first_split = 0, n_splits = 0;  // preorder
  size_t first_exit = 0, n_exits = 0;
  size_t first_set = 0, n_sets = 0;
  bool whole = true;  // every way out is a leaf
};

// Intervals of equal width. The bucket rises with the value, in floating point too: a cut in a lower bucket than the
// value's is below the value, and one in a higher bucket is not.
struct CutBuckets {
  double low = 0, scale = 0, last = 0;

  int32_t of(double value) const {
    double place = (value - low) * scale;
    place = place > 0 ? place : 0;  // also where it is NaN
    return static_cast<int32_t>(place < last ? place : last);
  }
};

// A column's thresholds. A value is looked for from its bucket's first cut on, for as many steps as the fullest bucket
// needs. What is missing goes where the split says: it has the lowest code in one slot, the highest in the other.
struct CutColumn {
  int32_t used = 0;          // slot of UsedColumns
  std::vector<double> cuts;  // ascending, then +inf, at least 2^n_steps of them
  int n_steps = 0;
  CutBuckets buckets;
  std::vector<uint16_t> bucket_start;                       // the cuts in lower buckets; empty: there is one bucket
  int32_t slot_missing_left = -1, slot_missing_right = -1;  // −1: no split asks

  // Makes the buckets and pads the cuts.
  void prepare();
};

// A column that splits on categories read. The rows' codes there are 0 for missing and `others` for any code that no
// split lists.
struct LevelColumn {
  int32_t used = 0;
  uint32_t others = 1;
};

// A split on categories: when its tree's turn comes, its answers fill a slot of their own.
struct SetSplit {
  uint32_t slot;
  uint32_t level_column;
  size_t first_answer;  // for codes 0 … others, 1 where they go right
};

struct Tops {
  static constexpr size_t most_exits = 256, most_cuts = 65535, most_answers = size_t{1} << 25;

  explicit Tops(const LaidOutForest& forest);

  size_t n_slots() const { return n_cut_slots + n_set_slots; }
  // The weighted values of a tree's exits, those of each output of a leaf together; 0 where an exit is not a leaf.
  const double* values(const TopTree& tree, int64_t width) const {
    return exit_value.data() + tree.first_exit * static_cast<size_t>(width);
  }

  std::vector<TopTree> trees;
  std::vector<TopSplit> splits;
  std::vector<SetSplit> sets;
  std::vector<int32_t> exit_node;
  std::vector<double> exit_value;
  std::vector<CutColumn> columns;
  std::vector<LevelColumn> level_columns;
  std::vector<uint8_t> answers;
  size_t n_cut_slots = 0, n_set_slots = 0;
  int code_bytes = 0;        // 1 or 2; 0: too many thresholds or categories for this to pay
  int64_t coding_steps = 0;  // what it takes to code a row

 private:
  void choose(const LaidOutForest& forest, size_t tree, std::vector<int32_t>& split_node);
  size_t lay_out_cuts(const LaidOutForest& forest, const std::vector<int32_t>& split_node);
  void lay_out_sets(const LaidOutForest& forest, const std::vector<int32_t>& split_node);
  bool lay_out_answers(const LaidOutForest& forest, const std::vector<int32_t>& split_node);
};

}  // namespace weald
