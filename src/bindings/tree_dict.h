// The arrays of one tree as a dict of NumPy arrays, by the names of weald.model.forest.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "bindings/arrays.h"
#include "core/tree/model/forest.h"

namespace weald::bindings {

// What every tree has, copied: nodes, splits, category sets.
inline nb::dict forest_arrays(TreeArrays tree) {
  nb::dict out;
  out["slot"] = to_numpy(std::move(tree.slot));
  out["count"] = to_numpy(std::move(tree.count));
  out["column"] = to_numpy(std::move(tree.column));
  out["threshold"] = to_numpy(std::move(tree.threshold));
  out["kind"] = to_numpy(std::move(tree.kind));
  out["missing_left"] = to_numpy(std::move(tree.missing_left));
  out["right"] = to_numpy(std::move(tree.right));
  out["gain"] = to_numpy(std::move(tree.gain));
  out["side"] = to_numpy(std::move(tree.side));
  out["set_start"] = to_numpy(std::move(tree.set_start));
  out["set_codes"] = to_numpy(std::move(tree.set_codes));
  out["set_left"] = to_numpy(std::move(tree.set_left));
  return out;
}

// All that growing leaves: the sums and means of nodes as well.
inline nb::dict grown_arrays(TreeArrays tree, size_t n_lanes) {
  const size_t n_nodes = tree.slot.size(), n_means = tree.means.size() / n_nodes;
  const size_t n_given = tree.lanes.size() / n_lanes, n_shares = tree.shares.size() / n_lanes;
  nb::dict out;
  out["weight"] = to_numpy(std::move(tree.weight));
  out["impurity"] = to_numpy(std::move(tree.impurity));
  out["lanes"] = to_numpy(std::move(tree.lanes), {n_given, n_lanes});
  out["shares"] = to_numpy(std::move(tree.shares), {n_shares, n_lanes});
  out["some_start"] = to_numpy(std::move(tree.some_start));
  out["some_lane"] = to_numpy(std::move(tree.some_lane));
  out["some_sum"] = to_numpy(std::move(tree.some_sum));
  out["means"] = to_numpy(std::move(tree.means), {n_nodes, n_means});
  out["lower"] = to_numpy(std::move(tree.lower));
  out["upper"] = to_numpy(std::move(tree.upper));
  out["n_nodes"] = to_numpy(std::move(tree.n_nodes));
  out["shift"] = to_numpy(std::move(tree.shift));
  out["combination_start"] = to_numpy(std::move(tree.combination_start));
  out["combination_column"] = to_numpy(std::move(tree.combination_column));
  out["combination_coefficient"] = to_numpy(std::move(tree.combination_coefficient));
  out.update(forest_arrays(std::move(tree)));
  return out;
}

}  // namespace weald::bindings
