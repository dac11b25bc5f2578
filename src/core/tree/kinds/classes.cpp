#include <cmath>
#include <optional>

#include "core/tree/kinds/class_growers.h"
#include "core/tree/kinds/input.h"
#include "core/tree/kinds/made.h"
#include "core/tree/kinds/tree.h"

namespace weald {

namespace {

// The weights of a bag in which the classes of an output have equal weight: w · Π total / (classes · weight of the
// row's class), in units of 2^-shift of those of w.
std::vector<int64_t> balanced(const ClassTarget& target, const std::vector<int64_t>& weights, int& shift) {
  const size_t n_outputs = target.output_start.size() - 1, n_rows = weights.size();
  std::vector<int64_t> of_class(static_cast<size_t>(target.output_start.back()), 0);
  int64_t total = 0;
  for (size_t row = 0; row < n_rows; ++row) {
    total += weights[row];
    for (size_t o = 0; o < n_outputs; ++o)
      of_class[static_cast<size_t>(target.lane[row * n_outputs + o])] += weights[row];
  }
  std::vector<double> real(n_rows);
  double sum = 0;
  for (size_t row = 0; row < n_rows; ++row) {
    real[row] = static_cast<double>(weights[row]);
    for (size_t o = 0; weights[row] > 0 && o < n_outputs; ++o) {
      const int n_classes = target.output_start[o + 1] - target.output_start[o];
      const auto in_class = static_cast<double>(of_class[static_cast<size_t>(target.lane[row * n_outputs + o])]);
      real[row] *= static_cast<double>(total) / (n_classes * in_class);
    }
    sum += real[row];
  }
  constexpr int sum_bits = 61, most_bits = 40;
  shift = std::min(most_bits, sum_bits - std::ilogb(sum) - 1);
  std::vector<int64_t> out(n_rows);
  for (size_t row = 0; row < n_rows; ++row) {
    out[row] = std::max<int64_t>(weights[row] > 0, std::llrint(std::ldexp(real[row], shift)));
  }
  return out;
}

void check(const Codes& codes, const ClassTarget& target) {
  const size_t n_outputs = target.output_start.size() - 1;
  const auto n_rows = static_cast<size_t>(codes.n_rows);
  require(target.lane.size() == n_rows * n_outputs, "one class per row and output");
  require(target.weights.empty() || target.weights.size() == n_rows, "one weight per row");
  for (size_t i = 0; i < target.lane.size(); ++i) {
    const size_t output = i % n_outputs;
    require(target.lane[i] >= target.output_start[output] && target.lane[i] < target.output_start[output + 1],
            "class out of range");
  }
}

// From here on a node looks at the classes of its own rows alone. Below, that costs more than it saves.
constexpr int many_lanes = 256;

}  // namespace

void check_room(const TreeArrays& tree, int n_lanes, int64_t n_trees, int64_t bytes) {
  const auto n_leaves = static_cast<double>(tree.slot.size() - tree.column.size());
  const double needed = n_leaves * n_lanes * sizeof(double) * static_cast<double>(n_trees);
  if (needed <= static_cast<double>(bytes)) return;
  const auto gigabytes = [](double n) { return std::to_string(std::llround(n / 1e9)) + " GB"; };
  throw TooLarge("a tree with " + std::to_string(std::llround(n_leaves)) + " leaves has a share of each of " +
                 std::to_string(n_lanes) + " classes in every leaf: " + std::to_string(n_trees) +
                 (n_trees == 1 ? " tree takes about " : " trees take about ") + gigabytes(needed) + ", where at most " +
                 gigabytes(static_cast<double>(bytes)) +
                 " are there for them. Set max_depth, max_leaf_nodes or min_samples_leaf, grow fewer trees, or merge "
                 "rare classes");
}

namespace {

// Unit weights, two classes: counts of the bag, or labels alone.
TreeArrays grow_counted(const TreeCall& call, const ClassTarget& target, std::vector<uint32_t> ids, int64_t total,
                        const Spread& spread, ClassCriterion criterion) {
  const size_t n_rows = target.lane.size();
  if (call.counts.empty()) {
    const std::vector<uint8_t> labels(target.lane.begin(), target.lane.end());
    return grow_two(call, std::move(ids), LabelRows{labels.data()}, total, spread, criterion);
  }
  std::vector<uint64_t> words(n_rows);
  for (size_t row = 0; row < n_rows; ++row) {
    words[row] = uint64_t{call.counts[row]} << (target.lane[row] != 0 ? 32 : 0);
  }
  return grow_two(call, std::move(ids), BagRows{words.data()}, total, spread, criterion);
}

// The weights of a tree's rows; empty: all 1.
std::vector<int64_t> weights_of(const TreeCall& call, const ClassTarget& target) {
  if (!target.weights.empty()) return times_counts(target.weights, call.counts);
  std::vector<int64_t> weights;
  if (!target.balance && call.counts.empty()) return weights;
  weights.assign(static_cast<size_t>(call.codes.n_rows), 1);
  for (size_t row = 0; row < call.counts.size(); ++row) weights[row] = call.counts[row];
  return weights;
}

// Weights of any kind, two classes or more.
TreeArrays grow_weighted(TreeCall& call, const ClassTarget& target, std::vector<uint32_t> ids, const Bags* bags,
                         Spread spread, ClassCriterion criterion) {
  const int n_lanes = target.output_start.back();
  std::vector<int64_t> weights = weights_of(call, target);
  int shift = 0;
  if (target.balance) weights = balanced(target, weights, shift);
  const int64_t total =
      weights.empty() ? call.codes.n_rows : std::accumulate(weights.begin(), weights.end(), int64_t{0});
  take_share(call.options, bags, total);
  spread.weight_power = spread.score_power = target.weight_power - shift;
  TreeArrays tree;
  if (spread.n_outputs == 1 && n_lanes == 2) {
    std::vector<int64_t> pairs(2 * weights.size(), 0);
    for (size_t row = 0; row < weights.size(); ++row) {
      pairs[2 * row + static_cast<size_t>(target.lane[row])] = weights[row];
    }
    tree = grow_two(call, std::move(ids), PairRows{pairs.data()}, total, spread, criterion);
  } else {
    ClassRows rows{target.lane.data(), weights.empty() ? nullptr : weights.data(), spread.n_outputs, n_lanes,
                   n_lanes >= many_lanes};
    tree = grow_many(call, std::move(ids), std::move(rows), total, spread, target.output_start, criterion);
  }
  tree.shift = {shift};
  return tree;
}

class ClassKind final : public StatisticKind {
 public:
  ClassKind(std::vector<int> output_start, bool weighted, int weight_power, bool drawn, int64_t most,
            ClassCriterion criterion)
      : StatisticKind(output_start.size() - 1, 0, static_cast<size_t>(output_start.back()), weighted,
                      !weighted && output_start.size() == 2 && output_start.back() == 2 && most < (int64_t{1} << 31)),
        output_start_(std::move(output_start)),
        weight_power_(weight_power),
        drawn_(drawn),
        most_(most),
        criterion_(criterion) {}

