// Growing the trees of a forest whose nodes draw their columns: nothing is carried from a node to its children, so that
// a tree is grown by one thread from the root down to the leaves, in preorder, straight into its arrays. The same
// trees, to the bit, as Grower's (grow/grower.h), which takes over where DrawnTable::fits says no.
// Small nodes are grown as parts, whose rows are numbered and whose columns are copied together (scopes.h). Why there
// are two growers: docs/decisions/0015-two-growers.md.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/mathematics.h"
#include "core/base/random.h"
#include "core/tree/grow/node_numbers.h"
#include "core/tree/grow_drawn/columns.h"
#include "core/tree/grow_drawn/scopes.h"
#include "core/tree/grow_drawn/splits.h"
#include "core/tree/grow_drawn/sums.h"
#include "core/tree/grow_drawn/table.h"
#include "core/tree/grow_drawn/together.h"
#include "core/tree/model/forest.h"
#include "core/tree/rows/tree_orders.h"
#include "core/tree/split/categorical.h"
#include "core/tree/split/feeds.h"
#include "core/tree/split/gain.h"
#include "core/tree/split/gini_filter.h"
#include "core/tree/split/random.h"
#include "core/tree/split/split.h"

namespace weald {

template <class Rows, class Criterion>
class DrawnGrower {
 public:
  // `ids`: the rows to grow on, ascending.
  DrawnGrower(const DrawnTable& table, std::vector<uint32_t> ids, const Rows& rows, const Criterion& criterion,
              const Spread& spread, const GrowOptions& options, Run& run);

  // Into `memory`, arrays that are empty. Without `rows` and `leaf_start`, `lower` and `upper`, `code`; lanes of leaves
  // alone if only their means are asked for.
  TreeArrays grow(TreeArrays&& memory);

 private:
  static constexpr int N = Rows::fixed_lanes;
  static constexpr bool summed = N == 2;  // what a row brings is one value (sums.h)
  static constexpr bool gini = std::is_same_v<Criterion, GiniTwo>;
  static constexpr int64_t few_rows = 16;
  using Sum = std::conditional_t<summed, RowSum<Rows>, uint64_t>;

  using Scope = DrawnScope;
  using View = DrawnView;
  struct Node {
    uint32_t begin, end;
    int32_t parent_slot;  // inner slot whose right child this is; −1: a left child, or the root
    int64_t depth;
    uint64_t path;
    double score;
    double impurity = 0;
    size_t size() const { return end - begin; }
  };

  void grow_nodes(Scope& scope, Node root);
  void grow_part(Scope& whole, const Node& root);
  bool is_leaf(const Scope& scope, const Node& node) const;
  void write_node(const Scope& scope, const Node& node, bool leaf);
  void push_children(const Node& node, size_t n_left);
  std::span<uint32_t> ids_of(Scope& scope, const Node& node) { return {scope.ids.data() + node.begin, node.size()}; }
  std::span<const uint32_t> ids_of(const Scope& scope, const Node& node) const {
    return {scope.ids.data() + node.begin, node.size()};
  }

  bool search(Scope& scope, const Node& node);
  bool unbeatable(const Node& node) const;
  void sum_rows(const Scope& scope, std::span<const uint32_t> ids);
  bool columns_together() const;
  size_t search_together(const Draws& draws, size_t asked, const Scope& scope, const Node& node);
  void take_threshold(int32_t j, const Sum& left, double threshold);
  void search_column(int32_t j, Scope& scope, const Node& node);
  void search_ordered(int32_t j, const View& view, Scope& scope, const Node& node);
  void search_sums(int32_t j, const View& view, Scope& scope, const Node& node);
  struct BestSum {
    double score;
    size_t at;  // the size of the list: none yet
    Sum left = {};
  };
  void scan_sums(int32_t j, const Node& node);
  void scan_filtered(BestSum& found);
  void attempt(const Sum& sum, size_t k, BestSum& found) const;
  void take_sum(int32_t j, const BestSum& found);
  int64_t weight_of(const Sum& sum) const;
  bool within_limits(const Sum& left, int64_t n_left, int64_t n) const;
  template <class Value>
  void search_values(int32_t j, const Value* values, size_t stride, Scope& scope, const Node& node);
  template <class Value>
  Sum left_sum(Value most, std::span<const Value> values) const;
  void search_drawn(int32_t j, const View& view, Scope& scope, const Node& node);
  void offer(int32_t j, double score, const int64_t* left);
  // What a candidate has to exceed. A tie passes: who wins it costs more to tell than most candidates are worth.
  double bar() const { return best_.found() ? next_below(best_.score) : best_.score; }
  bool wins_ties(int32_t j) const { return best_.ties.prefers(j, best_.column); }
  bool loses(int32_t j, double score) const { return score == best_.score && !wins_ties(j); }
  size_t write_split(Scope& scope, const Node& node);
  const Rows& rows_of(const Scope& scope) const { return *rows_[scope.level]; }

