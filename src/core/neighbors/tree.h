// A kd-tree over dense points of few columns. Each node has the box of its points; the distance to a box is added up as
// that to a point is, and rounding is monotone, so that no point in the box can be computed nearer than the box: what
// is left out is left out for certain. Leaves lie as panels [column][lane], scanned in float64.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/neighbors/best.h"
#include "core/neighbors/distance.h"
#include "core/svm/kernel/tiles.h"

namespace weald::neighbors {

class Tree {
 public:
  Tree(const Metric& metric, const Rows& fitted, int64_t leaf_size, Run& run);

  // A number that is near for queries that are near: the leaf where a point would lie.
  int64_t leaf_of(const double* point) const;
  // Offers every fitted row that may be among the nearest of query q.
  void search(const Distance& distance, const Rows& queries, int64_t q, bool exclude_self, Best& best) const;

 private:
  struct Node {
    int64_t first = 0, last = 0;  // its rows are order_[first, last)
    int64_t near_row = 0;         // the lowest of them
    int64_t right = 0;            // the right child; the left one follows the node; 0 for a leaf
    int64_t column = 0;
    double cut = 0;     // points up to it, by (value, row), are left
    int64_t panel = 0;  // of a leaf: where its numbers start
  };

  void grow(int64_t first, int64_t last, std::vector<Node>& nodes, std::vector<double>& boxes, Run& run);
  int64_t split(Node& node, const double* box);
  void lay_out_leaves(Run& run);
  double box_sum(const double* box, const double* x) const;
  void scan(const Node& leaf, const Distance& distance, const double* x, int64_t q, bool exclude_self,
            Best& best) const;

  Metric metric_;
  Term term_;
  const Rows& fitted_;
  int64_t leaf_size_;
  std::vector<int64_t> order_;
  std::vector<Node> nodes_;
  std::vector<double> boxes_;  // [node][column]: the lowest; and after all columns the highest
  svm::Aligned<double> panels_;
};

}  // namespace weald::neighbors
