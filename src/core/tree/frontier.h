// Which node is split next: a queue, nothing more. Depth-first takes the newest; best-first takes the largest gain,
// ties by the node that comes first in preorder. Node numbers are preorder in the end, so the order never shows unless
// `max_leaves` cuts it short.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

namespace weald {

template <class Node>
class Frontier {
 public:
  explicit Frontier(bool best_first) : best_first_(best_first) {}

  bool empty() const { return nodes_.empty(); }

  void push(Node node) {
    nodes_.push_back(std::move(node));
    if (best_first_) std::push_heap(nodes_.begin(), nodes_.end(), later);
  }

  Node pop() {
    if (best_first_) std::pop_heap(nodes_.begin(), nodes_.end(), later);
    Node node = std::move(nodes_.back());
    nodes_.pop_back();
    return node;
  }

 private:
  static bool later(const Node& a, const Node& b) {
    return a.worth != b.worth ? a.worth < b.worth : b.preorder_before(a);
  }
  bool best_first_;
  std::vector<Node> nodes_;
};

}  // namespace weald