  const DrawnTable& table_;
  DrawnScopes scopes_;
  std::array<const Rows*, DrawnScopes::n_levels + 1> rows_{};  // of the scope of each level
  const Criterion& criterion_;
  const GrowOptions& options_;
  Run& run_;
  int n_lanes_;
  Limits limits_;
  bool counted_;  // a limit asks for rows, and weights do not tell them
  int64_t tree_weight_ = 0;
  TreeArrays out_;
  int32_t n_leaves_ = 0;
  uint64_t n_searched_ = 0;

  std::vector<Node> stack_;
  std::vector<int64_t> lane_stack_;   // lanes of the nodes there
  std::vector<int64_t> lanes_;        // of the node at hand
  std::vector<double> score_of_few_;  // unit weights: the scores of up to few_rows rows, by the counts of both classes
  Split best_;
  Draws words_{0, Purpose::random_split, 0};  // of the columns of the node at hand
  Scan<Criterion, N> scan_;
  PresentCategories present_;
  std::vector<TreeOrder> orders_;  // per column, if they are asked for
  DrawnColumns drawn_;
  CodeSums<Sum> sums_;
  bool halved_ = false;  // thresholds are drawn, and no row counts often: of_row_ is in halves_ instead
  std::vector<uint32_t> halves_;
  bool together_ = false;     // columns_together(): small nodes look at all their columns at once
  std::vector<float> cells_;  // of the node at hand, for that
  size_t best_together_ = 0;  // which of them the best split is of; `most`: none
  std::vector<Sum> left_;     // of the candidates of a column
  std::vector<Sum> of_row_;   // of the rows of the node at hand
  std::tuple<std::vector<float>, std::vector<double>> values_;  // of the rows of the node at hand
  std::vector<Entry> entries_, scratch_;
  DrawnSplits splits_;
};

template <class Rows, class Criterion>
DrawnGrower<Rows, Criterion>::DrawnGrower(const DrawnTable& table, std::vector<uint32_t> ids, const Rows& rows,
                                          const Criterion& criterion, const Spread& spread, const GrowOptions& options,
                                          Run& run)
    : table_(table),
      scopes_(table, std::move(ids), spread, options.random),
      criterion_(criterion),
      options_(options),
      run_(run),
      n_lanes_(rows.lanes()),
      limits_{options.min_rows_leaf, options.min_weight_leaf},
      counted_(!Rows::unit_weights && options.min_rows_leaf > 1),
      lanes_(static_cast<size_t>(n_lanes_)),
      scan_(criterion, n_lanes_, limits_),
      drawn_(table.columns.size()),
      splits_(scopes_.whole().ids.size()) {
  rows_[0] = &rows;
  if constexpr (Rows::unit_weights) {
    score_of_few_.resize((few_rows + 1) * (few_rows + 1), 0.0);
    for (int64_t zero = 0; zero <= few_rows; ++zero) {
      for (int64_t one = zero == 0 ? 1 : 0; zero + one <= few_rows; ++one) {
        const int64_t counts[] = {zero, one};
        score_of_few_[static_cast<size_t>(zero * (few_rows + 1) + one)] = criterion.score(counts);
      }
    }
  }
}

template <class Rows, class Criterion>
TreeArrays DrawnGrower<Rows, Criterion>::grow(TreeArrays&& memory) {
  out_ = std::move(memory);
  out_.set_start.push_back(0);
  out_.combination_start.push_back(0);
  const Rows& rows = *rows_[0];
  const std::span<const uint32_t> ids = scopes_.whole().ids;
  std::vector<int64_t> lanes(static_cast<size_t>(n_lanes_), 0);
  for (const uint32_t row : ids) rows.add(row, lanes.data());
  if constexpr (Rows::packed) {
    halved_ = options_.random && std::all_of(ids.begin(), ids.end(), [&](uint32_t row) {
                return weight_of(row_sum(rows, row)) <= most_halved;
              });
  }
  together_ = columns_together();
  if (wants_tree_orders(options_)) orders_ = tree_orders(table_.columns, ids, rows, criterion_);
  tree_weight_ = criterion_.weight(lanes.data());
  lane_stack_ = lanes;
  const Node root{0, static_cast<uint32_t>(ids.size()), -1, 0, 0, criterion_.score(lanes.data())};
  grow_nodes(scopes_.whole(), root);
  scopes_.finish();
  return std::move(out_);
}

template <class Rows, class Criterion>
bool DrawnGrower<Rows, Criterion>::columns_together() const {
  const size_t n = table_.columns.size();
  const auto is_narrow = [](const DrawnColumn& column) { return column.narrow != nullptr; };
  const auto asked = static_cast<size_t>(options_.max_columns > 0 ? options_.max_columns : static_cast<int64_t>(n));
  return halved_ && !limits_.bind() && std::min(asked, n) <= ColumnsTogether::most &&
         table_.rows_of_words.columns.size() == n && scopes_.part_rows(1) <= halved_rows &&
         std::all_of(table_.columns.begin(), table_.columns.end(), is_narrow);
}

// The subtree of `root`, whose lanes are on top of their stack.
template <class Rows, class Criterion>
void DrawnGrower<Rows, Criterion>::grow_nodes(Scope& scope, Node root) {
  const size_t bottom = stack_.size();
  stack_.push_back(root);
  while (stack_.size() > bottom) {
    Node node = stack_.back();
    stack_.pop_back();
    if (scope.level < DrawnScopes::n_levels && node.size() <= scopes_.part_rows(scope.level)) {
      grow_part(scope, node);
      continue;
    }
    std::copy(lane_stack_.end() - n_lanes_, lane_stack_.end(), lanes_.begin());
    lane_stack_.resize(lane_stack_.size() - static_cast<size_t>(n_lanes_));
    node.impurity = node_impurity(*scope.spread, ids_of(scope, node), node.score, criterion_.weight(lanes_.data()));
    const bool split = !is_leaf(scope, node) && search(scope, node);
    write_node(scope, node, !split);
    if (split) push_children(node, write_split(scope, node));
  }
}

template <class Rows, class Criterion>
void DrawnGrower<Rows, Criterion>::grow_part(Scope& whole, const Node& root) {
  const std::span<const uint32_t> ids = ids_of(whole, root);
  const Rows rows = rows_of(whole).gather(ids);
  const Spread spread = whole.spread->gather(ids);
  Scope& part = scopes_.make_part(whole, ids, spread);
  rows_[part.level] = &rows;
  Node node = root;
  node.begin = 0;
  node.end = static_cast<uint32_t>(ids.size());
  grow_nodes(part, node);
}

template <class Rows, class Criterion>
bool DrawnGrower<Rows, Criterion>::is_leaf(const Scope& scope, const Node& node) const {
  return too_small(options_, node.depth, static_cast<int64_t>(node.size()), criterion_.weight(lanes_.data())) ||
         criterion_.pure(lanes_.data()) ||
         (scope.spread->means && rows_alike(rows_of(scope), criterion_, ids_of(scope, node)));
}

// Flat: appending to a vector is a few instructions, and a call if it is not asked for.
template <class Rows, class Criterion>
[[gnu::flatten]] void DrawnGrower<Rows, Criterion>::write_node(const Scope& scope, const Node& node, bool leaf) {
  const auto ids = ids_of(scope, node);
  const int64_t weight = criterion_.weight(lanes_.data());
  if (node.parent_slot >= 0) {
    out_.right[static_cast<size_t>(node.parent_slot)] = static_cast<int32_t>(out_.slot.size());
  }
  out_.slot.push_back(leaf ? ~n_leaves_++ : static_cast<int32_t>(out_.column.size()));
  out_.weight.push_back(static_cast<double>(weight));
  out_.count.push_back(static_cast<int64_t>(node.size()));
  out_.impurity.push_back(node.impurity);
  if (!options_.leaf_means_only) {
    out_.lanes.insert(out_.lanes.end(), lanes_.begin(), lanes_.end());
  } else if (leaf && !scope.spread->target) {
    for (const int64_t lane : lanes_) out_.shares.push_back(static_cast<double>(lane) / static_cast<double>(weight));
  }
  for (size_t o = 0; scope.spread->target && o < static_cast<size_t>(scope.spread->n_outputs); ++o) {
    const bool asked = leaf || !options_.leaf_means_only;
    out_.means.push_back(asked ? mean_target(rows_of(scope), criterion_, *scope.spread, ids, o, weight) : 0.0);
  }
}

template <class Rows, class Criterion>
[[gnu::flatten]] void DrawnGrower<Rows, Criterion>::push_children(const Node& node, size_t n_left) {
  const auto middle = node.begin + static_cast<uint32_t>(n_left);
  const auto slot = static_cast<int32_t>(out_.column.size()) - 1;
  Node left{node.begin, middle, -1, node.depth + 1, draw(node.path, Purpose::node_path, 0), 0};
  Node right{middle, node.end, slot, node.depth + 1, draw(node.path, Purpose::node_path, 1), 0};
  left.score = criterion_.score(best_.left.data());
  for (size_t l = 0; l < lanes_.size(); ++l) lanes_[l] -= best_.left[l];
  right.score = criterion_.score(lanes_.data());
  stack_.push_back(right);
  stack_.push_back(left);
  lane_stack_.insert(lane_stack_.end(), lanes_.begin(), lanes_.end());
  lane_stack_.insert(lane_stack_.end(), best_.left.begin(), best_.left.end());
}

// Writes the best split and parts the rows by it. Returns how many go left.
template <class Rows, class Criterion>
size_t DrawnGrower<Rows, Criterion>::write_split(Scope& scope, const Node& node) {
  const auto at = static_cast<size_t>(best_.column);
  const int64_t left_weight = criterion_.weight(best_.left.data());
  const bool heavier_left = left_weight >= criterion_.weight(lanes_.data()) - left_weight;
  const Spread& spread = *scope.spread;
  const double gain = std::ldexp(std::max(0.0, best_.gain(node.score)), spread.score_power) * spread.factor;
  const float* together = best_together_ < ColumnsTogether::most ? cells_.data() + best_together_ : nullptr;
  return splits_.write(table_.columns[at], scope.views[at], best_, heavier_left, gain, together, ids_of(scope, node),
                       out_);
}

}  // namespace weald

#include "core/tree/grow_drawn/search.h"
