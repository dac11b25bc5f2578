// Growing the trees of a forest whose nodes draw their columns: nothing is carried from a node to its children, so that
// a tree is grown by one thread from the root down to the leaves, in preorder, straight into its arrays. The same
// trees, to the bit, as Grower's (grow.h), which takes over where DrawnTable::fits says no.
//
// Most of the work is in small nodes, whose rows lie scattered over the table. So small nodes are grown as parts: their
// rows are numbered from 0, their columns copied, and codes replaced by their ranks among those present when a column
// is first drawn in a node that is not tiny. Parts have smaller parts of their own.
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

#include "core/base/random.h"
#include "core/tree/drawn_sums.h"
#include "core/tree/drawn_table.h"
#include "core/tree/forest.h"
#include "core/tree/gain.h"
#include "core/tree/gini_filter.h"
#include "core/tree/node_numbers.h"
#include "core/tree/partition.h"
#include "core/tree/split.h"
#include "core/tree/split_categorical.h"
#include "core/tree/split_feeds.h"
#include "core/tree/split_random.h"

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
  static constexpr bool summed = N == 2;  // what a row brings is one value (drawn_sums.h)
  static constexpr bool gini = std::is_same_v<Criterion, GiniTwo>;
  static constexpr size_t n_levels = 3;  // of parts
  using Sum = std::conditional_t<summed, RowSum<Rows>, uint64_t>;

  // A column as a node reads it.
  struct View {
    const void* data = nullptr;  // codes
    const float* narrow = nullptr;
    const double* wide = nullptr;
    size_t stride = 1;                   // from row to row of narrow values
    const uint32_t* original = nullptr;  // per code, what it is in the table; absent: the same
    uint32_t n_codes = 0;
    uint8_t width = 1;
    uint32_t in_table(uint32_t code) const { return original == nullptr || code == 0 ? code : original[code]; }
  };
  enum class Copied : uint8_t { no, as_is, ranked };
  // Rows that are numbered together: all, or those of a part.
  struct Scope {
    const Rows* rows = nullptr;
    const Spread* spread = nullptr;
    std::vector<uint32_t> ids = {};           // those of a node are together, ascending
    Scope* whole = nullptr;                   // what a part was taken from
    std::span<const uint32_t> in_whole = {};  // and where its rows are there
    size_t level = 0;                         // 0: the table; then parts of it, then parts of these
    std::vector<uint32_t> in_table = {};      // where its rows are in the table
    std::vector<uint32_t> cells = {};         // of a part of a part: its rows as the table has them in rows_of_words
    std::vector<View> views = {};
    std::vector<Copied> copied = {};  // per column of a part
  };
  struct Node {
    uint32_t begin, end;
    int32_t parent_slot;  // inner slot whose right child this is; −1: a left child, or the root
    int64_t depth;
    uint64_t path;
    double score;
    size_t size() const { return end - begin; }
  };

  void grow_nodes(Scope& scope, Node root);
  void grow_part(Scope& whole, const Node& root);
  bool is_leaf(const Scope& scope, const Node& node) const;
  void write_node(const Scope& scope, const Node& node, bool leaf);
  void push_children(const Scope& scope, const Node& node, size_t n_left);
  std::span<uint32_t> ids_of(Scope& scope, const Node& node) { return {scope.ids.data() + node.begin, node.size()}; }
  std::span<const uint32_t> ids_of(const Scope& scope, const Node& node) const {
    return {scope.ids.data() + node.begin, node.size()};
  }

  bool search(Scope& scope, const Node& node);
  void sum_rows(const Scope& scope, std::span<const uint32_t> ids);
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
  double bar(int32_t j) const { return j > best_.column ? best_.score : below(best_.score); }
  const View& view(int32_t j, Scope& scope, size_t n);
  DrawnCopy& copy_of(size_t j, const Scope& part);
  void take_copy(size_t j, Scope& part);
  void copy_column(size_t j, Scope& part);
  template <class Cell>
  void copy_rows(const RowMajor& rows, Scope& part);
  void take_rows(Scope& part);
  template <class Code>
  void rank_column(const Code* codes, size_t j, Scope& part);
  size_t write_split(Scope& scope, const Node& node);
  template <class Left>
  size_t part_ids(std::span<uint32_t> ids, Left left);
  size_t part_by_set(const View& view, std::span<uint32_t> ids, bool heavier_left);

  const DrawnTable& table_;
  Scope whole_;
  std::array<Scope, n_levels> parts_;  // the one of each level at hand
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

  std::array<size_t, n_levels> part_rows_;
  std::vector<Node> stack_;
  std::vector<int64_t> lane_stack_;  // lanes of the nodes there
  std::vector<int64_t> lanes_;       // of the node at hand
  Split best_;
  Draws words_{0, Purpose::random_split, 0};  // of the columns of the node at hand
  Scan<Criterion, N> scan_;
  PresentCategories present_;
  std::vector<int32_t> drawn_;  // all columns, ascending between nodes
  std::vector<size_t> swapped_;
  CodeSums<Sum> sums_;
  bool halved_ = false;  // thresholds are drawn, and no row counts often: of_row_ is in halves_ instead
  std::vector<uint32_t> halves_;
  std::vector<Sum> left_;                                       // of the candidates of a column
  std::vector<Sum> of_row_;                                     // of the rows of the node at hand
  std::tuple<std::vector<float>, std::vector<double>> values_;  // of the rows of the node at hand
  std::vector<Entry> entries_, scratch_;
  std::vector<uint32_t> id_scratch_;
  std::vector<uint64_t> listed_;
  std::vector<DrawnCopy> copies_;
  CodeBits bits_;
  std::vector<uint16_t> rank_of_;  // per code of a column, while it is copied
};

