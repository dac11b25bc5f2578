#include "core/tree/grow/grower.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/tree/items/packed_search.h"
#include "core/tree/rows/tree_orders.h"

namespace weald {

Grower::Grower(std::vector<GrowColumn> columns, size_t n_rows, std::vector<uint32_t> ids,
               std::unique_ptr<Statistic> statistic, const GrowOptions& options, Run& run, const Kept& kept,
               Place place)
    : GrowingTree(std::move(columns), std::move(statistic), options, kept.squares, std::move(place)),
      n_rows_(n_rows),
      ids_(std::move(ids)),
      kept_(kept),
      items_(kept.items),
      all_(options.combined_columns == 0 &&
           (options.max_columns <= 0 || options.max_columns >= static_cast<int64_t>(columns_.size()))),
      search_(kept.items != nullptr ? Search::histogram : options.search),
      workers_(run),
      histograms_(columns_.size(), options.histogram_bytes),
      orders_(columns_, n_rows, kept.dense_order),
      drawn_(all_ ? 0 : columns_.size()),
      frontier_(options.max_leaves > 0, options.level_by_level) {
  if (items_ == nullptr) {
    side_.resize(n_rows);
    id_scratch_.resize(ids_.size());
  } else {
    items_->begin(columns_, n_rows, options, counted_, kept.squares, workers_);
  }
  for (Worker& worker : workers_) {
    worker.search = items_ == nullptr ? statistic_->make_search(options, counted_) : items_->make_search();
  }
  sparse_ = items_ == nullptr &&
            std::any_of(columns_.begin(), columns_.end(), [](const GrowColumn& each) { return each.sparse; });
  if (sparse_ && all_) sparse_columns_.carry(columns_, column_rules_, ids_, kept.sparse_order, side_);
  if (sparse_ && !all_) sparse_columns_.follow(n_rows);
  lay_out_histograms();
  if (items_ != nullptr) {
    items_->keep_cells(histograms_);
    if (all_) items_->make_groups(all_columns_);
  }
  if (!all_ && !options.random && !sparse_ && n_rows <= Ranks::most_rows) orders_.use_ranks();
  choose_subtrees();
}

// Whether to set subtrees aside depends on the data alone. Best-first needs one global order, so it never does, and
// sparse columns are cheap in small nodes as they are. With ranks, parts have small parts of their own, whose ranks
// take few bits.
void Grower::choose_subtrees() {
  constexpr size_t smallest_part = 1024, largest_part = 8192, parts = 8, ranked_part = 512;
  const bool ranked = !orders_.ranks().empty();
  if (options_.max_leaves > 0 || sparse_) return;
  if (items_ != nullptr && (items_->words() || !items_->tiles().listed().empty())) return;
  if (n_taken() >= (place_.tree_weight == 0 ? 2 * smallest_part : 2 * largest_part)) {
    subtree_rows_ = std::clamp(n_taken() / parts, smallest_part, largest_part);
  }
  if (ranked && n_taken() >= 2 * ranked_part) subtree_rows_ = ranked_part;
  constexpr int few_lanes = 64;
  if (statistic_->kind().compacts && n_lanes_ >= few_lanes) {
    subtree_rows_ = std::max(subtree_rows_, std::min(n_taken() / 2, static_cast<size_t>(n_lanes_)));
  }
  if (ranked && subtree_rows_ > 0) number_of_.resize(n_rows_);
}

// A column whose histogram pays at the root gets its place in every node's histograms.
void Grower::lay_out_histograms() {
  const bool flags = items_ != nullptr && items_->has_flags();
  for (size_t c = 0; c < columns_.size(); ++c) {
    const auto j = static_cast<int32_t>(c);
    if (flags && items_->tiles().is_flag(c)) continue;
    const bool unlisted = columns_[c].sparse && items_ == nullptr;
    if (columns_[c].n_codes == 0 || unlisted || !column_rules_.in_tree(c)) continue;
    all_columns_.push_back(j);
    if (in_order(j, ids_.size())) continue;
    histograms_.add_column(c, cells_of(j), search_ == Search::histogram ? 0 : rows_for_histogram(j));
  }
  if (flags) flags_start_ = histograms_.add_block(cell_stride() * items_->tiles().flags().size(), 0);
}

GrownTree Grower::grow() {
  GrowNode root;
  root.end = n_taken();
  root.depth = place_.depth;
  root.path = place_.path;
  root.lower = place_.lower;
  root.upper = place_.upper;
  root.used = place_.used;
  sparse_columns_.place_rows(ids_, root.record);
  std::vector<int64_t> lanes(static_cast<size_t>(n_lanes_), 0);
  statistic_->add_rows(ids_, lanes.data());
  if (items_ != nullptr) items_->begin_root(lanes.data(), root.depth < options_.max_depth && items_->groups().empty());
  root.squares = squares_of(root);
  add_record(root, ids_of(root), lanes.data());
  if (place_.tree_weight == 0) {
    place_.tree_weight = statistic_->weight(lanes.data());
    if (wants_tree_orders(options_)) tree_orders_ = statistic_->orders(columns_, ids_);
    place_.orders = tree_orders_;
  }
  GrowNode* only[] = {&root};
  if (!is_leaf(root, ids_of(root))) search_and_push(only, nullptr);
  while (!frontier_.empty()) {
    if (options_.max_leaves > 0 && n_leaves_ >= options_.max_leaves) break;
    expand(frontier_.pop());
  }
  if (options_.leaf_means_only) add_leaf_means();
  if (items_ == nullptr) {
    tree_.ids = std::move(ids_);
  } else if (kept_.prunes || !aside_.empty() || items_->size() < n_rows_) {
    items_->collect_ids(tree_);
  }
  if (statistic_->kind().compacts) tree_.keep_some_lanes(place_.lanes);
  grow_aside();
  return std::move(tree_);
}

// The means of the nodes that have become leaves; those put aside have theirs when they are grown.
void Grower::add_leaf_means() {
  if (!statistic_->spread().means) return;
  const auto width = static_cast<size_t>(statistic_->spread().n_outputs);
  for (size_t i = 0; i < tree_.nodes.size(); ++i) {
    const NodeRecord& record = tree_.nodes[i];
    if (record.left >= 0) continue;
    const auto ids = std::span(ids_).subspan(record.begin, static_cast<size_t>(record.n_rows));
    statistic_->fill_means(ids, record.weight, tree_.means.data() + i * width);
  }
}

void Grower::search_and_push(std::span<GrowNode*> children, GrowNode* parent) {
  for (size_t c = 0; c < children.size(); ++c) children[c]->place = c;
  search(children, parent);
  for (GrowNode* child : children) {
    if (worth_it(*child)) {
      frontier_.push(std::move(*child));
    } else {
      histograms_.release(*child);
    }
  }
}

// Splits a node: writes its record, parts its rows, finds the children's best splits.
void Grower::expand(GrowNode node) {
  const auto left_record = static_cast<int32_t>(tree_.nodes.size());
  NodeRecord& record = tree_.nodes[static_cast<size_t>(node.record)];
  record.left = left_record;
  record.right = left_record + 1;
  const Router router = write_split(node, record);
  const size_t n_left = part_rows(node, router, record);
  flip_listed(record.set);
  GrowNode children[2];
  bound_children(node, children);
  for (int c = 0; c < 2; ++c) begin_child(node, c, n_left, children[c]);
  square_children(node, children);
  std::vector<int64_t> lanes(node.split.left);
  GrowNode* searched[2];
  size_t n_searched = 0;
  for (int c = 0; c < 2; ++c) {
    GrowNode& child = children[c];
    child.record = left_record + c;
    sparse_columns_.place_rows(ids_of(child), child.record);
    if (c == 1) {
      for (size_t l = 0; l < lanes.size(); ++l) lanes[l] = lanes_of(node.record)[l] - lanes[l];
    }
    add_record(child, ids_of(child), lanes.data());
    if (is_leaf(child, ids_of(child))) continue;
    if (child.size() <= subtree_rows_) {
      put_aside(std::move(child));
    } else {
      searched[n_searched++] = &child;
    }
  }
  ++n_leaves_;
  if (n_searched > 0) search_and_push({searched, n_searched}, &node);
  histograms_.release(node);
}

// Of the root, or of the smaller child of a node whose rows were just parted.
RowSquare Grower::squares_of(const GrowNode& node) {
  if (items_ != nullptr) return items_->summed_squares();
  constexpr size_t together = size_t{1} << 14;
  std::vector<RowSquare> parts(workers_.size());
  const size_t n = kept_.squares.known() ? node.size() : 0;
  workers_.for_each((n + together - 1) / together, n, [&](size_t block, Worker& worker) {
    const size_t begin = node.begin + block * together, end = std::min(node.end, begin + together);
    RowSquare& sum = parts[worker.number];
    for (size_t i = begin; i < end; ++i) sum.add(kept_.squares.of_row[ids_[i]]);
  });
  for (size_t p = 1; p < parts.size(); ++p) parts[0].add(parts[p]);
  return parts[0];
}

// The smaller child is added up, the other has the rest.
void Grower::square_children(const GrowNode& node, GrowNode* children) {
  if (!kept_.squares.known()) return;
  const size_t small = children[0].size() <= children[1].size() ? 0 : 1;  // as items see it too
  children[small].squares = squares_of(children[small]);
  children[1 - small].squares = node.squares;
  children[1 - small].squares.subtract(children[small].squares);
}

}  // namespace weald
