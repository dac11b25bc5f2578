// 64 rows side by side, and which way each goes at a split: one bit per row.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/predict/laid_out_forest.h"
#include "core/tree/model/split_kind.h"

namespace weald {

inline constexpr int64_t tile_rows = 64;

// The columns that a forest reads, by slot (used_columns.h), one after another: value of row i at slot · n_rows + i.
// Levels are codes from 1 up, missing values NaN.
struct SlotColumns {
  const double* values;
  int64_t n_rows;
};

class RowTile {
 public:
  explicit RowTile(const LaidOutForest& forest)
      : forest_(forest),
        nodes_(forest.by_slot().nodes.data()),
        values_(static_cast<size_t>(forest.used.size() * tile_rows), 0.0),
        missing_(static_cast<size_t>(forest.used.size()), 0),
        known_(forest.leaf.size(), 0),
        left_(forest.leaf.size(), 0) {}

  // Rows first … first + n, at most 64; those beyond n stay what they were and belong to no mask.
  void load(const SlotColumns& columns, int64_t first, int64_t n) {
    for (size_t slot = 0; slot < missing_.size(); ++slot) {
      const double* from = columns.values + static_cast<int64_t>(slot) * columns.n_rows + first;
      double* to = values_.data() + static_cast<int64_t>(slot) * tile_rows;
      uint64_t missing = 0;
      for (int64_t i = 0; i < n; ++i) {
        to[i] = from[i];
        missing |= uint64_t{from[i] != from[i]} << i;
      }
      missing_[slot] = missing;
    }
    ++epoch_;
  }

  // Of a tree of so many nodes: in a small one every node is met again, on the way of other columns.
  void enter(int64_t n_nodes) { asks_few_ = n_nodes > 8 * tile_rows; }

  // Those of the rows that go left at this node.
  uint64_t left(int32_t node, uint64_t rows) {
    const auto at = static_cast<size_t>(node);
    if (known_[at] == epoch_) return left_[at] & rows;
    // A few rows are asked one by one; many at once, and the answer is kept for those that come again.
    if (asks_few_ && at_most_four(rows)) {
      uint64_t found = 0;
      for (uint64_t rest = rows; rest != 0; rest &= rest - 1) {
        const int row = std::countr_zero(rest);
        found |= uint64_t{goes_left(node, row)} << row;
      }
      return found;
    }
    known_[at] = epoch_;
    return (left_[at] = all_left(node)) & rows;
  }

 private:
  // By taking away the lowest bit: counting them is a call where the processor has no instruction for it.
  static bool at_most_four(uint64_t rows) {
    for (int i = 0; i < 4; ++i) rows &= rows - (rows != 0 ? 1 : 0);
    return rows == 0;
  }

  const double* of(int32_t node) const { return values_.data() + nodes_[node].column * tile_rows; }

  bool goes_left(int32_t node, int row) const {
    const double value = of(node)[row];
    if (value != value) return nodes_[node].missing_left != 0;
    const auto at = static_cast<size_t>(node);
    if (!is(forest_.kind[at], SplitKind::categories)) return value <= nodes_[node].threshold;
    const LaidOutForest::CategorySet& set = forest_.sets[static_cast<size_t>(forest_.side[at])];
    return forest_.listed(set, level_code(value)) == set.left;
  }

  uint64_t all_left(int32_t node) const {
    uint64_t bits = 0;
    if (is(forest_.kind[static_cast<size_t>(node)], SplitKind::categories)) {
      for (int i = 0; i < tile_rows; ++i) bits |= uint64_t{goes_left(node, i)} << i;
      return bits;
    }
    const double threshold = nodes_[node].threshold;
    const double* value = of(node);
    // A comparison of two doubles is a mask as wide as the bits of their rows.
    using Two = double __attribute__((vector_size(16)));
    using TwoBits = int64_t __attribute__((vector_size(16)));
    const Two limit{threshold, threshold};
    TwoBits found{};
    for (size_t i = 0; i < bit_of_row.size(); i += 2) {
      Two values;
      TwoBits here;
      std::memcpy(&values, value + i, sizeof values);
      std::memcpy(&here, bit_of_row.data() + i, sizeof here);
      found |= (values <= limit) & here;
    }
    bits = static_cast<uint64_t>(found[0] | found[1]);
    return bits | (nodes_[node].missing_left != 0 ? missing_[nodes_[node].column] : 0);
  }

  static constexpr std::array<uint64_t, tile_rows> bit_of_row = [] {
    std::array<uint64_t, tile_rows> bits{};
    for (size_t i = 0; i < bits.size(); ++i) bits[i] = uint64_t{1} << i;
    return bits;
  }();

  const LaidOutForest& forest_;
  const LaidOutForest::Node* nodes_;
  std::vector<double> values_;     // (slots, 64)
  std::vector<uint64_t> missing_;  // per slot
  std::vector<uint32_t> known_;    // per node: for which tile `left_` holds
  std::vector<uint64_t> left_;
  uint32_t epoch_ = 0;
  bool asks_few_ = false;
};

}  // namespace weald
