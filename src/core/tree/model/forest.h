// A grown tree, first as records linked by index (in the order they were made), then as the flat arrays of
// weald.model.forest in preorder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "core/tree/model/split_kind.h"
#include "core/tree/split/combinations.h"

namespace weald {

// A lane of a node that is not 0.
struct LaneSum {
  int32_t lane;
  int64_t sum;
};

struct NodeRecord {
  int32_t left = -1, right = -1;  // records of the children; −1: a leaf
  int32_t column = -1;
  SplitKind kind = SplitKind::numeric;
  bool missing_left = false;
  uint32_t code = 0;  // numeric: the largest code that goes left, also among codes the node has no row of
  double threshold = 0;
  double gain = 0;
  bool set_left = false;      // whether the listed categories go left, or right; all others go the other way
  std::vector<uint32_t> set;  // categories listed, ascending
  std::vector<Term> terms;    // of a combination
  std::vector<LaneSum> some;  // of compact lanes, which GrownTree::lanes does not have
  int64_t n_rows = 0;
  std::size_t begin = 0;   // its rows are ids[begin, begin + n_rows) of the tree
  bool in_second = false;  // of rows that are items (tiles.h): which buffer has them
  int64_t weight = 0;      // units
  double impurity = 0;
  double score = 0;  // in units of the criterion
  double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
};

struct GrownTree {
  int n_lanes = 0;
  std::vector<NodeRecord> nodes;  // the root first
  std::vector<int64_t> lanes;     // (nodes, n_lanes); empty if nodes have `some` of many lanes
  std::vector<double> means;      // (nodes, outputs) for targets; empty for classes

  // The rows, those of a leaf together, leaves from left to right; empty where they can be read from items.
  std::vector<uint32_t> ids;

  // Puts `part` in the place of the leaf record `at`, whose rows it has numbered from 0.
  void graft(int32_t at, GrownTree&& part);
  // Lanes as they are kept of trees of many classes: of each node those that are not 0, numbered by `of_lane`; empty:
  // as they are.
  void keep_some_lanes(std::span<const int32_t> of_lane = {});
  // Takes away branches whose gain is below `least`, from the bottom: a split goes only when both children are leaves.
  void prune(double least);
};

// The arrays of one tree: see weald/model/forest.py for what each means.
struct TreeArrays {
  std::vector<int32_t> slot;
  std::vector<double> weight;  // units
  std::vector<int64_t> count;
  std::vector<double> impurity;
  std::vector<int32_t> column;
  std::vector<uint32_t> code;
  std::vector<double> threshold;
  std::vector<uint8_t> kind, missing_left;
  std::vector<int32_t> right;
  std::vector<double> gain;
  std::vector<int32_t> side;
  std::vector<int64_t> lanes;  // (nodes, n_lanes)
  std::vector<double> means;   // (nodes, outputs), or empty
  std::vector<double> shares;  // (leaves, n_lanes) of the leaf's weight, or empty: then lanes may be
  // Of many classes, instead of lanes: those that are not 0, node after node; of leaves alone if only these are asked
  // for.
  std::vector<int64_t> some_start;  // (nodes + 1), or empty
  std::vector<int32_t> some_lane;
  std::vector<int64_t> some_sum;
  std::vector<double> lower, upper;  // (nodes,) what a monotone constraint lets the node predict
  std::vector<int64_t> set_start;
  std::vector<uint32_t> set_codes;
  std::vector<uint8_t> set_left;
  std::vector<int64_t> combination_start;
  std::vector<int32_t> combination_column;
  std::vector<double> combination_coefficient;
  std::vector<std::size_t> leaf_start;  // (leaves + 1) of `rows`
  std::vector<uint8_t> leaf_in_second;  // see NodeRecord
  std::vector<uint32_t> rows;           // leaf after leaf
  std::vector<int64_t> n_nodes;         // of each tree, where there are several
  std::vector<int32_t> shift;           // of each tree: `weight` is in units of 2^-shift of the caller's; empty: 0

  // Calls with(array) for every array that a forest simply strings together.
  template <class With>
  static void for_plain(With with) {
    with(&TreeArrays::weight), with(&TreeArrays::count), with(&TreeArrays::impurity), with(&TreeArrays::lanes);
    with(&TreeArrays::shares), with(&TreeArrays::some_lane), with(&TreeArrays::some_sum);
    with(&TreeArrays::means), with(&TreeArrays::lower), with(&TreeArrays::upper);
    with(&TreeArrays::column), with(&TreeArrays::threshold), with(&TreeArrays::kind), with(&TreeArrays::missing_left);
    with(&TreeArrays::right), with(&TreeArrays::gain), with(&TreeArrays::set_codes), with(&TreeArrays::set_left);
    with(&TreeArrays::combination_column), with(&TreeArrays::combination_coefficient);
  }
  // Calls it for those whose numbers count from the beginning of their tree.
  template <class With>
  static void for_counted(With with) {
    with(&TreeArrays::slot), with(&TreeArrays::side), with(&TreeArrays::set_start);
    with(&TreeArrays::combination_start), with(&TreeArrays::some_start);
  }
};

// `leaves_only`: of inner nodes, `some` lanes are not asked for.
TreeArrays flatten(GrownTree&& tree, bool leaves_only = false);
// Puts trees one after another, as a Forest has them, while others are still growing; `n_nodes` tells them apart. Rows,
// leaf_start and codes are left out.
class TreeJoiner {
 public:
  explicit TreeJoiner(int64_t n_trees) : n_trees_(n_trees) {}
  // Memory for a tree: empty arrays that may have held another before.
  TreeArrays spare();
  // Tree number t; any thread, any order, each once.
  void add(int64_t t, TreeArrays&& tree);
  TreeArrays finish() { return std::move(all_); }

 private:
  void append(const TreeArrays& tree);
  void make_room(const TreeArrays& first);

  std::mutex mutex_;
  int64_t n_trees_, next_ = 0;
  std::map<int64_t, TreeArrays> waiting_;  // for those before them
  bool reused_ = false;                    // somebody asks for spare memory
  std::vector<TreeArrays> spare_;
  TreeArrays all_;
};

}  // namespace weald
