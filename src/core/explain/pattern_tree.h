// Trees by patterns. Only what a row answers to the splits matters, so the leaves of a tree are parted into groups that
// few answers decide: for each column that the path to the group asks, whether the row does as the path says; then the
// answers to the splits within the group. These bits are the row's pattern in the group, and what the group's leaves
// add to a row is read from a table by its pattern.
#pragma once

#include <cstdint>
#include <vector>

#include "core/explain/explained_forest.h"
#include "core/explain/row_values.h"

namespace weald {

// A leaf of a group: the distinct columns of its path, each with the bits that must be set, some of them flipped.
struct PatternLeaf {
  int32_t node;
  std::vector<int32_t> slot;
  std::vector<uint64_t> mask, flip;
  std::vector<double> share;  // of the training weight that does as the path says, per column

  size_t n_columns() const { return slot.size(); }
  // Which of its columns a row of this pattern satisfies: a bit per column.
  uint64_t satisfied(uint64_t pattern) const {
    uint64_t out = 0;
    for (size_t u = 0; u < mask.size(); ++u) {
      out |= static_cast<uint64_t>(((pattern ^ flip[u]) & mask[u]) == mask[u]) << u;
    }
    return out;
  }
};

struct PatternGroup {
  int32_t n_above = 0;         // bits of the path
  std::vector<int32_t> inner;  // the splits within, a bit each
  std::vector<PatternLeaf> leaves;
  std::vector<int32_t> slots;  // all columns of the leaves, distinct
  bool table = true;           // else there are too many patterns for a table: one leaf

  int32_t n_bits() const { return n_above + static_cast<int32_t>(inner.size()); }
};

struct PatternStep {
  enum Kind : uint8_t { ask, down, group };
  Kind kind;
  bool left, repeated;
  int32_t level;
  int32_t what;  // of `ask` the node, of `down` the bit, of `group` its number
};

struct PatternTree {
  size_t tree = 0;
  std::vector<PatternStep> steps;
  std::vector<PatternGroup> groups;
  int32_t n_levels = 1;
  bool wide = false;  // patterns of more than 16 bits
};

struct PatternLimits {
  int32_t group_bits;  // of a group of several leaves
  int32_t table_bits;  // of a leaf by itself: with more, no table is made
};

PatternTree pattern_tree(const ExplainedForest& forest, size_t tree, const PatternLimits& limits);

// The patterns of a block of rows. Calls use(group number, patterns of padded() rows), group after group.
template <class Pattern>
class PatternRows {
 public:
  template <class Use>
  void pass(const PatternTree& tree, const RowValues& rows, Use use) {
    const auto n = static_cast<size_t>(rows.padded());
    const auto levels = static_cast<size_t>(tree.n_levels);
    pattern_.resize((levels + 1) * n);
    answer_.resize(levels * n);
    extra_.resize(n);
    std::fill_n(pattern_.begin(), n, Pattern{0});
    for (const PatternStep& step : tree.steps) {
      const auto level = static_cast<size_t>(step.level);
      switch (step.kind) {
        case PatternStep::ask:
          rows.left_flags(step.what, answer_.data() + level * n);
          break;
        case PatternStep::down:
          down(step, n);
          break;
        case PatternStep::group: {
          const PatternGroup& group = tree.groups[static_cast<size_t>(step.what)];
          Pattern* pattern = pattern_.data() + level * n;
          if (!group.inner.empty()) {
            // Beside the others, so that the path's pattern stays for what comes after the group.
            Pattern* own = pattern_.data() + levels * n;
            std::copy_n(pattern, n, own);
            pattern = own;
          }
          for (size_t i = 0; i < group.inner.size(); ++i) {
            rows.left_flags(group.inner[i], extra_.data());
            const int bit = group.n_above + static_cast<int>(i);
            for (size_t r = 0; r < n; ++r) pattern[r] = static_cast<Pattern>(pattern[r] | (extra_[r] << bit));
          }
          use(static_cast<size_t>(step.what), pattern);
          break;
        }
      }
    }
  }

 private:
  void down(const PatternStep& step, size_t n) {
    const auto level = static_cast<size_t>(step.level);
    const Pattern* from = pattern_.data() + level * n;
    const Pattern* left = answer_.data() + level * n;
    Pattern* to = pattern_.data() + (level + 1) * n;
    const int bit = step.what;
    const Pattern flip = step.left ? 0 : 1;
    if (step.repeated) {
      // Stays set only where the row does so again.
      for (size_t r = 0; r < n; ++r) to[r] = static_cast<Pattern>(from[r] & ~((left[r] ^ flip ^ Pattern{1}) << bit));
    } else {
      for (size_t r = 0; r < n; ++r) to[r] = static_cast<Pattern>(from[r] | ((left[r] ^ flip) << bit));
    }
  }

  std::vector<Pattern> pattern_;  // per level, and one more
  std::vector<Pattern> answer_;   // per level
  std::vector<Pattern> extra_;
};

}  // namespace weald
