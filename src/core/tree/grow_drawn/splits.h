// Splits of trees grown by DrawnGrower: written to the arrays of the tree, and the rows of a node parted by them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/tree/grow_drawn/scopes.h"
#include "core/tree/model/forest.h"
#include "core/tree/split/split.h"

namespace weald {

class DrawnSplits {
 public:
  explicit DrawnSplits(size_t n_rows) : scratch_(n_rows) {}

  // Writes a split of some rows (`ids`) and parts them by it, left first, both sides in their old order. `gain` is in
  // real units; `together`: values of the split's column one after another, as many apart as ColumnsTogether has, or
  // nullptr. Returns how many go left.
  size_t write(const DrawnColumn& column, const DrawnView& view, Split& split, bool heavier_left, double gain,
               const float* together, std::span<uint32_t> ids, TreeArrays& out);

 private:
  template <class Left>
  size_t part(std::span<uint32_t> ids, Left left);
  size_t part_by_set(const DrawnView& view, Split& split, bool heavier_left, std::span<uint32_t> ids, TreeArrays& out);

  std::vector<uint32_t> scratch_;
  std::vector<uint64_t> listed_;
};

}  // namespace weald