// Rows of parts and of their parts: what the caches hold, and no more than some megabytes if there are many columns.
inline std::array<size_t, 3> sizes_of_parts(size_t n_columns, bool random) {
  using Sizes = std::array<size_t, 3>;
  constexpr size_t most_cells = size_t{1} << 23;
  const size_t most = most_cells / std::max<size_t>(n_columns, 1);
  Sizes sizes = random ? Sizes{32768, 2048, 256} : Sizes{32768, 4096, 512};
  for (size_t& size : sizes) size = std::min(size, most);
  return sizes;
}

template <class Rows, class Criterion>
DrawnGrower<Rows, Criterion>::DrawnGrower(const DrawnTable& table, std::vector<uint32_t> ids, const Rows& rows,
                                          const Criterion& criterion, const Spread& spread, const GrowOptions& options,
                                          Run& run)
    : table_(table),
      criterion_(criterion),
      options_(options),
      run_(run),
      n_lanes_(rows.lanes()),
      limits_{options.min_rows_leaf, options.min_weight_leaf},
      counted_(!Rows::unit_weights && options.min_rows_leaf > 1),
      part_rows_(sizes_of_parts(table.columns.size(), options.random)),
      lanes_(static_cast<size_t>(n_lanes_)),
      scan_(criterion, n_lanes_, limits_),
      drawn_(table.columns.size()),
      swapped_(table.columns.size()),
      copies_(table.spare_copies.take(n_levels * table.columns.size())) {
  whole_.rows = &rows;
  whole_.spread = &spread;
  whole_.ids = std::move(ids);
  for (const DrawnColumn& column : table.columns) {
    whole_.views.push_back(
        {column.data, column.narrow.get(), column.wide.get(), 1, nullptr, column.n_codes, column.width});
  }
  whole_.copied.resize(table.columns.size(), Copied::no);
  std::iota(drawn_.begin(), drawn_.end(), 0);
  id_scratch_.resize(whole_.ids.size());
}

template <class Rows, class Criterion>
TreeArrays DrawnGrower<Rows, Criterion>::grow(TreeArrays&& memory) {
  out_ = std::move(memory);
  out_.set_start.push_back(0);
  out_.combination_start.push_back(0);
  std::vector<int64_t> lanes(static_cast<size_t>(n_lanes_), 0);
  for (const uint32_t row : whole_.ids) whole_.rows->add(row, lanes.data());
  if constexpr (Rows::packed) {
    halved_ = options_.random && std::all_of(whole_.ids.begin(), whole_.ids.end(), [&](uint32_t row) {
                return weight_of(row_sum(*whole_.rows, row)) <= most_halved;
              });
  }
  tree_weight_ = criterion_.weight(lanes.data());
  lane_stack_ = lanes;
  const auto n = static_cast<uint32_t>(whole_.ids.size());
  const Node root{0, n, -1, 0, 0, criterion_.score(lanes.data())};
  grow_nodes(whole_, root);
  table_.spare_copies.give_back(std::move(copies_));
  return std::move(out_);
}

// The subtree of `root`, whose lanes are on top of their stack.
template <class Rows, class Criterion>
void DrawnGrower<Rows, Criterion>::grow_nodes(Scope& scope, Node root) {
  const size_t bottom = stack_.size();
  stack_.push_back(root);
  while (stack_.size() > bottom) {
    const Node node = stack_.back();
    stack_.pop_back();
    if (scope.level < n_levels && node.size() <= part_rows_[scope.level]) {
      grow_part(scope, node);
      continue;
    }
    std::copy(lane_stack_.end() - n_lanes_, lane_stack_.end(), lanes_.begin());
    lane_stack_.resize(lane_stack_.size() - static_cast<size_t>(n_lanes_));
    const bool split = !is_leaf(scope, node) && search(scope, node);
    write_node(scope, node, !split);
    if (split) push_children(scope, node, write_split(scope, node));
  }
}

