// Walking: several walkers go from node to node in step, which hides the latency of the node loads. They are rows that
// pass one tree, or, where there are few rows, one row that passes several trees.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/predict/laid_out_forest.h"
#include "core/tree/model/split_kind.h"

namespace weald {

// Rows of a block, copied to float64, row after row.
struct CopiedRows {
  const double* rows;
  int64_t width;
  double operator()(int64_t i, uint32_t column) const { return rows[i * width + column]; }
  void load(int64_t first, int64_t n, int32_t column, double* out) const {
    for (int64_t i = 0; i < n; ++i) out[i] = rows[(first + i) * width + column];
  }
};

// Rows where the user has them, if they stand together there: a C-ordered array.
template <class T>
struct RowsInPlace {
  const char* first_row;
  int64_t stride;
  double operator()(int64_t i, uint32_t column) const {
    return static_cast<double>(reinterpret_cast<const T*>(first_row + i * stride)[column]);
  }
  void load(int64_t first, int64_t n, int32_t column, double* out) const {
    for (int64_t i = 0; i < n; ++i) out[i] = (*this)(first + i, static_cast<uint32_t>(column));
  }
};

template <class Rows>
class Walk {
 public:
  static constexpr int together = 8;

  // `any_missing` false promises that no value of these rows is missing.
  Walk(const LaidOutForest& forest, const LaidOutForest::Layout& layout, const Rows& rows, bool any_missing)
      : forest_(forest), layout_(layout), rows_(rows), any_missing_(any_missing) {}

  // Walkers 0 … n go from the nodes at[i] to leaves. Walker i is row `first + i · step`: step 1 for rows that pass one
  // tree, 0 for one row that passes several.
  void run(int64_t first, int64_t step, int64_t n, int32_t* at) const {
    if (!forest_.all_numeric) return run_all<false, true>(first, step, n, at);
    any_missing_ ? run_all<true, true>(first, step, n, at) : run_all<true, false>(first, step, n, at);
  }

 private:
  template <bool AllNumeric, bool AnyMissing>
  void run_all(int64_t first, int64_t step, int64_t n, int32_t* at) const {
    int64_t i = 0;
    for (; i + together <= n; i += together) in_step<AllNumeric, AnyMissing, together>(first + i * step, step, at + i);
    for (; i < n; ++i) in_step<AllNumeric, AnyMissing, 1>(first + i * step, step, at + i);
  }

  template <bool AllNumeric, bool AnyMissing, int Together>
  void in_step(int64_t first, int64_t step, int32_t* at) const {
    const LaidOutForest::Node* nodes = layout_.nodes.data();
    int32_t id[Together];
    for (int i = 0; i < Together; ++i) id[i] = at[i];
    int32_t moved;
    do {
      moved = 0;
      for (int i = 0; i < Together; ++i) {
        const LaidOutForest::Node& node = nodes[id[i]];
        bool left;
        if constexpr (AllNumeric) {
          const double value = rows_(first + i * step, node.column);
          left = value <= node.threshold;
          if constexpr (AnyMissing) left |= (value != value) & static_cast<bool>(node.missing_left);
        } else {
          left = node.right != id[i] && goes_left(id[i], first + i * step);
        }
        // Written as arithmetic: a branch here would be mispredicted half the time.
        const int32_t next = node.right + (-static_cast<int32_t>(left) & (id[i] + 1 - node.right));
        moved |= next ^ id[i];
        id[i] = next;
      }
    } while (moved != 0);
    for (int i = 0; i < Together; ++i) at[i] = id[i];
  }

  bool goes_left(int32_t id, int64_t row) const {
    const LaidOutForest::Node& node = layout_.nodes[static_cast<size_t>(id)];
    const uint8_t kind = forest_.kind[static_cast<size_t>(id)];
    const int32_t side = forest_.side[static_cast<size_t>(id)];
    double value = 0;
    if (is(kind, SplitKind::combination)) {
      const LaidOutForest::Combination& terms = layout_.combinations[static_cast<size_t>(side)];
      for (size_t t = 0; t < terms.column.size(); ++t) {
        value += terms.coefficient[t] * rows_(row, static_cast<uint32_t>(terms.column[t]));
      }
    } else {
      value = rows_(row, node.column);
    }
    if (std::isnan(value)) return node.missing_left != 0;
    if (!is(kind, SplitKind::categories)) return value <= node.threshold;
    const LaidOutForest::CategorySet& set = forest_.sets[static_cast<size_t>(side)];
    return forest_.listed(set, level_code(value)) == set.left;
  }

  const LaidOutForest& forest_;
  const LaidOutForest::Layout& layout_;
  const Rows& rows_;
  bool any_missing_;
};

}  // namespace weald
