#include "core/tree/model/prune.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/check.h"
#include "core/base/mathematics.h"

namespace weald {

namespace {

size_t at(int32_t index) {
  return static_cast<size_t>(index);
}

// Per node; −1 for the root. Parents have lower numbers than their children.
std::vector<int32_t> parents_of(const TreeShape& tree) {
  const auto n = static_cast<int32_t>(tree.slot.size());
  std::vector<int32_t> parent(at(n), -1);
  for (int32_t t = 0; t < n; ++t) {
    const int32_t slot = tree.slot[at(t)];
    if (slot < 0) continue;
    require(at(slot) < tree.right.size(), "a node names an inner number that does not exist");
    const int32_t right = tree.right[at(slot)];
    require(right > t + 1 && right < n, "a right child does not follow its parent");
    parent[at(t + 1)] = t;
    parent[at(right)] = t;
  }
  return parent;
}

// ---- the sequence ------------------------------------------------------------------------------------------------

// The tree as blocks of inner nodes that are cut together. A block is named by its topmost node.
class Blocks {
 public:
  Blocks(const TreeShape& tree, std::span<const double> gain)
      : parent_(parents_of(tree)), joined_(tree.slot.size(), -1), gain_(tree.slot.size()), splits_(tree.slot.size()) {
    for (size_t t = 0; t < tree.slot.size(); ++t) {
      if (tree.slot[t] < 0) continue;
      gain_[t] = gain[at(tree.slot[t])];
      splits_[t] = 1;
    }
  }

  int32_t top(int32_t t) {
    while (joined_[at(t)] >= 0) {
      const int32_t above = joined_[at(t)];
      if (joined_[at(above)] >= 0) joined_[at(t)] = joined_[at(above)];
      t = above;
    }
    return t;
  }
  bool is_top(int32_t t) const { return joined_[at(t)] < 0; }
  int32_t parent(int32_t t) const { return parent_[at(t)]; }
  double gain(int32_t t) const { return gain_[at(t)]; }
  int32_t splits(int32_t t) const { return splits_[at(t)]; }
  double mean(int32_t t) const { return gain_[at(t)] / splits_[at(t)]; }

  void join(int32_t block, int32_t above) {
    joined_[at(block)] = above;
    gain_[at(above)] += gain_[at(block)];
    splits_[at(above)] += splits_[at(block)];
  }

