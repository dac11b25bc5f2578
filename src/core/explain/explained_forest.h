// A forest laid out for prediction, with what explanations ask besides: which share of a node's weight comes to each
// child, what a node predicts in the mean, and how many distinct columns the paths of a tree ask.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/predict/laid_out_forest.h"

namespace weald {

struct ExplainedForest {
  // `cover`: the weight of each node; no split may be on a combination of columns.
  ExplainedForest(const ForestView& forest, std::span<const double> cover);
  ExplainedForest(const ExplainedForest&) = delete;  // it points into itself
  ExplainedForest& operator=(const ExplainedForest&) = delete;

  const LaidOutForest::Node& node(int32_t id) const { return by_slot->nodes[static_cast<size_t>(id)]; }
  int32_t slot(int32_t id) const { return static_cast<int32_t>(node(id).column); }
  int32_t child(int32_t id, bool left) const { return left ? id + 1 : node(id).right; }
  double share_of(int32_t id) const { return share[static_cast<size_t>(id)]; }

  LaidOutForest laid;
  const LaidOutForest::Layout* by_slot;  // nodes that name columns by slot
  std::vector<double> share;             // per node: of its parent's weight, from 0 to 1; of a root 1
  std::vector<double> mean;              // (nodes, width) mean of the leaves below, by share
  std::vector<int32_t> most_columns;     // per tree: distinct columns of the path that has most
  std::vector<int32_t> depth;            // per tree: splits of the longest path
};

}  // namespace weald