  MadeStatistic make(const StatisticRows& rows, Run& run) const override {
    MadeStatistic made;
    const Codes none;
    const TreeCall call{none, rows.count, {}, nullptr, run, &made};
    Spread spread;
    spread.n_outputs = static_cast<int>(n_outputs());
    spread.factor = 1.0 / spread.n_outputs;
    spread.weight_power = spread.score_power = weight_power_;
    const bool two = n_outputs() == 1 && n_lanes() == 2;
    if (two && !weighted()) {
      drawn_ ? grow_two(call, {}, BagRows{owned_words(rows)}, most_, spread, criterion_)
             : grow_two(call, {}, LabelRows{owned_labels(rows)}, most_, spread, criterion_);
      return made;
    }
    const std::vector<int64_t> weights = weights_of_rows(rows);
    if (two) {
      std::vector<int64_t> pairs(2 * weights.size(), 0);
      for (size_t i = 0; i < weights.size(); ++i) pairs[2 * i + static_cast<size_t>(rows.lane[i])] = weights[i];
      grow_two(call, {}, PairRows{Buffer<int64_t>::owned(pairs)}, most_, spread, criterion_);
      return made;
    }
    const auto lanes = static_cast<int>(n_lanes());
    ClassRows of_rows{Buffer<int32_t>::owned(rows.lane), Buffer<int64_t>::owned(weights), spread.n_outputs, lanes,
                      lanes >= many_lanes};
    grow_many(call, {}, std::move(of_rows), most_, spread, output_start_, criterion_);
    return made;
  }

