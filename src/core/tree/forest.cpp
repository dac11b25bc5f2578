#include "core/tree/forest.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/check.h"

namespace weald {

void GrownTree::graft(int32_t at, GrownTree&& part) {
  require(part.n_lanes == n_lanes && !part.nodes.empty(), "a graft must be a tree of the same kind");
  // The part's root replaces the record `at`; its other nodes are appended.
  const size_t n_part_nodes = part.nodes.size();
  const auto offset = static_cast<int32_t>(nodes.size()) - 1;
  const size_t begin = nodes[static_cast<size_t>(at)].begin;
  const std::vector<uint32_t> rows(ids.begin() + static_cast<std::ptrdiff_t>(begin),
                                   ids.begin() + static_cast<std::ptrdiff_t>(begin + part.ids.size()));
  for (size_t i = 0; i < part.ids.size(); ++i) ids[begin + i] = rows[part.ids[i]];
  for (auto& node : part.nodes) {
    node.begin += begin;
    if (node.left < 0) continue;
    node.left += offset;
    node.right += offset;
  }
  nodes[static_cast<size_t>(at)] = std::move(part.nodes.front());
  nodes.insert(nodes.end(), std::make_move_iterator(part.nodes.begin() + 1), std::make_move_iterator(part.nodes.end()));
  lanes.insert(lanes.end(), part.lanes.begin() + n_lanes, part.lanes.end());
  const auto n_means = static_cast<std::ptrdiff_t>(part.means.size() / n_part_nodes);
  std::copy_n(part.means.begin(), n_means, means.begin() + at * n_means);
  means.insert(means.end(), part.means.begin() + n_means, part.means.end());
}

void GrownTree::prune(double least) {
  // Children come after their parent, so that backwards means from the bottom.
  for (size_t i = nodes.size(); i-- > 0;) {
    NodeRecord& node = nodes[i];
    if (node.left < 0 || !(node.gain < least)) continue;
    const bool leaves =
        nodes[static_cast<size_t>(node.left)].left < 0 && nodes[static_cast<size_t>(node.right)].left < 0;
    if (leaves) node.left = node.right = -1;
  }
}

namespace {

// Room for all nodes of a tree; `n_leaves` of them are leaves.
void reserve(TreeArrays& out, size_t n_nodes, size_t n_leaves, size_t n_lanes, size_t n_means) {
  for (auto* per_node : {&out.weight, &out.count}) per_node->reserve(n_nodes);
  for (auto* per_node : {&out.impurity, &out.lower, &out.upper}) per_node->reserve(n_nodes);
  out.slot.reserve(n_nodes);
  out.lanes.reserve(n_nodes * n_lanes);
  out.means.reserve(n_nodes * n_means);
  const size_t n_inner = n_nodes - n_leaves;
  for (auto* per_inner : {&out.column, &out.right, &out.side}) per_inner->reserve(n_inner);
  for (auto* per_inner : {&out.threshold, &out.gain}) per_inner->reserve(n_inner);
  for (auto* per_inner : {&out.kind, &out.missing_left}) per_inner->reserve(n_inner);
  out.code.reserve(n_inner);
  out.leaf_start.reserve(n_leaves + 1);
  out.leaf_in_second.reserve(n_leaves);
}

}  // namespace

TreeArrays flatten(GrownTree&& tree) {
  if (tree.nodes.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    throw BadInput("the tree has more than 2^31 nodes; set max_depth or min_samples_leaf");
  }
  TreeArrays out;
  out.set_start.push_back(0);
  out.combination_start.push_back(0);
  const auto lanes = static_cast<size_t>(tree.n_lanes);
  const size_t n_means = tree.means.size() / tree.nodes.size();
  reserve(out, tree.nodes.size(), tree.nodes.size() / 2 + 1, lanes, n_means);
  struct Visit {
    int32_t record;
    int32_t parent_slot;  // inner slot whose right child this is; −1: a left child, or the root
  };
  std::vector<Visit> stack{{0, -1}};
  int32_t n_leaves = 0;
  while (!stack.empty()) {
    const auto [record, parent_slot] = stack.back();
    stack.pop_back();
    NodeRecord& node = tree.nodes[static_cast<size_t>(record)];
    const auto id = static_cast<int32_t>(out.slot.size());
    if (parent_slot >= 0) out.right[static_cast<size_t>(parent_slot)] = id;
    out.weight.push_back(node.weight);
    out.count.push_back(node.n_rows);
    out.impurity.push_back(node.impurity);
    out.lower.push_back(node.lower);
    out.upper.push_back(node.upper);
    const int64_t* from = tree.lanes.data() + static_cast<size_t>(record) * lanes;
    out.lanes.insert(out.lanes.end(), from, from + lanes);
    const double* mean = tree.means.data() + static_cast<size_t>(record) * n_means;
    out.means.insert(out.means.end(), mean, mean + n_means);
    if (node.left < 0) {
      out.leaf_start.push_back(node.begin);
      out.leaf_in_second.push_back(node.in_second);
      out.slot.push_back(~n_leaves++);
      continue;
    }
    const auto slot = static_cast<int32_t>(out.column.size());
    out.slot.push_back(slot);
    out.column.push_back(node.column);
    out.code.push_back(node.code);
    out.threshold.push_back(node.threshold);
    out.kind.push_back(static_cast<uint8_t>(node.kind));
    out.missing_left.push_back(node.missing_left);
    out.right.push_back(-1);
    out.gain.push_back(node.gain);
    if (node.kind == SplitKind::categories) {
      out.side.push_back(static_cast<int32_t>(out.set_start.size()) - 1);
      out.set_codes.insert(out.set_codes.end(), node.set.begin(), node.set.end());
      out.set_start.push_back(static_cast<int64_t>(out.set_codes.size()));
      out.set_left.push_back(node.set_left);
    } else if (node.kind == SplitKind::combination) {
      out.side.push_back(static_cast<int32_t>(out.combination_start.size()) - 1);
      for (const Term& term : node.terms) {
        out.combination_column.push_back(term.column);
        out.combination_coefficient.push_back(term.coefficient);
      }
      out.combination_start.push_back(static_cast<int64_t>(out.combination_column.size()));
    } else {
      out.side.push_back(-1);
    }
    stack.push_back({node.right, slot});
    stack.push_back({node.left, -1});
  }
  out.leaf_start.push_back(static_cast<size_t>(tree.nodes[0].n_rows));
  out.rows = std::move(tree.ids);
  return out;
}

namespace {

template <class T>
void append(std::vector<T>& to, std::vector<T>&& from) {
  to.insert(to.end(), from.begin(), from.end());
  from = {};
}

}  // namespace

TreeArrays join(std::vector<TreeArrays>&& trees) {
  TreeArrays all;
  size_t n_nodes = 0, n_leaves = 0, n_lanes = 0, n_means = 0;
  for (const TreeArrays& tree : trees) {
    n_nodes += tree.slot.size();
    n_leaves += tree.slot.size() - tree.column.size();
    n_lanes = tree.lanes.size() / tree.slot.size();
    n_means = tree.means.size() / tree.slot.size();
  }
  if (n_nodes > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    throw BadInput("the forest has more than 2^31 nodes; set max_depth or min_samples_leaf");
  }
  reserve(all, n_nodes, n_leaves, n_lanes, n_means);
  all.set_start.push_back(0);
  all.combination_start.push_back(0);
  int32_t first_inner = 0, first_leaf = 0;
  for (TreeArrays& tree : trees) {
    const auto first_set = static_cast<int32_t>(all.set_left.size());
    const auto first_code = static_cast<int64_t>(all.set_codes.size());
    all.n_nodes.push_back(static_cast<int64_t>(tree.slot.size()));
    for (const int32_t slot : tree.slot) all.slot.push_back(slot >= 0 ? slot + first_inner : slot - first_leaf);
    const auto first_combination = static_cast<int32_t>(all.combination_start.size()) - 1;
    const auto first_term = static_cast<int64_t>(all.combination_column.size());
    for (size_t i = 0; i < tree.side.size(); ++i) {
      const bool combined = tree.kind[i] == static_cast<uint8_t>(SplitKind::combination);
      all.side.push_back(tree.side[i] < 0 ? -1 : tree.side[i] + (combined ? first_combination : first_set));
    }
    for (size_t i = 1; i < tree.combination_start.size(); ++i) {
      all.combination_start.push_back(tree.combination_start[i] + first_term);
    }
    for (size_t i = 1; i < tree.set_start.size(); ++i) all.set_start.push_back(tree.set_start[i] + first_code);
    all.shift.push_back(tree.shift.empty() ? 0 : tree.shift[0]);
    first_inner += static_cast<int32_t>(tree.column.size());
    first_leaf += static_cast<int32_t>(tree.slot.size() - tree.column.size());
    append(all.weight, std::move(tree.weight));
    append(all.count, std::move(tree.count));
    append(all.impurity, std::move(tree.impurity));
    append(all.column, std::move(tree.column));
    append(all.threshold, std::move(tree.threshold));
    append(all.kind, std::move(tree.kind));
    append(all.missing_left, std::move(tree.missing_left));
    append(all.right, std::move(tree.right));
    append(all.gain, std::move(tree.gain));
    append(all.lanes, std::move(tree.lanes));
    append(all.means, std::move(tree.means));
    append(all.lower, std::move(tree.lower));
    append(all.upper, std::move(tree.upper));
    append(all.set_codes, std::move(tree.set_codes));
    append(all.set_left, std::move(tree.set_left));
    append(all.combination_column, std::move(tree.combination_column));
    append(all.combination_coefficient, std::move(tree.combination_coefficient));
    tree = {};
  }
  return all;
}

}  // namespace weald