 private:
  std::vector<int32_t> parent_, joined_;
  std::vector<double> gain_;
  std::vector<int32_t> splits_;
};

struct Waiting {
  double mean;
  int32_t top;
  // The heap gives the largest mean; of equals the deeper block, so that it joins its ancestor before that is settled.
  bool operator<(const Waiting& other) const { return mean < other.mean || (mean == other.mean && top < other.top); }
};

}  // namespace

// The sequence is found from its end. Take the block of the largest mean gain of all. If the block above it is settled,
// or it holds the root, nothing that is left outlasts it: its cut comes after all others still to be found, and it is
// settled. If not, it outlasts the node above, and so goes when that goes: the two join. Each step settles a block or
// joins two; a block that changes leaves its old entry in the heap, to be passed over.
PruneSequence prune_sequence(const TreeShape& tree, std::span<const double> gain, Run& run) {
  const auto n = static_cast<int32_t>(tree.slot.size());
  require(gain.size() == tree.right.size(), "one gain per inner node");
  Blocks blocks(tree, gain);
  std::vector<Waiting> heap;
  heap.reserve(2 * gain.size());
  for (int32_t t = 0; t < n; ++t) {
    if (tree.slot[at(t)] >= 0) heap.push_back({blocks.mean(t), t});
  }
  std::make_heap(heap.begin(), heap.end());
  std::vector<uint8_t> settled(at(n), 0);
  PruneSequence out;
  out.collapse.assign(at(n), 0.0);
  double last = std::numeric_limits<double>::infinity();
  for (int64_t step = 0; !heap.empty(); ++step) {
    if (step % 4096 == 0) run.check();
    std::pop_heap(heap.begin(), heap.end());
    const auto [mean, t] = heap.back();
    heap.pop_back();
    if (!blocks.is_top(t) || settled[at(t)] != 0 || mean != blocks.mean(t)) continue;
    const int32_t above = t == 0 ? -1 : blocks.top(blocks.parent(t));
    if (above >= 0 && settled[at(above)] == 0) {
      blocks.join(t, above);
      heap.push_back({blocks.mean(above), above});
      std::push_heap(heap.begin(), heap.end());
      continue;
    }
    settled[at(t)] = 1;
    last = std::min(last, mean);  // the mean of a union can pass those of its parts by a rounding
    out.collapse[at(t)] = last;
    out.node.push_back(t);
    out.alpha.push_back(last);
    out.gain.push_back(blocks.gain(t));
    out.splits.push_back(blocks.splits(t));
  }
  for (int32_t t = 0; t < n; ++t) {
    if (tree.slot[at(t)] >= 0) out.collapse[at(t)] = out.collapse[at(blocks.top(t))];
  }
  std::reverse(out.node.begin(), out.node.end());
  std::reverse(out.alpha.begin(), out.alpha.end());
  std::reverse(out.gain.begin(), out.gain.end());
  std::reverse(out.splits.begin(), out.splits.end());
  return out;
}

// ---- losses ------------------------------------------------------------------------------------------------------

namespace {

// A sum with the part that its rounding lost: losses that cancel do so to the last bit, and ties stay ties.
struct Sum {
  double high = 0, low = 0;
  void add(double x) {
    const double sum = high + x;
    low += std::abs(high) >= std::abs(x) ? (high - sum) + x : (x - sum) + high;
    high = sum;
  }
  double value() const { return high + low; }
};

// loss(row, node) → double
template <class Loss>
std::vector<double> losses(const TreeShape& tree, const HeldOut& rows, const Loss& loss, Run& run) {
  const auto n = static_cast<int32_t>(tree.slot.size());
  const auto n_candidates = static_cast<int32_t>(rows.alphas.size());
  const std::vector<int32_t> parent = parents_of(tree);
  require(rows.collapse.size() == at(n) && rows.weight.size() == rows.leaf.size(), "held-out rows do not fit the tree");
  // A node predicts for the candidates from first[node] on, up to first[parent]. `climb` skips nodes with none.
  std::vector<int32_t> first(at(n)), serving(at(n)), end(at(n), n_candidates), climb(at(n), -1);
  for (int32_t t = 0; t < n; ++t) {
    const auto place = std::lower_bound(rows.alphas.begin(), rows.alphas.end(), rows.collapse[at(t)]);
    first[at(t)] = static_cast<int32_t>(place - rows.alphas.begin());
    const int32_t above = parent[at(t)];
    if (above >= 0) {
      end[at(t)] = first[at(above)];
      climb[at(t)] = serving[at(above)];
    }
    serving[at(t)] = first[at(t)] < end[at(t)] ? t : climb[at(t)];
  }
  std::vector<Sum> of_node(at(n));
  for (size_t i = 0; i < rows.leaf.size(); ++i) {
    if (i % 4096 == 0) run.check();
    require(rows.leaf[i] >= 0 && rows.leaf[i] < n, "a row comes to a leaf that does not exist");
    for (int32_t t = serving[at(rows.leaf[i])]; t >= 0; t = climb[at(t)])
      of_node[at(t)].add(rows.weight[i] * loss(i, t));
  }
  std::vector<Sum> change(at(n_candidates) + 1);
  for (int32_t t = 0; t < n; ++t) {
    if (first[at(t)] >= end[at(t)]) continue;
    for (const double part : {of_node[at(t)].high, of_node[at(t)].low}) {
      change[at(first[at(t)])].add(part);
      change[at(end[at(t)])].add(-part);
    }
  }
  std::vector<double> out;
  Sum total;
  for (int32_t k = 0; k < n_candidates; ++k) {
    total.add(change[at(k)].high);
    total.add(change[at(k)].low);
    out.push_back(std::max(0.0, total.value()));
  }
  return out;
}

// Half the Poisson deviance of one target, equation 6; natural logarithms.
double half_deviance(double y, double mean) {
  constexpr double ln2 = 0.693147180559945309417;
  if (y < std::numeric_limits<double>::min()) return mean;
  return y * ((log2(y) - log2(mean)) * ln2) - y + mean;
}

}  // namespace

std::vector<double> held_out_class_losses(const TreeShape& tree, const HeldOut& rows, std::span<const int32_t> lane,
                                          std::span<const double> table, Run& run) {
  const auto outputs = static_cast<size_t>(rows.n_outputs);
  const size_t lanes = table.size() / tree.slot.size();
  require(lane.size() == rows.leaf.size() * outputs, "one label per row and output");
  for (const int32_t label : lane) require(label >= 0 && at(label) < lanes, "a label has no column in the table");
  return losses(
      tree, rows,
      [&](size_t row, int32_t node) {
        double loss = 0;
        for (size_t k = 0; k < outputs; ++k) loss += table[at(node) * lanes + at(lane[row * outputs + k])];
        return loss;
      },
      run);
}

std::vector<double> held_out_number_losses(const TreeShape& tree, const HeldOut& rows, std::span<const double> target,
                                           std::span<const double> value, NumberLoss loss, double floor, Run& run) {
  const auto outputs = static_cast<size_t>(rows.n_outputs);
  require(target.size() == rows.leaf.size() * outputs, "one target per row and output");
  require(value.size() == tree.slot.size() * outputs, "one value per node and output");
  const auto by = [&](auto one) {
    return losses(
        tree, rows,
        [&](size_t row, int32_t node) {
          double sum = 0;
          for (size_t k = 0; k < outputs; ++k) sum += one(target[row * outputs + k], value[at(node) * outputs + k]);
          return sum;
        },
        run);
  };
  switch (loss) {
    case NumberLoss::squared:
      return by([](double y, double v) { return (y - v) * (y - v); });
    case NumberLoss::absolute:
      return by([](double y, double v) { return std::abs(y - v); });
    case NumberLoss::poisson:
      return by([floor](double y, double v) { return half_deviance(y, std::max(v, floor)); });
  }
  throw BrokenInvariant("no such loss");
}

}  // namespace weald
