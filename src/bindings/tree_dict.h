// The arrays of one tree as a dict of NumPy arrays, by the names of weald.model.forest.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "bindings/arrays.h"
#include "core/tree/forest.h"

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

}  // namespace weald::bindings
