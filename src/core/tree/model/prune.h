// Cost-complexity pruning of one grown tree; equations by number from docs/methods/pruning.md.
//
// A tree comes as the arrays of weald.model.forest: nodes in preorder, `slot` an inner number or ~leaf number, and per
// inner node `right`, the node number of its right child, and `gain` ≥ 0. Nothing recurses: a tree may be a chain.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/pool.h"

namespace weald {

struct TreeShape {
  std::span<const int32_t> slot;   // (nodes)
  std::span<const int32_t> right;  // (inner)
};

// The weakest-link sequence (equation 3): one entry per cut, in the order they are made.
struct PruneSequence {
  std::vector<int32_t> node;     // what becomes a leaf
  std::vector<double> alpha;     // when, never falling; in the unit of `gain`
  std::vector<double> gain;      // what the cut gives up: the gains of the inner nodes it removes
  std::vector<int32_t> splits;   // how many inner nodes it removes
  std::vector<double> collapse;  // (nodes) equation 4: from which alpha on the node splits no more; 0 for leaves
};

// O(n log n). Of cuts that fall due at one alpha the lower node number comes first, and takes its subtree along.
PruneSequence prune_sequence(const TreeShape& tree, std::span<const double> gain, Run& run);

// What a tree loses on rows it did not see, for each of several alphas.
struct HeldOut {
  std::span<const double> collapse;  // (nodes)
  std::span<const double> alphas;    // (candidates) ascending, ≥ 0
  std::span<const int32_t> leaf;     // (rows) the leaf of the whole tree that each row comes to
  std::span<const double> weight;    // (rows)
  int64_t n_outputs;
};

// Equation 7: Σ weight · loss of the rows at each candidate, for classes: `lane` (rows, outputs) names the column of
// `table` (nodes, lanes) that holds the loss of a row at a node.
std::vector<double> held_out_class_losses(const TreeShape& tree, const HeldOut& rows, std::span<const int32_t> lane,
                                          std::span<const double> table, Run& run);

enum class NumberLoss : uint8_t { squared = 0, absolute = 1, poisson = 2 };

// The same for numbers: `target` (rows, outputs), `value` (nodes, outputs) what each node predicts. Poisson: half the
// deviance, with predictions of at least `floor` > 0.
std::vector<double> held_out_number_losses(const TreeShape& tree, const HeldOut& rows, std::span<const double> target,
                                           std::span<const double> value, NumberLoss loss, double floor, Run& run);

}  // namespace weald
