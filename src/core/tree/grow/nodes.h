// Grower, first part: nodes, leaves, splits. Included by grow.h.
#pragma once

#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/tree/grow/grower.h"

namespace weald {

template <class Rows, class Criterion>
Grower<Rows, Criterion>::Grower(std::vector<GrowColumn> columns, size_t n_rows, std::vector<uint32_t> ids, Rows rows,
                                const Criterion& criterion, Spread spread, const GrowOptions& options, Run& run,
                                Place place, const Kept<Rows>& kept)
    : columns_(std::move(columns)),
      n_rows_(n_rows),
      ids_(std::move(ids)),
      rows_(std::move(rows)),
      criterion_(criterion),
      spread_(std::move(spread)),
      options_(options),
      run_(run),
      place_(std::move(place)),
      column_rules_(options, columns_.size()),
      n_lanes_(rows_.lanes()),
      counted_(!Rows::unit_weights && (options.min_rows_leaf > 1 || rows_may_be_zero(rows_))),
      all_(options.combined_columns == 0 &&
           (options.max_columns <= 0 || options.max_columns >= static_cast<int64_t>(columns_.size()))),
      search_(kept.tiles != nullptr ? Search::histogram : options.search),
      tiles_(kept.tiles),
      buffers_(kept.items),
      dense_order_(kept.dense_order),
      frontier_(options.max_leaves > 0, options.level_by_level),
      entries_(columns_.size()),
      workers_(static_cast<size_t>(run.n_threads())),
      drawn_(all_ ? 0 : columns_.size()) {
  if (tiles_ == nullptr) {
    side_.resize(n_rows);
    id_scratch_.resize(ids_.size());
  } else {
    buffers_->second.resize(buffers_->first.size());
    buffers_->sums.resize(workers_.size());
  }
  const Limits limits{options.min_rows_leaf, options.min_weight_leaf};
  for (auto& worker : workers_) {
    if constexpr (by_rows) {
      worker.scan = std::make_unique<ColumnScan>(rows_, limits);
    } else {
      worker.scan = std::make_unique<ColumnScan>(criterion_, n_lanes_, limits);
    }
  }
  if constexpr (by_rows)
    order_ = std::make_unique<TargetOrder<typename Criterion::Sum>>(rows_, spread_.target.get(), ids_, n_rows);
  sparse_ = tiles_ == nullptr &&
            std::any_of(columns_.begin(), columns_.end(), [](const GrowColumn& column) { return column.sparse; });
  if (sparse_ && all_) take_sparse_entries(kept.sparse_order);
  if (sparse_ && !all_) node_of_row_.assign(n_rows, -1);
  tree_.n_lanes = n_lanes_;
  lay_out_histograms();
  if (buffers_ != nullptr && std::exchange(buffers_->cells_each, cells_total_) != cells_total_) {
    buffers_->spare_cells.clear();  // another tree may have other columns
  }
  make_groups();
  // Whether to set subtrees aside depends on the data alone. Best-first needs one global order, so it never does, and
  // sparse columns are cheap in small nodes as they are. With ranks, parts have small parts of their own, whose ranks
  // take few bits.
  constexpr size_t smallest_part = 1024, largest_part = 8192, parts = 8, ranked_part = 512;
  const size_t n_taken = tiles_ == nullptr ? ids_.size() : buffers_->first.size();
  if (!all_ && !options.random && !sparse_ && n_rows <= Ranks::most_rows) ranks_ = Ranks(columns_.size(), n_rows);
  if (options.max_leaves > 0 || sparse_ || words || (tiles_ != nullptr && !tiles_->listed().empty())) return;
  if (place_.tree_weight == 0 && n_taken >= 2 * smallest_part) {
    subtree_rows_ = std::clamp(n_taken / parts, smallest_part, largest_part);
  }
  if (!ranks_.empty() && n_taken >= 2 * ranked_part) subtree_rows_ = ranked_part;
  constexpr int few_lanes = 64;
  if (compacts && options.compact_lanes && n_lanes_ >= few_lanes) {
    subtree_rows_ = std::max(subtree_rows_, std::min(n_taken / 2, static_cast<size_t>(n_lanes_)));
  }
  if (!ranks_.empty() && subtree_rows_ > 0) number_of_.resize(n_rows);
}

// A column whose histogram pays at the root gets its place in every node's histograms.
template <class Rows, class Criterion>
void Grower<Rows, Criterion>::lay_out_histograms() {
  cell_start_.resize(columns_.size());
  smallest_histogram_rows_ = std::numeric_limits<size_t>::max();
  for (size_t c = 0; c < columns_.size(); ++c) {
    const auto j = static_cast<int32_t>(c);
    if (has_flags() && tiles_->is_flag(c)) continue;
    if (columns_[c].n_codes == 0 || (columns_[c].sparse && !listed(j)) || !column_rules_.in_tree(c)) continue;
    all_columns_.push_back(j);
    if (in_order(j, ids_.size())) continue;
    cell_start_[c] = cells_total_;
    cells_total_ += cells_of(j);
    const size_t rows_that_pay = search_ == Search::histogram ? 0 : rows_for_histogram(j);
    smallest_histogram_rows_ = std::min(smallest_histogram_rows_, rows_that_pay);
  }
  if (!has_flags()) return;
  flags_start_ = cells_total_;
  cells_total_ += cell_stride() * tiles_->flags().size();
  smallest_histogram_rows_ = 0;
}

template <class Rows, class Criterion>
GrownTree Grower<Rows, Criterion>::grow() {
  Node root;
  root.end = tiles_ == nullptr ? ids_.size() : buffers_->first.size();
  root.depth = place_.depth;
  root.path = place_.path;
  root.lower = place_.lower;
  root.upper = place_.upper;
  root.used = place_.used;
  if (!node_of_row_.empty()) {
    for (const uint32_t row : ids_) node_of_row_[row] = root.record;
  }
  std::vector<int64_t> lanes(static_cast<size_t>(n_lanes_), 0);
  for (const uint32_t row : ids_) rows_.add(row, lanes.data());
  if constexpr (packable) {
    if (tiles_ != nullptr) {
      for (const Item item : buffers_->first) {
        lanes[0] += item.value.g;
        lanes[1] += item.value.h;
      }
      if (root.depth < options_.max_depth && groups_.empty()) sum_items(buffers_->first);
      summed_end_ = buffers_->first.size();
    }
  }
  add_record(root, lanes.data());
  if (place_.tree_weight == 0) {
    place_.tree_weight = criterion_.weight(lanes.data());
    if constexpr (!by_rows) {
      if (wants_tree_orders(options_)) orders_ = tree_orders(columns_, ids_, rows_, criterion_);
      place_.orders = orders_;
    }
  }
  Node* only[] = {&root};
  if (!is_leaf(root)) search_and_push(only, nullptr);
  while (!frontier_.empty()) {
    if (options_.max_leaves > 0 && n_leaves_ >= options_.max_leaves) break;
    expand(frontier_.pop());
  }
  if (options_.leaf_means_only) add_leaf_means();
  if (tiles_ == nullptr) {
    tree_.ids = std::move(ids_);
  } else if (options_.prune_below > 0 || !aside_.empty() || buffers_->first.size() < n_rows_) {
    collect_ids();
  }
  if (compacts && options_.compact_lanes) keep_some_lanes();
  grow_aside();
  return std::move(tree_);
}

// Lanes as they are kept of a grown tree of many classes: numbered as in the whole tree, without those that are 0.
template <class Rows, class Criterion>
void Grower<Rows, Criterion>::keep_some_lanes() {
  for (size_t i = 0; i < tree_.nodes.size(); ++i) {
    const int64_t* lanes = lanes_of(static_cast<int32_t>(i));
    for (int32_t l = 0; l < n_lanes_; ++l) {
      const int32_t in_tree = place_.lanes.empty() ? l : place_.lanes[static_cast<size_t>(l)];
      if (lanes[l] != 0) tree_.nodes[i].some.push_back({in_tree, lanes[l]});
    }
  }
  tree_.lanes = {};
  tree_.n_lanes = 0;
}

template <class Rows, class Criterion>
void Grower<Rows, Criterion>::add_record(const Node& node, const int64_t* lanes) {
  NodeRecord record;
  record.n_rows = static_cast<int64_t>(node.size());
  record.weight = criterion_.weight(lanes);
  if constexpr (by_rows) {
    record.score = add_medians(node);
  } else {
    record.score = held_score(node, lanes);
    for (size_t o = 0; spread_.target && o < static_cast<size_t>(spread_.n_outputs); ++o) {
      tree_.means.push_back(
          options_.leaf_means_only ? 0.0 : mean_target(rows_, criterion_, spread_, ids_of(node), o, record.weight));
    }
  }
  record.begin = node.begin;
  record.in_second = node.in_second;
  record.impurity = node_impurity(spread_, ids_of(node), record.score, record.weight);
  record.lower = node.lower;
  record.upper = node.upper;
  tree_.nodes.push_back(std::move(record));
  tree_.lanes.insert(tree_.lanes.end(), lanes, lanes + n_lanes_);
}

// The means of the nodes that have become leaves; those put aside have theirs when they are grown.
template <class Rows, class Criterion>
void Grower<Rows, Criterion>::add_leaf_means() {
  if constexpr (by_rows) return;
  if (!spread_.target) return;
  const auto width = static_cast<size_t>(spread_.n_outputs);
  for (size_t i = 0; i < tree_.nodes.size(); ++i) {
    const NodeRecord& record = tree_.nodes[i];
    if (record.left >= 0) continue;
    Node node;
    node.begin = record.begin;
    node.end = record.begin + static_cast<size_t>(record.n_rows);
    for (size_t o = 0; o < width; ++o)
      tree_.means[i * width + o] = mean_target(rows_, criterion_, spread_, ids_of(node), o, record.weight);
  }
}

// The score of a node that predicts within its bounds, for a criterion that bounds hold back.
template <class Rows, class Criterion>
double Grower<Rows, Criterion>::held_score(const Node& node, const int64_t* lanes) const {
  if constexpr (HoldsScores<Criterion>) {
    if (std::isfinite(node.lower) || std::isfinite(node.upper)) {
      return criterion_.score_at(lanes, std::clamp(criterion_.value(lanes), node.lower, node.upper));
    }
  }
  return criterion_.score(lanes);
}

// Absolute error: adds the medians of a new record and returns its score. A median is the target with half of the
// weight up to it; halfway to the next where exactly half ends at it.
template <class Rows, class Criterion>
double Grower<Rows, Criterion>::add_medians(const Node& node) {
  if constexpr (by_rows) {
    typename Criterion::Sum loss = 0;
    for (size_t o = 0; o < order_->n_outputs(); ++o) {
      const auto state = order_->state(o, node.begin, node.size());
      const auto targets = order_->targets(o, node.begin, node.size());
      const auto real = [&](size_t place) { return spread_.target[targets[place - 1].row * order_->n_outputs() + o]; };
      const OrderedTarget& target = targets[state.at - 1];
      loss += state.loss(target.value);
      double median = real(state.at);
      if (2 * (state.before + target.weight) == state.weight) median += (real(state.at + 1) - median) / 2;
      tree_.means.push_back(median);
    }
    return -static_cast<double>(loss);
  } else {
    return 0;
  }
}

template <class Rows, class Criterion>
bool Grower<Rows, Criterion>::all_rows_alike(const Node& node) const {
  if constexpr (by_rows) {
    return order_->alike(node.begin, node.size());
  } else {
    return rows_alike(rows_, criterion_, ids_of(node));
  }
}

template <class Rows, class Criterion>
bool Grower<Rows, Criterion>::is_leaf(const Node& node) const {
  const NodeRecord& record = tree_.nodes[static_cast<size_t>(node.record)];
  return too_small(options_, node.depth, record.n_rows, record.weight) || criterion_.pure(lanes_of(node.record)) ||
         ((spread_.target || options_.stop_alike) && all_rows_alike(node));
}

// Fills in what the best split found is worth; false if there is none or it gains too little.
template <class Rows, class Criterion>
bool Grower<Rows, Criterion>::worth_it(Node& node) const {
  if (!node.split.found()) return false;
  double gain = node.split.gain(tree_.nodes[static_cast<size_t>(node.record)].score);
  if constexpr (by_rows)
    gain = static_cast<double>(node.targets.loss - static_cast<typename Criterion::Sum>(node.split.loss));
  node.worth = std::max(0.0, gain);
  if (options_.must_gain && !(gain > gain_rounding * std::abs(node.split.score))) return false;
  if (options_.min_gain > 0 && std::ldexp(node.worth, options_.gain_power) < options_.min_gain) return false;
  return lowers_enough(options_, spread_, node.worth, place_.tree_weight);
}

template <class Rows, class Criterion>
void Grower<Rows, Criterion>::search_and_push(std::span<Node*> children, Node* parent) {
  search(children, parent);
  for (Node* child : children) {
    if (worth_it(*child)) {
      frontier_.push(std::move(*child));
    } else if (child->cells != nullptr) {
      cells_in_use_ -= static_cast<int64_t>(cells_total_ * sizeof(int64_t));
    }
  }
}

// Splits a node: writes its record, parts its rows, finds the children's best splits.
template <class Rows, class Criterion>
void Grower<Rows, Criterion>::expand(Node node) {
  const auto left_record = static_cast<int32_t>(tree_.nodes.size());
  NodeRecord& record = tree_.nodes[static_cast<size_t>(node.record)];
  record.left = left_record;
  record.right = left_record + 1;
  const Router router = write_split(node, record);
  size_t n_left = 0;
  if (tiles_ != nullptr) {
    n_left = part_items(node, router);
  } else {
    n_left = node.split.terms.empty() ? mark_rows(node, router) : mark_combined(node, record);
    partition_stable(ids_.data() + node.begin, node.size(), side_.data(), id_scratch_.data(),
                     [](uint32_t row) { return row; });
  }
  flip_listed(record.set);
  if constexpr (by_rows) order_->split(node.begin, node.size(), side_.data());
  Node children[2];
  bound_children(node, children);
  std::vector<int64_t> lanes(node.split.left);
  Node* searched[2];
  size_t n_searched = 0;
  for (int c = 0; c < 2; ++c) {
    Node& child = children[c];
    child.record = left_record + c;
    child.begin = c == 0 ? node.begin : node.begin + n_left;
    child.end = c == 0 ? node.begin + n_left : node.end;
    child.depth = node.depth + 1;
    child.in_second = !node.in_second;
    child.path = draw(node.path, Purpose::node_path, static_cast<uint64_t>(c));
    if (options_.max_leaves > 0) child.turns = node.turns + (c == 0 ? '0' : '1');
    if (column_rules_.interact()) {
      child.used = node.used;
      child.used.push_back(node.split.column);
    }
    if (!node_of_row_.empty()) {
      for (const uint32_t row : ids_of(child)) node_of_row_[row] = child.record;
    }
    if (c == 1) {
      for (size_t l = 0; l < lanes.size(); ++l) lanes[l] = lanes_of(node.record)[l] - lanes[l];
    }
    add_record(child, lanes.data());
    if (is_leaf(child)) continue;
    if (child.size() <= subtree_rows_) {
      put_aside(child);
    } else {
      searched[n_searched++] = &child;
    }
  }
  ++n_leaves_;
  if (n_searched > 0) {
    search_and_push({searched, n_searched}, &node);
  }
  if (node.cells != nullptr) cells_in_use_ -= static_cast<int64_t>(cells_total_ * sizeof(int64_t));
}

// What the children may predict: along a constrained column, the middle between their own predictions parts them.
template <class Rows, class Criterion>
void Grower<Rows, Criterion>::bound_children(const Node& node, Node* children) const {
  for (int c = 0; c < 2; ++c) children[c].lower = node.lower, children[c].upper = node.upper;
  if (options_.monotone.empty() || node.split.next_code == 0) return;
  const int direction = options_.monotone[static_cast<size_t>(node.split.column)];
  if (direction == 0) return;
  const double middle = node.split.left_value + (node.split.right_value - node.split.left_value) / 2;
  (direction > 0 ? children[0].upper : children[0].lower) = middle;
  (direction > 0 ? children[1].lower : children[1].upper) = middle;
}

template <class Rows, class Criterion>
double Grower<Rows, Criterion>::threshold(const GrowColumn& column, const Split& split) const {
  if (split.next_code != 0 && split.drawn) return split.threshold;
  return threshold_between(column.kind, column.marks, split.code, split.next_code);
}

// The largest code that goes left. Between the neighbouring values of a node there may be values of rows elsewhere.
template <class Rows, class Criterion>
uint32_t Grower<Rows, Criterion>::last_code(const GrowColumn& column, const Split& split, double threshold) const {
  if (split.next_code == 0) return column.n_codes;
  if (column.kind != ColumnKind::exact) return split.code;
  const double* first = column.marks + split.code - 1;
  const double* last = column.marks + split.next_code - 1;
  return split.code + static_cast<uint32_t>(std::upper_bound(first, last, threshold) - first) - 1;
}

// The split as the model keeps it. Rows the node did not see (missing, absent categories) follow the heavier child,
// so that a set lists the categories of the lighter one. They stay in the table `listed_` until expand() clears them.
template <class Rows, class Criterion>
Router Grower<Rows, Criterion>::write_split(const Node& node, NodeRecord& record) {
  const Split& split = node.split;
  const GrowColumn& column = columns_[static_cast<size_t>(split.column)];
  const int64_t left_weight = criterion_.weight(split.left.data());
  const bool heavier_left = left_weight >= record.weight - left_weight;
  record.column = split.column;
  record.gain = std::ldexp(node.worth, options_.gain_power) * spread_.factor;
  record.missing_left = split.saw_missing ? split.missing_left : heavier_left;
  if (!split.terms.empty()) {
    record.kind = SplitKind::combination;
    record.column = -1;
    record.threshold = split.threshold;
    record.terms = split.terms;
    return {};
  }
  if (column.kind != ColumnKind::categorical) {
    record.threshold = threshold(column, split);
    record.code = last_code(column, split, record.threshold);
    return {record.missing_left, split.code};
  }
  record.kind = SplitKind::categories;
  record.set_left = !heavier_left;
  record.set = heavier_left ? split.right_codes : split.left_codes;
  std::sort(record.set.begin(), record.set.end());
  listed_.resize(std::max(listed_.size(), (size_t{column.n_codes} >> 6) + 1), 0);
  flip_listed(record.set);
  return {record.missing_left, 0, listed_.data(), record.set_left};
}

// Sets codes in the table, or clears them again: work for the codes named, not for all of the column.
template <class Rows, class Criterion>
void Grower<Rows, Criterion>::flip_listed(std::span<const uint32_t> codes) {
  for (const uint32_t code : codes) listed_[code >> 6] ^= uint64_t{1} << (code & 63);
}

}  // namespace weald
