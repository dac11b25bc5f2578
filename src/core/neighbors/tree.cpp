#include "core/neighbors/tree.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/base/simd.h"

namespace weald::neighbors {

namespace {

// Points of a leaf that are worked on together.
constexpr int64_t lanes = 4;
// Subtrees of at most so many rows are grown by one thread each.
constexpr int64_t subtree_rows = 1 << 14;

template <Term term, class T>
[[gnu::always_inline]] inline T plus(T sum, T d, double p) {
  if constexpr (term == Term::square) return sum + d * d;
  if constexpr (term == Term::absolute) return sum + d;
  if constexpr (term == Term::largest) return sum < d ? d : sum;
  T power = d, result = T{} + 1.0;
  for (int rest = static_cast<int>(p); rest > 0; rest >>= 1) {
    if ((rest & 1) != 0) result *= power;
    power *= power;
  }
  return sum + result;
}

// Sums of x with the points of a leaf, `n` of them (a multiple of lanes): [column][point].
template <Term term>
[[gnu::always_inline]] inline void leaf_sums(const double* x, const double* points, int64_t n, int64_t n_columns,
                                             double p, double* out) {
  typedef double V [[gnu::vector_size(32)]];
  for (int64_t i = 0; i < n; i += lanes) {
    V sum{};
    for (int64_t k = 0; k < n_columns; ++k) {
      V z;
      std::memcpy(&z, points + k * n + i, sizeof z);
      const V d = x[k] - z;
      sum = plus<term>(sum, d < 0 ? -d : d, p);
    }
    std::memcpy(out + i, &sum, sizeof sum);
  }
}

using LeafSums = void (*)(const double*, const double*, int64_t, int64_t, double, double*);
template <Term term>
void leaf_baseline(const double* x, const double* points, int64_t n, int64_t n_columns, double p, double* out) {
  leaf_sums<term>(x, points, n, n_columns, p, out);
}
template <Term term>
WEALD_TARGET_AVX2 void leaf_avx2(const double* x, const double* points, int64_t n, int64_t n_columns, double p,
                                 double* out) {
  leaf_sums<term>(x, points, n, n_columns, p, out);
}
template <Term term>
LeafSums leaf_sums_of() {
  return simd_level() == Simd::avx2 ? leaf_avx2<term> : leaf_baseline<term>;
}

void leaf_powers(const double* x, const double* points, int64_t n, int64_t n_columns, double p, double* out) {
  for (int64_t i = 0; i < n; ++i) {
    double sum = 0.0;
    for (int64_t k = 0; k < n_columns; ++k) sum += any_power(std::abs(x[k] - points[k * n + i]), p);
    out[i] = sum;
  }
}

LeafSums chosen(Term term) {
  switch (term) {
    case Term::square:
      return leaf_sums_of<Term::square>();
    case Term::absolute:
      return leaf_sums_of<Term::absolute>();
    case Term::largest:
      return leaf_sums_of<Term::largest>();
    case Term::whole:
      return leaf_sums_of<Term::whole>();
    default:
      return leaf_powers;
  }
}

int64_t padded_size(int64_t n) {
  return (n + lanes - 1) / lanes * lanes;
}

}  // namespace

Tree::Tree(const Metric& metric, const Rows& fitted, int64_t leaf_size, Run& run)
    : metric_(metric),
      term_(term_of(metric)),
      fitted_(fitted),
      leaf_size_(leaf_size),
      order_(static_cast<size_t>(fitted.n())) {
  std::iota(order_.begin(), order_.end(), int64_t{0});
  grow(0, fitted.n(), nodes_, boxes_, run);
  lay_out_leaves(run);
}

// Grows the subtree of some rows behind the nodes that are there. Large halves are grown side by side and then joined,
// so that nodes stand in preorder however many threads there are.
void Tree::grow(int64_t first, int64_t last, std::vector<Node>& nodes, std::vector<double>& boxes, Run& run) {
  const int64_t d = fitted_.points.n_columns;
  const size_t at = nodes.size();
  nodes.emplace_back();
  boxes.resize(boxes.size() + 2 * static_cast<size_t>(d));
  double* box = boxes.data() + static_cast<int64_t>(at) * 2 * d;
  std::fill_n(box, d, infinity);
  std::fill_n(box + d, d, -infinity);
  Node node;
  node.first = first;
  node.last = last;
  node.near_row = order_[static_cast<size_t>(first)];
  for (int64_t j = first; j < last; ++j) {
    const int64_t row = order_[static_cast<size_t>(j)];
    node.near_row = std::min(node.near_row, row);
    const double* point = fitted_.points.dense + row * d;
    for (int64_t k = 0; k < d; ++k) {
      box[k] = std::min(box[k], point[k]);
      box[d + k] = std::max(box[d + k], point[k]);
    }
  }
  if (last - first <= leaf_size_) {
    nodes[at] = node;
    return;
  }
  const int64_t middle = split(node, box);
  if (last - first <= subtree_rows) {
    grow(first, middle, nodes, boxes, run);
    node.right = static_cast<int64_t>(nodes.size() - at);
    grow(middle, last, nodes, boxes, run);
    nodes[at] = node;
    return;
  }
  std::vector<Node> halves[2];
  std::vector<double> half_boxes[2];
  parallel_for(run, 2, [&](int64_t half, int) {
    Run part(&run);
    grow(half == 0 ? first : middle, half == 0 ? middle : last, halves[half], half_boxes[half], part);
  });
  node.right = static_cast<int64_t>(halves[0].size()) + 1;
  nodes[at] = node;
  for (int half = 0; half < 2; ++half) {
    nodes.insert(nodes.end(), halves[half].begin(), halves[half].end());
    boxes.insert(boxes.end(), half_boxes[half].begin(), half_boxes[half].end());
  }
}

// Parts the rows of a node at the median of its widest column, by (value, row); rows all alike by row alone.
int64_t Tree::split(Node& node, const double* box) {
  const int64_t d = fitted_.points.n_columns;
  for (int64_t k = 1; k < d; ++k) {
    if (box[d + k] - box[k] > box[d + node.column] - box[node.column]) node.column = k;
  }
  const double* values = fitted_.points.dense + node.column;
  const auto before = [&](int64_t a, int64_t b) {
    const double x = values[a * d], z = values[b * d];
    return x < z || (x == z && a < b);
  };
  const int64_t middle = node.first + (node.last - node.first) / 2;
  std::nth_element(order_.begin() + node.first, order_.begin() + middle, order_.begin() + node.last, before);
  node.cut = values[order_[static_cast<size_t>(middle)] * d];
  return middle;
}

void Tree::lay_out_leaves(Run& run) {
  const int64_t d = fitted_.points.n_columns;
  std::vector<int64_t> leaves;
  int64_t size = 0;
  for (size_t at = 0; at < nodes_.size(); ++at) {
    Node& node = nodes_[at];
    if (node.right != 0) continue;
    std::sort(order_.begin() + node.first, order_.begin() + node.last);
    node.panel = size;
    size += padded_size(node.last - node.first) * d;
    leaves.push_back(static_cast<int64_t>(at));
  }
  panels_ = svm::Aligned<double>(static_cast<size_t>(size));
  constexpr int64_t together = 64;
  const auto n_leaves = static_cast<int64_t>(leaves.size());
  parallel_for(run, (n_leaves + together - 1) / together, [&](int64_t block, int) {
    for (int64_t each = block * together; each < std::min((block + 1) * together, n_leaves); ++each) {
      const Node& node = nodes_[static_cast<size_t>(leaves[static_cast<size_t>(each)])];
      const int64_t n = node.last - node.first, width = padded_size(n);
      for (int64_t j = 0; j < n; ++j) {
        const double* point = fitted_.points.dense + order_[static_cast<size_t>(node.first + j)] * d;
        for (int64_t k = 0; k < d; ++k) panels_.data()[node.panel + k * width + j] = point[k];
      }
    }
  });
}

int64_t Tree::leaf_of(const double* point) const {
  int64_t at = 0;
  while (nodes_[static_cast<size_t>(at)].right != 0) {
    const Node& node = nodes_[static_cast<size_t>(at)];
    at += point[node.column] < node.cut ? 1 : node.right;
  }
  return at;
}

// The sum of the nearest point that the box could have.
double Tree::box_sum(const double* box, const double* x) const {
  const int64_t d = fitted_.points.n_columns;
  double sum = 0.0;
  for (int64_t k = 0; k < d; ++k) {
    const double below = box[k] - x[k], above = x[k] - box[d + k];
    const double away = std::max(std::max(below, above), 0.0);
    switch (term_) {
      case Term::square:
        sum += away * away;
        break;
      case Term::absolute:
        sum += away;
        break;
      case Term::largest:
        sum = std::max(sum, away);
        break;
      case Term::whole:
        sum += whole_power(away, static_cast<int>(metric_.p));
        break;
      default:
        sum += any_power(away, metric_.p);
    }
  }
  // exp and log of our own are monotone only up to their error
  return term_ == Term::power ? sum * (1.0 - 1e-12) : sum;
}

void Tree::scan(const Node& leaf, const Distance& distance, const double* x, int64_t q, bool exclude_self,
                Best& best) const {
  const int64_t d = fitted_.points.n_columns, n = leaf.last - leaf.first, width = padded_size(n);
  double few[64];
  std::vector<double> many(width > 64 ? static_cast<size_t>(width) : 0);
  double* out = width > 64 ? many.data() : few;
  chosen(term_)(x, panels_.data() + leaf.panel, width, d, metric_.p, out);
  for (int64_t j = 0; j < n; ++j) {
    if (out[j] > best.farthest().sum) continue;
    const int64_t row = order_[static_cast<size_t>(leaf.first + j)];
    if (exclude_self && row == q) continue;
    best.offer(distance.has_categories() ? distance.with_categories(out[j], q, row) : out[j], row);
  }
}

void Tree::search(const Distance& distance, const Rows& queries, int64_t q, bool exclude_self, Best& best) const {
  struct Waiting {
    int64_t node;
    double sum;
  };
  Waiting stack[128];  // halves are halved: deeper than this no table goes
  int height = 0;
  const double* x = queries.points.dense + q * queries.points.n_columns;
  const int64_t box = 2 * fitted_.points.n_columns;
  stack[height++] = {0, 0.0};
  while (height > 0) {
    const Waiting next = stack[--height];
    const Node& node = nodes_[static_cast<size_t>(next.node)];
    const Neighbor& farthest = best.farthest();
    if (next.sum > farthest.sum || (next.sum == farthest.sum && node.near_row > farthest.row)) continue;
    if (node.right == 0) {
      scan(node, distance, x, q, exclude_self, best);
      continue;
    }
    const int64_t left = next.node + 1, right = next.node + node.right;
    const Waiting to_left{left, box_sum(boxes_.data() + left * box, x)};
    const Waiting to_right{right, box_sum(boxes_.data() + right * box, x)};
    const bool left_first = to_left.sum < to_right.sum || (to_left.sum == to_right.sum && x[node.column] < node.cut);
    stack[height++] = left_first ? to_right : to_left;
    stack[height++] = left_first ? to_left : to_right;
  }
}

}  // namespace weald::neighbors
