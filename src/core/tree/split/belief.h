// How far the means of a node's categories are to be believed (docs/methods/boosting.md, 11).
//
// Of many categories some stand out by chance. How many do is told by the node itself: its rows differ by so much
// within categories, so the means of categories would differ by so much if they meant nothing. What they differ by
// beyond that is what they mean, and each mean is drawn to that of all by the ratio of the two, the more the fewer rows
// it has.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tree/split/present.h"

namespace weald {

// Columns of more categories are judged so: the spread of a few says too little of itself.
inline constexpr uint32_t few_categories = 64;

struct NodeSpread {
  double squares = 0;  // Σ w g², in units of Σ g squared
  double n_rows = 0;   // how many rows that is; whole weights count
};

struct Believed {
  std::vector<size_t> order;  // the categories by their believed means; empty: these differ as chance would have it
  std::vector<int64_t> g;     // in that order, Σ g as it is believed
  int64_t excess = 0;         // what Σ g of all of them is beyond that
  double noise = 0;           // what a category gains by chance
};

// Lanes are Σ g, Σ h. `missing`: those of missing rows, a category like any other to the spread, or nullptr.
Believed believe(const PresentCategories& present, const int64_t* missing, const int64_t* total,
                 const NodeSpread& node);

}  // namespace weald
