#include "core/explain/pattern_tree.h"

#include <algorithm>

#include "core/base/check.h"

namespace weald {

namespace {

// The columns of a path, in the order in which it first asks them.
struct PathColumns {
  std::vector<int32_t> slot;
  std::vector<uint64_t> mask, flip;
  std::vector<double> share;

  size_t place(int32_t of) const { return static_cast<size_t>(std::find(slot.begin(), slot.end(), of) - slot.begin()); }
};

class PatternPlanner {
 public:
  PatternPlanner(const ExplainedForest& forest, const PatternLimits& limits, PatternTree& out)
      : forest_(forest), limits_(limits), out_(out) {}

  void plan(int32_t node, int32_t level, const PathColumns& path) {
    const auto n_above = static_cast<int32_t>(path.slot.size());
    out_.n_levels = std::max(out_.n_levels, level + 1);
    const int32_t room = limits_.group_bits - n_above;
    if (forest_.laid.is_leaf(node) || inner_nodes(node, room) <= room) return add_group(node, level, path);
    out_.steps.push_back({PatternStep::ask, false, false, level, node});
    const int32_t slot = forest_.slot(node);
    const size_t place = path.place(slot);
    const bool repeated = place < path.slot.size();
    for (const bool left : {true, false}) {
      const int32_t child = forest_.child(node, left);
      PathColumns below = path;
      if (repeated) {
        below.share[place] *= forest_.share_of(child);
      } else {
        require(place < 64, "a path asks at most 64 columns");
        below.slot.push_back(slot);
        below.mask.push_back(uint64_t{1} << place);
        below.flip.push_back(0);
        below.share.push_back(forest_.share_of(child));
      }
      out_.steps.push_back({PatternStep::down, left, repeated, level, static_cast<int32_t>(place)});
      plan(child, level + 1, below);
    }
  }

 private:
  // Splits of a subtree, counted up to `most` + 1.
  int32_t inner_nodes(int32_t node, int32_t most) const {
    if (forest_.laid.is_leaf(node)) return 0;
    if (most <= 0) return 1;
    const int32_t left = inner_nodes(forest_.child(node, true), most - 1);
    if (left > most - 1) return left + 1;
    return 1 + left + inner_nodes(forest_.child(node, false), most - 1 - left);
  }

  void add_group(int32_t node, int32_t level, const PathColumns& path) {
    PatternGroup group;
    group.n_above = static_cast<int32_t>(path.slot.size());
    add_leaves(node, path, group);
    group.table = group.n_bits() <= std::max(limits_.table_bits, limits_.group_bits);
    out_.wide |= group.n_bits() > 16;
    out_.steps.push_back({PatternStep::group, false, false, level, static_cast<int32_t>(out_.groups.size())});
    out_.groups.push_back(std::move(group));
  }

  void add_leaves(int32_t node, const PathColumns& path, PatternGroup& group) {
    if (forest_.laid.is_leaf(node)) {
      for (const int32_t slot : path.slot) {
        if (std::ranges::find(group.slots, slot) == group.slots.end()) group.slots.push_back(slot);
      }
      group.leaves.push_back({node, path.slot, path.mask, path.flip, path.share});
      return;
    }
    const auto bit = uint64_t{1} << static_cast<uint32_t>(group.n_bits());
    group.inner.push_back(node);
    const int32_t slot = forest_.slot(node);
    const size_t place = path.place(slot);
    for (const bool left : {true, false}) {
      const int32_t child = forest_.child(node, left);
      PathColumns below = path;
      if (place == path.slot.size()) {
        below.slot.push_back(slot);
        below.mask.push_back(0);
        below.flip.push_back(0);
        below.share.push_back(1.0);
      }
      below.mask[place] |= bit;
      below.flip[place] |= left ? 0 : bit;
      below.share[place] *= forest_.share_of(child);
      add_leaves(child, below, group);
    }
  }

  const ExplainedForest& forest_;
  const PatternLimits& limits_;
  PatternTree& out_;
};

}  // namespace

PatternTree pattern_tree(const ExplainedForest& forest, size_t tree, const PatternLimits& limits) {
  PatternTree out;
  out.tree = tree;
  PatternPlanner(forest, limits, out).plan(forest.laid.roots[tree], 0, {});
  return out;
}

}  // namespace weald
