// A block of rows, column after column, and what the splits of a forest say of them.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/explain/explained_forest.h"
#include "core/predict/fill_rows.h"
#include "core/tree/model/split_kind.h"

namespace weald {

// Rows that are looked at together, in loops that the compiler makes vector code of.
constexpr int64_t bundle_rows = 16;

class RowValues {
 public:
  // Room for `most_rows`, a multiple of bundle_rows.
  RowValues(const ExplainedForest& forest, const PredictTable& table, int64_t most_rows);

  // Rows first … first + n of the table; those up to the next multiple of bundle_rows are made up.
  void read(int64_t first, int64_t n);
  int64_t n_rows() const { return n_; }
  int64_t padded() const { return (n_ + bundle_rows - 1) / bundle_rows * bundle_rows; }

  bool goes_left(int32_t id, int64_t row) const {
    const LaidOutForest::Node& node = forest_.node(id);
    const double value = column(node.column)[row];
    if (std::isnan(value)) return node.missing_left != 0;
    if (is(forest_.laid.kind[static_cast<size_t>(id)], SplitKind::numeric)) return value <= node.threshold;
    const auto& set = forest_.laid.sets[static_cast<size_t>(forest_.laid.side[static_cast<size_t>(id)])];
    return forest_.laid.listed(set, level_code(value)) == set.left;
  }

  // Which of the rows first … first + bundle_rows go left: all bits, or none.
  [[gnu::always_inline]] void left_masks(int32_t id, int64_t first, int64_t* out) const {
    const LaidOutForest::Node& node = forest_.node(id);
    if (!is(forest_.laid.kind[static_cast<size_t>(id)], SplitKind::numeric)) {
      for (int64_t r = 0; r < bundle_rows; ++r) out[r] = goes_left(id, first + r) ? -1 : 0;
      return;
    }
    const double* value = column(node.column) + first;
    const double threshold = node.threshold;
    if (node.missing_left != 0) {
      for (int64_t r = 0; r < bundle_rows; ++r) out[r] = !(value[r] > threshold) ? -1 : 0;  // NaN is above nothing
    } else {
      for (int64_t r = 0; r < bundle_rows; ++r) out[r] = value[r] <= threshold ? -1 : 0;
    }
  }

  // out[i] = 1 where row i goes left, else 0; for padded() rows.
  template <class Flag>
  [[gnu::always_inline]] void left_flags(int32_t id, Flag* out) const {
    const LaidOutForest::Node& node = forest_.node(id);
    const int64_t n = padded();
    if (!is(forest_.laid.kind[static_cast<size_t>(id)], SplitKind::numeric)) {
      for (int64_t i = 0; i < n; ++i) out[i] = goes_left(id, i) ? 1 : 0;
      return;
    }
    const double* value = column(node.column);
    const double threshold = node.threshold;
    if (node.missing_left != 0) {
      for (int64_t i = 0; i < n; ++i) out[i] = !(value[i] > threshold) ? 1 : 0;  // NaN is above nothing
    } else {
      for (int64_t i = 0; i < n; ++i) out[i] = value[i] <= threshold ? 1 : 0;
    }
  }

 private:
  const double* column(uint32_t slot) const { return values_.data() + static_cast<int64_t>(slot) * stride_; }

  const ExplainedForest& forest_;
  const PredictTable& table_;
  int64_t stride_, n_ = 0;
  std::vector<double> values_;   // slot after slot, `stride_` rows each
  std::vector<double> by_rows_;  // of a sparse table, row after row
  RowFiller filler_;
};

}  // namespace weald
