// Which node is split next: a queue, nothing more. Depth-first takes the newest; best-first takes the largest gain,
// ties by the node that comes first in preorder; by level takes the smallest depth, from left to right. Node numbers
// are preorder in the end, so the order never shows unless `max_leaves` cuts it short.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace weald {

template <class Node>
class Frontier {
 public:
  Frontier(bool ordered, bool by_level) : ordered_(ordered), by_level_(by_level) {}

  bool empty() const { return nodes_.empty(); }

  void push(Node node) {
    nodes_.push_back(std::move(node));
    if (ordered_) std::push_heap(nodes_.begin(), nodes_.end(), later());
  }

  // The node that comes next.
  const Node& top() const { return ordered_ ? nodes_.front() : nodes_.back(); }
  // All nodes, the next one first. They stay where they are until one is pushed or popped.
  std::vector<Node*> in_order() {
    std::vector<Node*> all;
    for (size_t i = nodes_.size(); i-- > 0;) all.push_back(&nodes_[i]);
    if (ordered_) std::sort(all.begin(), all.end(), [&](const Node* a, const Node* b) { return later()(*b, *a); });
    return all;
  }
  void clear() { nodes_.clear(); }

  Node pop() {
    if (ordered_) std::pop_heap(nodes_.begin(), nodes_.end(), later());
    Node node = std::move(nodes_.back());
    nodes_.pop_back();
    return node;
  }

 private:
  auto later() const {
    return [by_level = by_level_](const Node& a, const Node& b) {
      if (by_level) return a.depth != b.depth ? a.depth > b.depth : b.preorder_before(a);
      return a.worth != b.worth ? a.worth < b.worth : b.preorder_before(a);
    };
  }
  bool ordered_, by_level_;
  std::vector<Node> nodes_;
};

}  // namespace weald
