#include "core/tree/model/forest.h"

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
  if (!part.ids.empty()) {
    const std::vector<uint32_t> rows(ids.begin() + static_cast<std::ptrdiff_t>(begin),
                                     ids.begin() + static_cast<std::ptrdiff_t>(begin + part.ids.size()));
    for (size_t i = 0; i < part.ids.size(); ++i) ids[begin + i] = rows[part.ids[i]];
  }
  for (auto& node : part.nodes) {
    node.begin += begin;
    if (node.left < 0) continue;
    node.left += offset;
    node.right += offset;
  }
  nodes[static_cast<size_t>(at)] = std::move(part.nodes.front());
  nodes.insert(nodes.end(), std::make_move_iterator(part.nodes.begin() + 1), std::make_move_iterator(part.nodes.end()));
  if (!part.lanes.empty()) lanes.insert(lanes.end(), part.lanes.begin() + n_lanes, part.lanes.end());
  const auto n_means = static_cast<std::ptrdiff_t>(part.means.size() / n_part_nodes);
  std::copy_n(part.means.begin(), n_means, means.begin() + at * n_means);
  means.insert(means.end(), part.means.begin() + n_means, part.means.end());
}

void GrownTree::keep_some_lanes(std::span<const int32_t> of_lane) {
  const auto n = static_cast<size_t>(n_lanes);
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (size_t l = 0; l < n; ++l) {
      const int64_t sum = lanes[i * n + l];
      if (sum != 0) nodes[i].some.push_back({of_lane.empty() ? static_cast<int32_t>(l) : of_lane[l], sum});
    }
  }
  lanes = {};
  n_lanes = 0;
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

// Room for the nodes of a tree, half of which are leaves.
void reserve_nodes(TreeArrays& tree, size_t n_nodes, size_t n_lanes, size_t n_means) {
  const size_t n_inner = n_nodes / 2;
  const auto each = [](size_t n, auto&... arrays) { (arrays.reserve(n), ...); };
  each(n_nodes, tree.slot, tree.weight, tree.count, tree.impurity, tree.lower, tree.upper);
  each(n_inner, tree.column, tree.threshold, tree.kind, tree.missing_left, tree.right, tree.gain, tree.side, tree.code);
  tree.lanes.reserve(n_nodes * n_lanes);
  tree.means.reserve(n_nodes * n_means);
}

// The split of an inner node, whose right child is not known yet; returns its slot.
int32_t append_split(const NodeRecord& node, TreeArrays& out) {
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
  return slot;
}

}  // namespace

TreeArrays flatten(GrownTree&& tree, bool leaves_only) {
  if (tree.nodes.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    throw BadInput("the tree has more than 2^31 nodes; set max_depth or min_samples_leaf");
  }
  TreeArrays out;
  out.set_start.push_back(0);
  out.combination_start.push_back(0);
  const size_t lanes = tree.lanes.size() / tree.nodes.size();
  if (lanes == 0) out.some_start.push_back(0);
  const size_t n_means = tree.means.size() / tree.nodes.size();
  reserve_nodes(out, tree.nodes.size(), lanes, n_means);
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
    out.weight.push_back(static_cast<double>(node.weight));
    out.count.push_back(node.n_rows);
    out.impurity.push_back(node.impurity);
    out.lower.push_back(node.lower);
    out.upper.push_back(node.upper);
    const int64_t* from = tree.lanes.data() + static_cast<size_t>(record) * lanes;
    out.lanes.insert(out.lanes.end(), from, from + lanes);
    if (lanes == 0) {
      for (size_t k = 0; (node.left < 0 || !leaves_only) && k < node.some.size(); ++k) {
        out.some_lane.push_back(node.some[k].lane);
        out.some_sum.push_back(node.some[k].sum);
      }
      out.some_start.push_back(static_cast<int64_t>(out.some_lane.size()));
    }
    const double* mean = tree.means.data() + static_cast<size_t>(record) * n_means;
    out.means.insert(out.means.end(), mean, mean + n_means);
    if (node.left < 0) {
      out.leaf_start.push_back(node.begin);
      out.leaf_in_second.push_back(node.in_second);
      out.slot.push_back(~n_leaves++);
      continue;
    }
    const int32_t slot = append_split(node, out);
    stack.push_back({node.right, slot});
    stack.push_back({node.left, -1});
  }
  out.leaf_start.push_back(static_cast<size_t>(tree.nodes[0].n_rows));
  out.rows = std::move(tree.ids);
  return out;
}

