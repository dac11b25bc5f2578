// The histograms of nodes: where each column's cells lie in them, and who has memory for them.
//
// The larger child takes over its parent's histogram and subtracts its sibling's; the smaller one gets its own while
// the budget lasts. A child without memory is built into scratch and forgotten: the same integers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "core/tree/grow/histogram.h"
#include "core/tree/grow/node.h"
#include "core/tree/grow/workers.h"

namespace weald {

class Histograms {
 public:
  Histograms(size_t n_columns, int64_t budget) : start_(n_columns), budget_(budget) {}

  // The next column in the layout: so many cells, worth building for nodes of at least `least_rows`.
  void add_column(size_t j, size_t n_cells, size_t least_rows) { start_[j] = add_block(n_cells, least_rows); }
  // Cells of many columns together. Returns where they start.
  size_t add_block(size_t n_cells, size_t least_rows) {
    const size_t start = total_;
    total_ += n_cells;
    smallest_rows_ = std::min(smallest_rows_, least_rows);
    return start;
  }
  size_t start(int32_t j) const { return start_[static_cast<size_t>(j)]; }
  size_t total() const { return total_; }
  // Where a fit of many trees keeps the memory of nodes that are done, and how many cells each has there.
  void keep_in(std::vector<std::unique_ptr<int64_t[]>>& spare, size_t& cells_each);

  // Memory for the children of a node that is done.
  void take_memory(std::span<GrowNode*> children, GrowNode* parent);
  // A node that had memory needs it no longer.
  void release(const GrowNode& node) {
    if (node.cells != nullptr) in_use_ -= bytes();
  }

  // Cells [start, start + n) of `child`: built from its rows, or its parent's less its sibling's.
  // build(begin, end, lanes, cells): from a range of rows, whose lanes add up to these.
  template <class LanesOf, class Build>
  int64_t* of_child(size_t start, size_t n, GrowNode& child, const GrowNode* parent, const int64_t* sibling,
                    Worker& worker, size_t n_lanes, LanesOf lanes_of, Build build) const {
    const auto scratch = [&](std::vector<int64_t>& cells) {
      cells.resize(std::max(cells.size(), n));
      return cells.data();
    };
    if (!child.inherits) {
      int64_t* cells = child.cells ? child.cells.get() + start : scratch(worker.cells);
      build(child.begin, child.end, lanes_of(child.record), cells);
      return cells;
    }
    int64_t* cells = child.cells.get() + start;
    if (sibling == nullptr) {
      const bool child_is_left = child.begin == parent->begin;
      const size_t begin = child_is_left ? child.end : parent->begin;
      int64_t* other_cells = scratch(worker.sibling_cells);
      std::vector<int64_t> rest(lanes_of(parent->record), lanes_of(parent->record) + n_lanes);
      for (size_t l = 0; l < rest.size(); ++l) rest[l] -= lanes_of(child.record)[l];
      build(begin, begin + parent->size() - child.size(), rest.data(), other_cells);
      sibling = other_cells;
    }
    subtract_histogram(cells, sibling, n);
    return cells;
  }

 private:
  Cells make();
  int64_t bytes() const { return static_cast<int64_t>(total_ * sizeof(int64_t)); }

  std::vector<size_t> start_;  // per column
  size_t total_ = 0;
  size_t smallest_rows_ = std::numeric_limits<size_t>::max();
  int64_t budget_, in_use_ = 0;  // bytes
  std::vector<std::unique_ptr<int64_t[]>>* spare_ = nullptr;
};

}  // namespace weald