template <class Rows, class Criterion>
void DrawnGrower<Rows, Criterion>::grow_part(Scope& whole, const Node& root) {
  const std::span<const uint32_t> ids = ids_of(whole, root);
  const Rows rows = whole.rows->gather(ids);
  const Spread spread = whole.spread->gather(ids);
  Scope& part = parts_[whole.level];
  part.rows = &rows;
  part.spread = &spread;
  part.whole = &whole;
  part.in_whole = ids;
  part.level = whole.level + 1;
  part.ids.resize(ids.size());
  std::iota(part.ids.begin(), part.ids.end(), 0U);
  part.views.resize(whole.views.size());
  part.copied.assign(whole.views.size(), Copied::no);
  part.in_table.resize(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) part.in_table[i] = whole.level == 0 ? ids[i] : whole.in_table[ids[i]];
  if (whole.level == 0) {
    copy_rows<uint8_t>(table_.rows_of_bytes, part);
    copy_rows<uint16_t>(table_.rows_of_pairs, part);
    copy_rows<uint32_t>(table_.rows_of_words, part);
  } else if (options_.random) {
    take_rows(part);
  }
  Node node = root;
  node.begin = 0;
  node.end = static_cast<uint32_t>(ids.size());
  grow_nodes(part, node);
}

template <class Rows, class Criterion>
bool DrawnGrower<Rows, Criterion>::is_leaf(const Scope& scope, const Node& node) const {
  return too_small(options_, node.depth, static_cast<int64_t>(node.size()), criterion_.weight(lanes_.data())) ||
         criterion_.pure(lanes_.data()) ||
         (scope.spread->target && rows_alike(*scope.rows, criterion_, ids_of(scope, node)));
}

template <class Rows, class Criterion>
void DrawnGrower<Rows, Criterion>::write_node(const Scope& scope, const Node& node, bool leaf) {
  const auto ids = ids_of(scope, node);
  const int64_t weight = criterion_.weight(lanes_.data());
  if (node.parent_slot >= 0) {
    out_.right[static_cast<size_t>(node.parent_slot)] = static_cast<int32_t>(out_.slot.size());
  }
  out_.slot.push_back(leaf ? ~n_leaves_++ : static_cast<int32_t>(out_.column.size()));
  out_.weight.push_back(weight);
  out_.count.push_back(static_cast<int64_t>(node.size()));
  out_.impurity.push_back(node_impurity(*scope.spread, ids, node.score, weight));
  if (leaf || !options_.leaf_means_only) out_.lanes.insert(out_.lanes.end(), lanes_.begin(), lanes_.end());
  for (size_t o = 0; scope.spread->target && o < static_cast<size_t>(scope.spread->n_outputs); ++o) {
    const bool asked = leaf || !options_.leaf_means_only;
    out_.means.push_back(asked ? mean_target(*scope.rows, criterion_, *scope.spread, ids, o, weight) : 0.0);
  }
}