 private:
  static Buffer<uint8_t> owned_labels(const StatisticRows& rows) {
    return Buffer<uint8_t>::owned(std::vector<uint8_t>(rows.lane.begin(), rows.lane.end()));
  }
  static Buffer<uint64_t> owned_words(const StatisticRows& rows) {
    std::vector<uint64_t> words(rows.lane.size());
    for (size_t i = 0; i < words.size(); ++i) words[i] = uint64_t{rows.count[i]} << (rows.lane[i] != 0 ? 32 : 0);
    return Buffer<uint64_t>::owned(words);
  }
  std::vector<int64_t> weights_of_rows(const StatisticRows& rows) const {
    std::vector<int64_t> weights(rows.lane.size() / n_outputs(), 1);
    for (size_t i = 0; i < weights.size(); ++i) {
      if (!rows.weight.empty()) weights[i] = rows.weight[i];
      if (!rows.count.empty()) weights[i] *= rows.count[i];
    }
    return weights;
  }

  std::vector<int> output_start_;
  int weight_power_;
  bool drawn_;
  int64_t most_;
  ClassCriterion criterion_;
};

}  // namespace

std::unique_ptr<StatisticKind> class_kind(std::vector<int> output_start, bool weighted, int weight_power, bool drawn,
                                          int64_t most, ClassCriterion criterion) {
  return std::make_unique<ClassKind>(std::move(output_start), weighted, weight_power, drawn, most, criterion);
}

TreeArrays grow_class_trees(const Codes& codes, const ClassTarget& target, ClassCriterion criterion,
                            const GrowOptions& options, const Bags* bags, Run& run) {
  check(codes, target);
  const int n_lanes = target.output_start.back();
  const auto n_outputs = static_cast<int>(target.output_start.size()) - 1;
  const std::vector<uint32_t> present = present_rows(codes.n_rows, target.weights);
  Spread spread;
  spread.n_outputs = n_outputs;
  spread.factor = 1.0 / n_outputs;
  spread.weight_power = spread.score_power = target.weight_power;
  const bool counted = n_outputs == 1 && n_lanes == 2 && target.weights.empty() && !target.balance;
  std::optional<RowsByClass> by_class;
  if (bags != nullptr && !bags->class_draws.empty()) {
    require(n_outputs == 1, "classes are drawn apart for one output");
    by_class.emplace(target.lane, present, static_cast<size_t>(n_lanes));
    check_draws(*bags, *by_class);
  }
  const BagSource source{present, by_class ? &*by_class : nullptr};
  return grow_trees(codes, bags, source, options, n_lanes < many_lanes, run, [&](TreeCall call) {
    std::vector<uint32_t> ids = drawn_rows(present, call.counts);
    if (counted) {
      const int64_t total =
          call.counts.empty() ? codes.n_rows : std::accumulate(call.counts.begin(), call.counts.end(), int64_t{0});
      take_share(call.options, bags, total);
      return grow_counted(call, target, std::move(ids), total, spread, criterion);
    }
    TreeArrays tree = grow_weighted(call, target, std::move(ids), bags, spread, criterion);
    check_room(tree, n_lanes, bags == nullptr ? 1 : bags->n_trees, options.value_bytes);
    return tree;
  });
}

}  // namespace weald
