#include "core/tree/grow/growing_tree.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/tree/rows/tree_orders.h"

namespace weald {

namespace {

double threshold_of(const GrowColumn& column, const Split& split) {
  if (split.next_code != 0 && split.drawn) return split.threshold;
  return threshold_between(column.kind, column.marks, split.code, split.next_code);
}

// The largest code that goes left. Between the neighbouring values of a node there may be values of rows elsewhere.
uint32_t last_code(const GrowColumn& column, const Split& split, double threshold) {
  if (split.next_code == 0) return column.n_codes;
  if (column.kind != ColumnKind::exact) return split.code;
  const double* first = column.marks + split.code - 1;
  const double* last = column.marks + split.next_code - 1;
  return split.code + static_cast<uint32_t>(std::upper_bound(first, last, threshold) - first) - 1;
}

}  // namespace

GrowingTree::GrowingTree(std::vector<GrowColumn> columns, std::unique_ptr<Statistic> statistic,
                         const GrowOptions& options, const RowSquares& squares, Place place)
    : columns_(std::move(columns)),
      statistic_(std::move(statistic)),
      options_(options),
      row_squares_(squares),
      place_(std::move(place)),
      column_rules_(options, columns_.size()),
      n_lanes_(statistic_->kind().n_lanes),
      counted_(!statistic_->kind().unit_weights && (options.min_rows_leaf > 1 || statistic_->kind().may_be_zero)) {
  tree_.n_lanes = n_lanes_;
}

void GrowingTree::add_record(const GrowNode& node, std::span<const uint32_t> ids, const int64_t* lanes) {
  const double score = statistic_->score(node, ids, lanes, options_.leaf_means_only, tree_.means);
  push_record(node, lanes, score, node_impurity(statistic_->spread(), ids, score, statistic_->weight(lanes)));
}

void GrowingTree::add_told_record(const GrowNode& node, int64_t squares, const int64_t* lanes) {
  const double score = statistic_->score(node, {}, lanes, true, tree_.means);
  push_record(node, lanes, score, node_impurity(statistic_->spread(), squares, score, statistic_->weight(lanes)));
}

void GrowingTree::push_record(const GrowNode& node, const int64_t* lanes, double score, double impurity) {
  NodeRecord record;
  record.n_rows = static_cast<int64_t>(node.size());
  record.weight = statistic_->weight(lanes);
  record.score = score;
  record.begin = node.begin;
  record.in_second = node.in_second;
  record.impurity = impurity;
  record.lower = node.lower;
  record.upper = node.upper;
  tree_.nodes.push_back(std::move(record));
  tree_.lanes.insert(tree_.lanes.end(), lanes, lanes + n_lanes_);
}

bool GrowingTree::is_leaf(const GrowNode& node, std::span<const uint32_t> ids) const {
  // Rows are looked at last: it takes long.
  return is_leaf(node, false) || (asks_alike() && statistic_->alike(node, ids));
}

bool GrowingTree::is_leaf(const GrowNode& node, bool rows_alike) const {
  const NodeRecord& record = tree_.nodes[static_cast<size_t>(node.record)];
  return too_small(options_, node.depth, record.n_rows, record.weight) || statistic_->pure(lanes_of(node.record)) ||
         rows_alike;
}

bool GrowingTree::worth_it(GrowNode& node) const {
  if (!node.split.found()) return false;
  const double gain = statistic_->gain(node, tree_.nodes[static_cast<size_t>(node.record)].score);
  node.worth = std::max(0.0, gain);
  if (options_.must_gain && !(gain > gain_rounding * std::abs(node.split.score))) return false;
  if (options_.min_gain > 0 && std::ldexp(node.worth, statistic_->spread().score_power) < options_.min_gain)
    return false;
  return lowers_enough(options_, statistic_->spread(), node.worth, place_.tree_weight);
}

Searched GrowingTree::searched_at(int32_t j, const GrowNode& node, CategoryRules& rules) const {
  Searched at = searched(j, column(j), node, lanes_of(node.record), options_);
  if (options_.random) at.word = draw(options_.seed, Purpose::random_split, node.path, static_cast<uint64_t>(j));
  if (at.column.kind == ColumnKind::categorical) {
    rules = category_rules(j, node);
    at.rules = &rules;
  }
  return at;
}

CategoryRules GrowingTree::category_rules(int32_t j, const GrowNode& node) const {
  const NodeRecord& record = record_of(node);
  const uint32_t n_codes = column(j).n_codes;
  return {.one_hot = n_codes < options_.one_hot_categories,
          .most = options_.max_categories,
          .rare_rows = options_.rare_rows,
          .group_rows = options_.group_rows,
          .chance = category_chance(options_, statistic_->spread(), record.impurity, record.weight, record.n_rows),
          .rare_weight = options_.rare_weight,
          .believes = row_squares_.known() && n_codes > few_categories,
          .spread = row_squares_.spread(node.squares),
          .within = options_.chance_within ? options_.category_chance : 0,
          .free = options_.free_categories,
          .in_tree = in_tree(place_.orders, j)};
}

Router GrowingTree::write_split(const GrowNode& node, NodeRecord& record) {
  const Split& split = node.split;
  const GrowColumn& of_split = column(split.column);
  const int64_t left_weight = statistic_->weight(split.left.data());
  const bool heavier_left = left_weight >= record.weight - left_weight;
  record.column = split.column;
  record.gain = std::ldexp(node.worth, statistic_->spread().score_power) * statistic_->spread().factor;
  record.missing_left = split.saw_missing ? split.missing_left : heavier_left;
  if (!split.terms.empty()) {
    record.kind = SplitKind::combination;
    record.column = -1;
    record.threshold = split.threshold;
    record.terms = split.terms;
    return {};
  }
  if (of_split.kind != ColumnKind::categorical) {
    record.threshold = threshold_of(of_split, split);
    record.code = last_code(of_split, split, record.threshold);
    // Rows that add nothing to the sums are not seen by these: they too go where their values go.
    return {record.missing_left, record.code};
  }
  record.kind = SplitKind::categories;
  record.set_left = !heavier_left;
  record.set = heavier_left ? split.right_codes : split.left_codes;
  std::sort(record.set.begin(), record.set.end());
  listed_.resize(std::max(listed_.size(), (size_t{of_split.n_codes} >> 6) + 1), 0);
  flip_listed(record.set);
  return {record.missing_left, 0, listed_.data(), record.set_left};
}

void GrowingTree::flip_listed(std::span<const uint32_t> codes) {
  for (const uint32_t code : codes) listed_[code >> 6] ^= uint64_t{1} << (code & 63);
}

void GrowingTree::begin_child(const GrowNode& node, int side, size_t n_left, GrowNode& child) const {
  child.begin = side == 0 ? node.begin : node.begin + n_left;
  child.end = side == 0 ? node.begin + n_left : node.end;
  child.depth = node.depth + 1;
  child.in_second = !node.in_second;
  child.path = draw(node.path, Purpose::node_path, static_cast<uint64_t>(side));
  if (options_.max_leaves > 0) child.turns = node.turns + (side == 0 ? '0' : '1');
  if (column_rules_.interact()) {
    child.used = node.used;
    child.used.push_back(node.split.column);
  }
}

void GrowingTree::bound_children(const GrowNode& node, GrowNode* children) const {
  for (int c = 0; c < 2; ++c) children[c].lower = node.lower, children[c].upper = node.upper;
  if (options_.monotone.empty() || node.split.next_code == 0) return;
  const int direction = options_.monotone[static_cast<size_t>(node.split.column)];
  if (direction == 0) return;
  const double middle = node.split.left_value + (node.split.right_value - node.split.left_value) / 2;
  (direction > 0 ? children[0].upper : children[0].lower) = middle;
  (direction > 0 ? children[1].lower : children[1].upper) = middle;
}

}  // namespace weald
