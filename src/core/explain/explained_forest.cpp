#include "core/explain/explained_forest.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/tree/model/split_kind.h"

namespace weald {

namespace {

// Distinct columns and splits of the longest paths of a tree; `asked` counts how often the path so far asks a slot.
struct LongestPaths {
  const ExplainedForest& forest;
  std::vector<int32_t> asked;
  int32_t columns = 0, splits = 0;

  void below(int32_t root) {
    struct Waiting {
      int32_t node, n_columns, n_splits;
      bool done;
    };
    std::vector<Waiting> stack{{root, 0, 0, false}};
    while (!stack.empty()) {
      Waiting at = stack.back();
      stack.pop_back();
      if (forest.laid.is_leaf(at.node)) {
        columns = std::max(columns, at.n_columns);
        splits = std::max(splits, at.n_splits);
        continue;
      }
      int32_t& times = asked[static_cast<size_t>(forest.slot(at.node))];
      if (at.done) {
        --times;
        continue;
      }
      const int32_t n_columns = at.n_columns + (times == 0 ? 1 : 0);
      ++times;
      stack.push_back({at.node, 0, 0, true});
      for (const bool left : {false, true}) {
        stack.push_back({forest.child(at.node, left), n_columns, at.n_splits + 1, false});
      }
    }
  }
};

}  // namespace

ExplainedForest::ExplainedForest(const ForestView& forest, std::span<const double> cover)
    : laid(forest), by_slot(&laid.by_slot()) {
  const size_t n_nodes = laid.leaf.size();
  if (cover.size() != n_nodes) throw BadInput("the forest is not valid: one cover per node");
  for (const uint8_t kind : laid.kind) require(!is(kind, SplitKind::combination), "splits on one column each");
  share.assign(n_nodes, 1.0);
  for (size_t id = 0; id < n_nodes; ++id) {
    if (laid.leaf[id] >= 0) continue;
    for (const bool left : {true, false}) {
      const auto below = static_cast<size_t>(child(static_cast<int32_t>(id), left));
      // Nodes that no weight came to send it half and half.
      share[below] = cover[id] > 0 ? std::clamp(cover[below] / cover[id], 0.0, 1.0) : 0.5;
    }
  }
  const auto width = static_cast<size_t>(laid.width);
  mean.assign(n_nodes * width, 0.0);
  for (size_t id = n_nodes; id-- > 0;) {  // children have larger numbers
    double* to = mean.data() + id * width;
    if (laid.leaf[id] >= 0) {
      std::copy_n(laid.leaf_value(static_cast<int32_t>(id)), width, to);
      continue;
    }
    for (const bool left : {true, false}) {
      const auto below = static_cast<size_t>(child(static_cast<int32_t>(id), left));
      for (size_t k = 0; k < width; ++k) to[k] += share[below] * mean[below * width + k];
    }
  }
  LongestPaths paths{*this, std::vector<int32_t>(static_cast<size_t>(laid.used.size()), 0)};
  for (const int32_t root : laid.roots) {
    paths.columns = paths.splits = 0;
    paths.below(root);
    most_columns.push_back(paths.columns);
    depth.push_back(paths.splits);
  }
}

}  // namespace weald
