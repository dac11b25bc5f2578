// Options of boosting in the units of a tree, and what its nodes predict: of trees in memory and from pages alike.
#pragma once

#include <cstdint>
#include <span>

#include "core/tree/newton/rows.h"
#include "core/tree/options.h"
#include "core/tree/split/newton_gain.h"

namespace weald {

Newton criterion_in(const NewtonOptions& options, Powers powers);
GrowOptions grow_options_in(const NewtonOptions& options, Powers powers);
// One tree for several outputs; `powers` leave room for the mean of hessians over these.
NewtonMany many_in(const NewtonOptions& options, Powers powers, size_t n_outputs);

// Σ h of every leaf where each h is 1: how many rows it has.
void fill_counts(const TreeArrays& tree, double h_scale, std::span<int64_t> sums);
// Values and covers of all nodes, from their lanes. A leaf of less than min_weight, which only a tree without splits
// can have, adds nothing.
void fill_values(NewtonTree& tree, const Newton& criterion, Powers powers, std::span<const int64_t> lanes,
                 double bound_scale, double min_weight);
// The same from what the rows of each leaf add up to, (leaves, 2).
void fill_values_of_sums(NewtonTree& tree, const Newton& criterion, Powers powers, std::span<const int64_t> leaf_sums,
                         double bound_scale, double min_weight);
// Of several outputs, from tree.arrays.lanes.
void fill_many_values(NewtonTree& tree, const NewtonMany& criterion, Powers powers);

}  // namespace weald
