// Which columns a tree, a level and a node of boosting may split on: drawn by chance, and allowed to meet on a path.
//
// Drawing is nested: the columns of a level are drawn among those of the tree, those of a node among its level's. Each
// draw takes the columns of the smallest keys; a key is −log2(u) / weight with u a hash of (seed, level or path,
// column), so that columns come in proportion to their weights and nothing depends on the order of growth.
//
// Interactions: a path may use the columns of a set once all columns it has used lie in that set, and those it has
// used.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/mathematics.h"
#include "core/base/random.h"
#include "core/tree/options.h"

namespace weald {

class ColumnRules {
 public:
  ColumnRules(const GrowOptions& options, size_t n_columns) : options_(options), n_columns_(n_columns) {
    in_tree_.assign(n_columns, options.columns.empty() ? 1 : 0);
    for (const int32_t j : options.columns) in_tree_[static_cast<size_t>(j)] = 1;
  }

  bool in_tree(size_t j) const { return in_tree_[j] != 0; }
  bool all_in_tree() const { return options_.columns.empty(); }
  bool interact() const { return !options_.interactions.empty(); }
  // Whether nodes differ in what they may split on.
  bool vary() const { return interact() || options_.level_columns > 0 || options_.node_columns > 0; }

  // Per column, whether a node of this place may split on it. `used`: the columns split on above it.
  std::vector<uint8_t> allowed(uint64_t path, int64_t depth, std::span<const int32_t> used) const {
    std::vector<uint8_t> mask = in_tree_;
    if (options_.level_columns > 0) {
      keep_drawn(mask, options_.level_columns, Purpose::level_columns, static_cast<uint64_t>(depth));
    }
    if (options_.node_columns > 0) keep_drawn(mask, options_.node_columns, Purpose::node_columns, path);
    if (interact() && !used.empty()) keep_interacting(mask, used);
    return mask;
  }

 private:
  void keep_drawn(std::vector<uint8_t>& mask, int64_t n, Purpose purpose, uint64_t place) const {
    std::vector<std::pair<double, size_t>> keys;
    for (size_t j = 0; j < n_columns_; ++j) {
      if (mask[j] == 0) continue;
      const double weight = options_.column_weights.empty() ? 1.0 : options_.column_weights[j];
      const uint64_t word = draw(options_.seed, purpose, place, j);
      const double u = static_cast<double>((word >> 11) + 1) * 0x1p-53;
      if (weight > 0) keys.emplace_back(-log2(u) / weight, j);
    }
    std::fill(mask.begin(), mask.end(), uint8_t{0});
    const size_t kept = std::min(keys.size(), static_cast<size_t>(n));
    std::nth_element(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(kept), keys.end());
    for (size_t i = 0; i < kept; ++i) mask[keys[i].second] = 1;
  }

  void keep_interacting(std::vector<uint8_t>& mask, std::span<const int32_t> used) const {
    std::vector<uint8_t> together(n_columns_, 0);
    for (const int32_t j : used) together[static_cast<size_t>(j)] = 1;
    for (const auto& set : options_.interactions) {
      const auto in_set = [&](int32_t j) { return std::find(set.begin(), set.end(), j) != set.end(); };
      if (!std::all_of(used.begin(), used.end(), in_set)) continue;
      for (const int32_t j : set) together[static_cast<size_t>(j)] = 1;
    }
    for (size_t j = 0; j < n_columns_; ++j) mask[j] &= together[j];
  }

  const GrowOptions& options_;
  size_t n_columns_;
  std::vector<uint8_t> in_tree_;
};

}  // namespace weald