TreeArrays TreeJoiner::spare() {
  const std::lock_guard lock(mutex_);
  reused_ = true;
  if (spare_.empty()) return {};
  TreeArrays tree = std::move(spare_.back());
  spare_.pop_back();
  return tree;
}

void TreeJoiner::add(int64_t t, TreeArrays&& tree) {
  const std::lock_guard lock(mutex_);
  waiting_.emplace(t, std::move(tree));
  while (!waiting_.empty() && waiting_.begin()->first == next_) {
    TreeArrays joined = std::move(waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
    if (next_++ == 0) make_room(joined);
    append(joined);
    if (!reused_) continue;
    joined.shift.clear();
    const auto clear = [&](auto array) { (joined.*array).clear(); };
    TreeArrays::for_plain(clear);
    TreeArrays::for_counted(clear);
    spare_.push_back(std::move(joined));
  }
}

// All trees are about as large as the first.
void TreeJoiner::make_room(const TreeArrays& first) {
  const auto times = static_cast<size_t>(n_trees_ + n_trees_ / 16 + 1);
  const auto reserve = [&](auto array) { (all_.*array).reserve((first.*array).size() * times); };
  TreeArrays::for_plain(reserve);
  TreeArrays::for_counted(reserve);
  all_.set_start.push_back(0);
  all_.combination_start.push_back(0);
}

void TreeJoiner::append(const TreeArrays& tree) {
  if (all_.slot.size() + tree.slot.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    throw BadInput("the forest has more than 2^31 nodes; set max_depth or min_samples_leaf");
  }
  const auto first_inner = static_cast<int32_t>(all_.column.size());
  const auto first_leaf = static_cast<int32_t>(all_.slot.size() - all_.column.size());
  const auto first_set = static_cast<int32_t>(all_.set_left.size());
  const auto first_combination = static_cast<int32_t>(all_.combination_start.size()) - 1;
  const auto first_code = static_cast<int64_t>(all_.set_codes.size());
  const auto first_term = static_cast<int64_t>(all_.combination_column.size());
  for (const int32_t slot : tree.slot) all_.slot.push_back(slot >= 0 ? slot + first_inner : slot - first_leaf);
  for (size_t i = 0; i < tree.side.size(); ++i) {
    const bool combined = is(tree.kind[i], SplitKind::combination);
    all_.side.push_back(tree.side[i] < 0 ? -1 : tree.side[i] + (combined ? first_combination : first_set));
  }
  for (size_t i = 1; i < tree.set_start.size(); ++i) all_.set_start.push_back(tree.set_start[i] + first_code);
  const auto first_some = static_cast<int64_t>(all_.some_lane.size());
  if (all_.some_start.empty() && !tree.some_start.empty()) all_.some_start.push_back(0);
  for (size_t i = 1; i < tree.some_start.size(); ++i) all_.some_start.push_back(tree.some_start[i] + first_some);
  for (size_t i = 1; i < tree.combination_start.size(); ++i) {
    all_.combination_start.push_back(tree.combination_start[i] + first_term);
  }
  TreeArrays::for_plain(
      [&](auto array) { (all_.*array).insert((all_.*array).end(), (tree.*array).begin(), (tree.*array).end()); });
  all_.n_nodes.push_back(static_cast<int64_t>(tree.slot.size()));
  all_.shift.push_back(tree.shift.empty() ? 0 : tree.shift[0]);
}

}  // namespace weald