template <class Rows, class Criterion>
void DrawnGrower<Rows, Criterion>::push_children(const Scope&, const Node& node, size_t n_left) {
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

// ---- the best split of a node ------------------------------------------------------------------------------------

// A split that no other can beat: only a column of a lower number is then worth a look, which wins the tie.
template <class Criterion>
bool perfect(const Split& split) {
  if constexpr (requires { Criterion::most; }) return split.found() && split.score >= Criterion::most;
  return false;
}

template <class Rows, class Criterion>
bool DrawnGrower<Rows, Criterion>::search(Scope& scope, const Node& node) {
  constexpr uint64_t nodes_between_checks = 256;
  if (n_searched_++ % nodes_between_checks == 0 || scope.level == 0) run_.check();
  const auto ids = ids_of(scope, node);
  if constexpr (summed) {
    sum_rows(scope, ids);
  }
  best_.clear();
  words_ = Draws(options_.seed, Purpose::random_split, node.path);
  const size_t n_columns = drawn_.size();
  const size_t asked = options_.max_columns > 0 ? static_cast<size_t>(options_.max_columns) : n_columns;
  const Draws draws(options_.seed, Purpose::node_columns, node.path);
  size_t n = 0;
  // After those asked for, one at a time until there is a split.
  for (; n < n_columns && (n < asked || !best_.found()); ++n) {
    if (asked < n_columns) {
      const auto left = static_cast<unsigned __int128>(n_columns - n);
      swapped_[n] = n + static_cast<size_t>((static_cast<unsigned __int128>(draws(n)) * left) >> 64);
      std::swap(drawn_[n], drawn_[swapped_[n]]);
    }
    const int32_t j = drawn_[n];
    if (!(perfect<Criterion>(best_) && j > best_.column)) search_column(j, scope, node);
  }
  if (asked < n_columns) {
    while (n-- > 0) std::swap(drawn_[n], drawn_[swapped_[n]]);
  }
  if (!best_.found()) return false;
  const double worth = std::max(0.0, best_.score - node.score);
  return lowers_enough(options_, *scope.spread, worth, tree_weight_);
}

// What each row of the node brings, which every column asks for.
template <class Rows, class Criterion>
void DrawnGrower<Rows, Criterion>::sum_rows(const Scope& scope, std::span<const uint32_t> ids) {
  if constexpr (Rows::packed) {
    if (halved_) {
      if (halves_.size() < ids.size()) halves_.resize(ids.size());
      for (size_t i = 0; i < ids.size(); ++i) halves_[i] = scope.rows->pack_halved(ids[i]);
      return;
    }
  }
  if (of_row_.size() < ids.size()) of_row_.resize(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) of_row_[i] = row_sum(*scope.rows, ids[i]);
}

template <class Rows, class Criterion>
void DrawnGrower<Rows, Criterion>::search_column(int32_t j, Scope& scope, const Node& node) {
  const DrawnColumn& column = table_.columns[static_cast<size_t>(j)];
  const View& seen = view(j, scope, node.size());
  if (column.kind == ColumnKind::categorical) return search_ordered(j, seen, scope, node);
  if (options_.random) {
    if (seen.narrow != nullptr) return search_values(j, seen.narrow, seen.stride, scope, node);
    if (seen.wide != nullptr) return search_values(j, seen.wide, 1, scope, node);
    return search_drawn(j, seen, scope, node);
  }
  if (!summed || column.missing) return search_ordered(j, seen, scope, node);
  search_sums(j, seen, scope, node);
}

// Rows in code order: categories, missing rows, many lanes.
template <class Rows, class Criterion>
void DrawnGrower<Rows, Criterion>::search_ordered(int32_t j, const View& view, Scope& scope, const Node& node) {
  const auto ids = ids_of(scope, node);
  if (entries_.size() < ids.size()) {
    entries_.resize(ids.size());
    scratch_.resize(ids.size());
  }
  order_rows(view.data, view.width, ids, view.n_codes, entries_.data(), scratch_.data());
  const std::span<const Entry> entries{entries_.data(), ids.size()};
  scan_.begin(lanes_.data(), static_cast<int64_t>(ids.size()));
  if (table_.columns[static_cast<size_t>(j)].kind != ColumnKind::categorical) {
    scan_order(*scope.rows, entries, scan_);
    scan_.offer(j, best_);
    return;
  }
  collect_order(*scope.rows, entries, scan_, present_);
  if (options_.random) {
    const uint64_t word = words_(static_cast<uint64_t>(j));
    return scan_random_categories(present_, j, word, scan_, best_);
  }
  const CategoryRules rules{view.n_codes < options_.one_hot_categories, options_.max_categories, options_.rare_rows,
                            options_.group_rows};
  scan_categories(present_, j, rules, scan_, best_);
}

template <class Rows, class Criterion>
void DrawnGrower<Rows, Criterion>::search_sums(int32_t j, const View& view, Scope& scope, const Node& node) {
  if constexpr (summed) {
    const auto ids = ids_of(scope, node);
    sums_.make_room(ids.size());
    constexpr size_t most_codes = 64;  // per row: beyond, looking through the set of codes costs more than a sort
    with_codes(view.data, view.width, [&](const auto* codes) {
      if (ids.size() <= CodeSums<Sum>::most_few) return sums_.list_few(codes, ids, of_row_.data());
      if (view.n_codes <= most_codes * ids.size()) {
        return sums_.list_many(codes, ids, of_row_.data(), view.n_codes);
      }
      entries_.resize(std::max(entries_.size(), ids.size()));
      scratch_.resize(entries_.size());
      for (uint32_t i = 0; i < ids.size(); ++i) entries_[i] = (static_cast<Entry>(codes[ids[i]]) << 32) | i;
      sort_entries(entries_.data(), scratch_.data(), ids.size(), view.n_codes);
      sums_.take_entries({entries_.data(), ids.size()}, of_row_.data());
    });
    if (counted_) {
      with_codes(view.data, view.width, [&](const auto* codes) { sums_.count_rows(codes, ids, view.n_codes); });
    }
    scan_sums(j, node);
  }
}

// The best threshold between the codes listed; the first of equals.
template <class Rows, class Criterion>
void DrawnGrower<Rows, Criterion>::scan_sums(int32_t j, const Node& node) {
  if constexpr (summed) {
    if (sums_.size < 2) return;
    BestSum found{bar(j), sums_.size};
    if constexpr (gini && Rows::packed) {
      if (sums_.size > GiniFilter::together && !limits_.bind()) {
        scan_filtered(found);
        return take_sum(j, found);
      }
    }
    const size_t last = sums_.size - 1;
    Sum left{};
    int64_t n_left = 0;
    for (size_t k = 0; k < last; ++k) {
      left += sums_.sum[k];
      if (limits_.bind()) {
        n_left += counted_ ? sums_.n_rows[k] : weight_of(sums_.sum[k]);
        if (!within_limits(left, n_left, static_cast<int64_t>(node.size()))) continue;
      }
      attempt(left, k, found);
    }
    take_sum(j, found);
  }
}

template <class Rows, class Criterion>
void DrawnGrower<Rows, Criterion>::attempt(const Sum& sum, size_t k, BestSum& found) const {
  int64_t left[2], right[2];
  to_lanes(sum, left);
  right[0] = lanes_[0] - left[0];
  right[1] = lanes_[1] - left[1];
  if (criterion_.hopeless(left, right, found.score)) return;
  const double score = criterion_.score(left) + criterion_.score(right);
  if (score > found.score) found = {score, k, sum};
}

// Gini: sixteen candidates at a time, most of which are dismissed together.
template <class Rows, class Criterion>
void DrawnGrower<Rows, Criterion>::scan_filtered(BestSum& found) {
  constexpr size_t together = GiniFilter::together;
  const size_t last = sums_.size - 1, n_blocks = (last + together - 1) / together;
  if (left_.size() < n_blocks * together) left_.resize(n_blocks * together);
  Sum left{};
  for (size_t k = 0; k < last; ++k) left_[k] = left += sums_.sum[k];
  std::fill(left_.begin() + static_cast<std::ptrdiff_t>(last),
            left_.begin() + static_cast<std::ptrdiff_t>(n_blocks * together), Sum{});
  GiniFilter filter(lanes_.data());
  filter.raise(found.score);
  if constexpr (std::is_same_v<Sum, uint64_t>) {
    for (size_t b = filter.next_open(left_.data(), 0, n_blocks); b < n_blocks;
         b = filter.next_open(left_.data(), b + 1, n_blocks)) {
      for (size_t k = b * together; k < std::min(last, (b + 1) * together); ++k) attempt(left_[k], k, found);
      filter.raise(found.score);
    }
  }
}

template <class Rows, class Criterion>
void DrawnGrower<Rows, Criterion>::take_sum(int32_t j, const BestSum& found) {
  if (found.at == sums_.size) return;
  int64_t left[2];
  to_lanes(found.left, left);
  offer(j, found.score, left);
  best_.code = sums_.code[found.at];
  best_.next_code = sums_.code[found.at + 1];
}

template <class Rows, class Criterion>
int64_t DrawnGrower<Rows, Criterion>::weight_of(const Sum& sum) const {
  int64_t lanes[2];
  to_lanes(sum, lanes);
  return criterion_.weight(lanes);
}

template <class Rows, class Criterion>
bool DrawnGrower<Rows, Criterion>::within_limits(const Sum& left, int64_t n_left, int64_t n) const {
  const int64_t weight = weight_of(left);
  const bool rows = limits_.min_rows <= 1 || (n_left >= limits_.min_rows && n - n_left >= limits_.min_rows);
  return rows && weight >= limits_.min_weight && criterion_.weight(lanes_.data()) - weight >= limits_.min_weight;
}

// Makes the candidate the best so far. It has passed the bar.
template <class Rows, class Criterion>
void DrawnGrower<Rows, Criterion>::offer(int32_t j, double score, const int64_t* left) {
  best_.score = score;
  best_.column = j;
  best_.missing_left = best_.saw_missing = best_.drawn = false;
  best_.left_codes.clear();
  best_.right_codes.clear();
  best_.left.assign(left, left + n_lanes_);
}

// A value no larger than `threshold` in the numbers of the column: the same rows are below both.
inline double rounded_down(double threshold, double) {
  return threshold;
}
inline float rounded_down(double threshold, float) {
  const auto near = static_cast<float>(threshold);
  if (static_cast<double>(near) <= threshold) return near;
  return std::nextafter(near, -std::numeric_limits<float>::infinity());
}

// A threshold drawn in value, where no row is missing.
template <class Rows, class Criterion>
template <class Value>
void DrawnGrower<Rows, Criterion>::search_values(int32_t j, const Value* values, size_t stride, Scope& scope,
                                                 const Node& node) {
  const auto ids = ids_of(scope, node);
  auto& own = std::get<std::vector<Value>>(values_);
  if (own.size() < ids.size()) own.resize(ids.size());
  const auto [low, high] = gather_range(values, stride, ids, own.data());
  if (!(low < high)) return;
  const uint64_t word = words_(static_cast<uint64_t>(j));
  const double threshold = threshold_within(static_cast<double>(low), static_cast<double>(high), word);
  const Value most = rounded_down(threshold, Value{});
  if constexpr (summed) {
    const std::span<const Value> of_node{own.data(), ids.size()};
    const Sum left = left_sum(most, of_node);
    if (limits_.bind()) {
      int64_t n_left = 0;
      for (size_t i = 0; i < ids.size(); ++i) n_left += own[i] <= most;
      if (!within_limits(left, n_left, static_cast<int64_t>(ids.size()))) return;
    }
    BestSum found{bar(j), 1};
    attempt(left, 0, found);
    if (found.at != 0) return;
    int64_t lanes[2];
    to_lanes(left, lanes);
    offer(j, found.score, lanes);
    best_.next_code = 1;
  } else {
    scan_.begin(lanes_.data(), static_cast<int64_t>(ids.size()));
    int64_t n_left = 0;
    for (size_t i = 0; i < ids.size(); ++i) {
      if (!(own[i] <= most)) continue;
      scope.rows->add(ids[i], scan_.left.data());
      ++n_left;
    }
    scan_.consider(1, 2, n_left);
    if (!scan_.offer(j, best_)) return;
  }
  best_.drawn = true;
  best_.threshold = threshold;
}

// What the rows of the node add up to whose value is at most `most`.
template <class Rows, class Criterion>
template <class Value>
auto DrawnGrower<Rows, Criterion>::left_sum(Value most, std::span<const Value> values) const -> Sum {
  if constexpr (Rows::packed) {
    if (halved_) {
      Sum sum = 0;
      for (size_t first = 0; first < values.size(); first += halved_rows) {
        const auto some = values.subspan(first, std::min(halved_rows, values.size() - first));
        sum += widened(sum_up_to(most, some, halves_.data() + first));
      }
      return sum;
    }
  }
  return sum_up_to(most, values, of_row_.data());
}

// A threshold drawn among codes: bins, levels, missing rows.
template <class Rows, class Criterion>
void DrawnGrower<Rows, Criterion>::search_drawn(int32_t j, const View& view, Scope& scope, const Node& node) {
  const DrawnColumn& column = table_.columns[static_cast<size_t>(j)];
  const uint64_t word = words_(static_cast<uint64_t>(j));
  scan_.begin(lanes_.data(), static_cast<int64_t>(node.size()));
  const DrawnCut cut = with_codes(view.data, view.width, [&](const auto* codes) {
    return scan_random(*scope.rows, codes, ids_of(std::as_const(scope), node), column.kind, column.marks, word, scan_);
  });
  if (!scan_.offer(j, best_)) return;
  best_.drawn = column.kind == ColumnKind::exact && cut.next != 0;
  best_.threshold = cut.threshold;
}

// ---- columns of a part -------------------------------------------------------------------------------------------

// All columns of one width, from rows to columns.
template <class Rows, class Criterion>
template <class Cell>
void DrawnGrower<Rows, Criterion>::copy_rows(const RowMajor& rows, Scope& part) {
  const size_t n = rows.columns.size();
  if (n == 0) return;
  std::vector<Cell*> to;
  for (const size_t j : rows.columns) to.push_back(reinterpret_cast<Cell*>(copy_of(j, part).data));
  const auto* cells = reinterpret_cast<const Cell*>(rows.cells.get());
  constexpr size_t block = 16;  // rows whose cells are close at hand; a copy has room for a whole block
  const Cell* row[block];
  for (size_t first = 0; first < part.in_table.size(); first += block) {
    for (size_t i = 0; i < block; ++i) {
      row[i] = cells + n * part.in_table[std::min(first + i, part.in_table.size() - 1)];
      const size_t ahead = std::min(first + block + i, part.in_table.size() - 1);
      for (size_t c = 0; c < n; c += 64 / sizeof(Cell)) __builtin_prefetch(cells + n * part.in_table[ahead] + c);
    }
    transpose<block>(row, n, to.data(), first);
  }
  for (const size_t j : rows.columns) take_copy(j, part);
}

// Narrow values of a small part: its rows as they are in the table.
template <class Rows, class Criterion>
void DrawnGrower<Rows, Criterion>::take_rows(Scope& part) {
  const RowMajor& rows = table_.rows_of_words;
  const size_t n = rows.columns.size();
  part.cells.resize(std::max(part.cells.size(), n * part.in_table.size()));
  const bool nested = !part.whole->cells.empty();
  const uint32_t* cells = nested ? part.whole->cells.data() : reinterpret_cast<const uint32_t*>(rows.cells.get());
  const uint32_t* ids = nested ? part.in_whole.data() : part.in_table.data();
  constexpr size_t ahead = 8;
  for (size_t i = 0; n > 0 && i < part.in_table.size(); ++i) {
    const uint32_t* next = cells + n * ids[std::min(i + ahead, part.in_table.size() - 1)];
    for (size_t c = 0; c < n; c += 64 / sizeof(uint32_t)) __builtin_prefetch(next + c);
    std::copy_n(cells + n * ids[i], n, part.cells.data() + n * i);
  }
  for (size_t c = 0; c < n; ++c) {
    View& view = part.views[rows.columns[c]] = whole_.views[rows.columns[c]];
    if (view.narrow == nullptr) continue;
    view.narrow = reinterpret_cast<const float*>(part.cells.data()) + c;
    view.stride = n;
    part.copied[rows.columns[c]] = Copied::as_is;
  }
}

template <class Rows, class Criterion>
auto DrawnGrower<Rows, Criterion>::copy_of(size_t j, const Scope& part) -> DrawnCopy& {
  DrawnCopy& copy = copies_[(part.level - 1) * table_.columns.size() + j];
  if (copy.memory != nullptr) return copy;
  const View& view = whole_.views[j];
  const size_t cell = view.narrow != nullptr ? sizeof(float) : view.wide != nullptr ? sizeof(double) : view.width;
  const size_t n = (part_rows_[part.level - 1] / 16 + 1) * 16;
  // Columns start at different places of a page: the same row of many must not share a set of the cache.
  constexpr size_t line = 64, lines_a_page = 64, step = 11;
  const size_t shift = j * step % lines_a_page * line;
  const size_t of_ranks = options_.random ? 0 : sizeof(uint16_t) + sizeof(uint32_t);
  copy.memory = std::make_unique_for_overwrite<unsigned char[]>(shift + n * (cell + of_ranks));
  copy.data = copy.memory.get() + shift;
  copy.original = reinterpret_cast<uint32_t*>(copy.data + n * cell);
  copy.ranks = reinterpret_cast<uint16_t*>(copy.original + n);
  return copy;
}

template <class Rows, class Criterion>
void DrawnGrower<Rows, Criterion>::take_copy(size_t j, Scope& part) {
  View& view = part.views[j] = part.whole->views[j];
  const unsigned char* data = copy_of(j, part).data;
  // Ranks of a much larger part are ranked again.
  constexpr size_t sparse = 16;
  const bool dense = view.n_codes <= sparse * part.in_whole.size();
  part.copied[j] = part.whole->copied[j] == Copied::ranked && dense ? Copied::ranked : Copied::as_is;
  if (view.narrow != nullptr) {
    view.narrow = reinterpret_cast<const float*>(data);
  } else if (view.wide != nullptr) {
    view.wide = reinterpret_cast<const double*>(data);
  } else {
    view.data = data;
  }
}

// Column j for a node of n rows.
template <class Rows, class Criterion>
auto DrawnGrower<Rows, Criterion>::view(int32_t j, Scope& scope, size_t n) -> const View& {
  const auto at = static_cast<size_t>(j);
  if (scope.level == 0) return scope.views[at];
  if (scope.copied[at] == Copied::no) copy_column(at, scope);
  const DrawnColumn& column = table_.columns[at];
  const bool may = !options_.random && column.width > 1 && column.kind != ColumnKind::categorical;
  if (may && scope.copied[at] != Copied::ranked && n > CodeSums<Sum>::most_few) {
    with_codes(scope.views[at].data, scope.views[at].width, [&](const auto* codes) { rank_column(codes, at, scope); });
  }
  return scope.views[at];
}

template <class Rows, class Criterion>
void DrawnGrower<Rows, Criterion>::copy_column(size_t j, Scope& part) {
  if (part.whole->level > 0 && part.whole->copied[j] == Copied::no) copy_column(j, *part.whole);
  const View& view = part.whole->views[j];
  const auto gather = [&](const auto* from) {
    auto* to = reinterpret_cast<std::remove_cvref_t<decltype(*from)>*>(copy_of(j, part).data);
    for (size_t i = 0; i < part.in_whole.size(); ++i) to[i] = from[part.in_whole[i]];
  };
  if (view.narrow != nullptr) {
    gather(view.narrow);
  } else if (view.wide != nullptr) {
    gather(view.wide);
  } else {
    with_codes(view.data, view.width, gather);
  }
  take_copy(j, part);
}

// Codes become ranks, from 1, among those present in the part; 0 stays missing.
template <class Rows, class Criterion>
template <class Code>
void DrawnGrower<Rows, Criterion>::rank_column(const Code* codes, size_t j, Scope& part) {
  const DrawnCopy& copy = copy_of(j, part);
  View& view = part.views[j];
  const size_t n = part.in_whole.size();
  bits_.make_room(view.n_codes);
  if (rank_of_.size() <= view.n_codes) rank_of_.resize(size_t{view.n_codes} + 1);
  for (size_t i = 0; i < n; ++i) bits_.add(codes[i]);
  uint16_t* const rank_of = rank_of_.data();
  uint32_t* const original = copy.original;
  uint32_t n_ranks = 0;
  rank_of[0] = 0;
  bits_.drain(view.n_codes, [&](uint32_t code) {
    if (code == 0) return;
    original[++n_ranks] = view.in_table(code);
    rank_of[code] = static_cast<uint16_t>(n_ranks);
  });
  for (size_t i = 0; i < n; ++i) copy.ranks[i] = rank_of[codes[i]];
  part.copied[j] = Copied::ranked;
  view.data = copy.ranks;
  view.width = sizeof(uint16_t);
  view.n_codes = n_ranks;
  view.original = original;
}

// ---- splitting ---------------------------------------------------------------------------------------------------

// Writes the best split and parts the rows by it. Returns how many go left.
template <class Rows, class Criterion>
size_t DrawnGrower<Rows, Criterion>::write_split(Scope& scope, const Node& node) {
  const auto at = static_cast<size_t>(best_.column);
  const DrawnColumn& column = table_.columns[at];
  const View& view = scope.views[at];
  const auto ids = ids_of(scope, node);
  const int64_t left_weight = criterion_.weight(best_.left.data());
  const bool heavier_left = left_weight >= criterion_.weight(lanes_.data()) - left_weight;
  const bool missing_left = best_.saw_missing ? best_.missing_left : heavier_left;
  out_.column.push_back(best_.column);
  out_.right.push_back(-1);
  out_.missing_left.push_back(missing_left);
  const double worth = std::max(0.0, best_.score - node.score);
  out_.gain.push_back(std::ldexp(worth, options_.gain_power) * scope.spread->factor);
  if (column.kind == ColumnKind::categorical) return part_by_set(view, ids, heavier_left);
  const bool drawn = best_.drawn && best_.next_code != 0;
  const double threshold =
      drawn ? best_.threshold
            : threshold_between(column.kind, column.marks, view.in_table(best_.code), view.in_table(best_.next_code));
  out_.threshold.push_back(threshold);
  out_.kind.push_back(static_cast<uint8_t>(SplitKind::numeric));
  out_.side.push_back(-1);
  if (drawn && view.narrow != nullptr) {
    const float most = rounded_down(threshold, 0.0F);
    return part_ids(
        ids, [&, values = view.narrow, stride = view.stride](uint32_t row) { return values[row * stride] <= most; });
  }
  if (drawn && view.wide != nullptr) return part_ids(ids, [&](uint32_t row) { return view.wide[row] <= threshold; });
  return with_codes(view.data, view.width, [&](const auto* codes) {
    if (!column.missing) return part_ids(ids, [&](uint32_t row) { return codes[row] <= best_.code; });
    return part_ids(ids, [&](uint32_t row) { return codes[row] == 0 ? missing_left : codes[row] <= best_.code; });
  });
}

// Rows that go left first, both sides in their old order. Returns how many do.
template <class Rows, class Criterion>
template <class Left>
size_t DrawnGrower<Rows, Criterion>::part_ids(std::span<uint32_t> ids, Left left) {
  size_t n_left = 0, n_right = 0;
  for (const uint32_t row : ids) {
    const size_t is_left = left(row);
    ids[n_left] = row;
    id_scratch_[n_right] = row;
    n_left += is_left;
    n_right += 1 - is_left;
  }
  std::copy_n(id_scratch_.begin(), n_right, ids.begin() + static_cast<std::ptrdiff_t>(n_left));
  return n_left;
}

// Categories: the set lists those of the lighter child, so that all the node did not see follow the heavier one.
template <class Rows, class Criterion>
size_t DrawnGrower<Rows, Criterion>::part_by_set(const View& view, std::span<uint32_t> ids, bool heavier_left) {
  std::vector<uint32_t>& set = heavier_left ? best_.right_codes : best_.left_codes;
  std::sort(set.begin(), set.end());
  out_.threshold.push_back(0);
  out_.kind.push_back(static_cast<uint8_t>(SplitKind::categories));
  out_.side.push_back(static_cast<int32_t>(out_.set_left.size()));
  out_.set_left.push_back(!heavier_left);
  out_.set_codes.insert(out_.set_codes.end(), set.begin(), set.end());
  out_.set_start.push_back(static_cast<int64_t>(out_.set_codes.size()));
  listed_.assign((size_t{view.n_codes} >> 6) + 1, 0);
  for (const uint32_t code : set) listed_[code >> 6] |= uint64_t{1} << (code & 63);
  const Router router{out_.missing_left.back() != 0, 0, listed_.data(), !heavier_left};
  return with_codes(view.data, view.width, [&](const auto* codes) {
    return part_ids(ids, [&](uint32_t row) { return router.left(codes[row]); });
  });
}

}  // namespace weald
