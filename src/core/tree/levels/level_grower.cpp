#include "core/tree/levels/level_grower.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/tree/grow/histogram.h"
#include "core/tree/grow_drawn/columns.h"
#include "core/tree/rows/tree_orders.h"

namespace weald {

LevelGrower::LevelGrower(std::vector<GrowColumn> columns, std::unique_ptr<Statistic> statistic,
                         const GrowOptions& options, size_t aside_rows)
    : GrowingTree(std::move(columns), std::move(statistic), options, {}, {}),
      cell_start_{0},
      ordered_(options.max_leaves > 0),
      all_(options.max_columns <= 0 || options.max_columns >= static_cast<int64_t>(columns_.size())),
      aside_rows_(ordered_ ? 0 : aside_rows),
      // Where the order of splits does not show, nodes that one pass has made ready are to come before its children.
      frontier_(true, !ordered_ || options.level_by_level) {
  const size_t stride = static_cast<size_t>(n_lanes_) + (counted_ ? 1 : 0);
  for (const GrowColumn& each : columns_)
    cell_start_.push_back(cell_start_.back() + (size_t{each.n_codes} + 1) * stride);
}

// Histograms that one pass may add up: as many as are kept between passes, but one node can always be split.
size_t LevelGrower::most_histograms() const {
  const size_t bytes = std::max<size_t>(1, n_cells()) * sizeof(int64_t);
  constexpr size_t most = 0xffff;  // LevelSums numbers them so
  return std::clamp<size_t>(static_cast<size_t>(options_.histogram_bytes) / 2 / bytes, 2, most);
}

std::span<int64_t> LevelGrower::new_cells(GrowNode& node, std::span<const int64_t> from) {
  node.cells = Cells(new int64_t[n_cells()]);
  std::copy(from.begin(), from.end(), node.cells.get());
  ++kept_cells_;
  return {node.cells.get(), n_cells()};
}

void LevelGrower::drop_cells(GrowNode& node) {
  if (node.cells == nullptr) return;
  node.cells.reset();
  --kept_cells_;
}

bool LevelGrower::next(LevelPlan& plan) {
  plan_ = {};
  planned_.clear();
  if (tree_.nodes.empty()) {
    plan_.split = {-1};
    plan_.histogram = {0};
    plan_.n_histograms = 1;
    plan = plan_;
    return true;
  }
  split_ready();
  const size_t n_numbers = tree_.nodes.size();
  plan_.split.assign(n_numbers, -1);
  plan_.histogram.assign(n_numbers, -1);
  const int64_t most_splits = ordered_ ? options_.max_leaves - n_leaves_ : std::numeric_limits<int64_t>::max();
  const size_t most = most_histograms();
  for (GrowNode* node : frontier_.in_order()) {
    if (ready_.contains(node->record)) continue;
    if (static_cast<int64_t>(planned_.size()) >= most_splits || plan_.n_histograms + 2 > most) break;
    plan_node(*node, plan_);
  }
  plan = plan_;
  return !planned_.empty();
}

// Splits nodes that have their children, in the order that one node at a time would take.
void LevelGrower::split_ready() {
  while (!frontier_.empty() && !(ordered_ && n_leaves_ >= options_.max_leaves)) {
    const auto at = ready_.find(frontier_.top().record);
    if (at == ready_.end()) return;
    GrowNode node = frontier_.pop();
    Ready ready = std::move(at->second);
    ready_.erase(at);
    drop_cells(node);
    tree_.nodes[static_cast<size_t>(node.record)] = std::move(ready.parent);
    ++n_leaves_;
    for (int c = 0; c < 2; ++c) {
      if (ready.splits[c]) frontier_.push(std::move(ready.child[c]));
    }
  }
  if (!frontier_.empty() && ordered_ && n_leaves_ >= options_.max_leaves) frontier_.clear();
}

// Its split as rows will follow it; its children get their records, which hang in the tree once it is split for good.
void LevelGrower::plan_node(GrowNode& node, LevelPlan& plan) {
  Ready& ready = ready_[node.record];
  ready.parent = record_of(node);
  write_split(node, ready.parent);
  flip_listed(ready.parent.set);
  const auto left = static_cast<int32_t>(plan.split.size());
  ready.parent.left = left;
  ready.parent.right = left + 1;
  plan.split[static_cast<size_t>(node.record)] = static_cast<int32_t>(plan.splits.size());
  const NodeRecord& split = ready.parent;
  plan.splits.push_back({split.column, split.kind, split.missing_left, split.code, split.set, split.set_left, left});
  plan.split.insert(plan.split.end(), 2, -1);
  plan.histogram.insert(plan.histogram.end(), 2, -1);
  parent_of_.resize(plan.split.size(), -1);
  parent_of_[static_cast<size_t>(left)] = parent_of_[static_cast<size_t>(left) + 1] = node.record;
  planned_.push_back(&node);
  if (node.depth + 1 >= options_.max_depth) return;
  // The lighter child is likely to have fewer rows; whichever is added up, the sums are the same.
  const int64_t left_weight = statistic_->weight(node.split.left.data());
  const int32_t light = 2 * left_weight <= split.weight ? left : left + 1;
  plan.histogram[static_cast<size_t>(light)] = static_cast<int32_t>(plan.n_histograms++);
  if (node.cells == nullptr)
    plan.histogram[static_cast<size_t>(2 * left + 1 - light)] = static_cast<int32_t>(plan.n_histograms++);
}

void LevelGrower::take(const LevelTotals& totals, std::span<int64_t> cells, const RowSquares& squares, Run& run) {
  row_squares_ = squares;
  if (tree_.nodes.empty()) return begin_root(totals, cells, run);
  for (GrowNode* node : planned_) fill_children(*node, totals, cells);
  std::vector<GrowNode*> searched;
  for (GrowNode* node : planned_) {
    for (GrowNode& child : ready_.at(node->record).child) {
      if (ends(child, totals)) continue;
      if (child.size() > aside_rows_) {
        searched.push_back(&child);
      } else {
        aside_.push_back({child.record, child.size(),
                          Place{child.path,
                                child.depth,
                                place_.tree_weight,
                                child.lower,
                                child.upper,
                                child.used,
                                {},
                                place_.orders,
                                {}}});
      }
    }
  }
  search(searched, run);
  for (GrowNode* node : planned_) {
    Ready& ready = ready_.at(node->record);
    for (int c = 0; c < 2; ++c) {
      GrowNode& child = ready.child[c];
      ready.splits[c] = worth_it(child);
      if (!ready.splits[c] || kept_cells_ > most_histograms()) drop_cells(child);
    }
  }
}

void LevelGrower::begin_root(const LevelTotals& totals, std::span<int64_t> cells, Run& run) {
  GrowNode root;
  root.end = static_cast<size_t>(totals.rows[0]);
  if (!totals.squares.empty()) root.squares = totals.squares[0];
  root.record = 0;
  add_told_record(root, told_of(totals, 0).squares, totals.lanes.data());
  parent_of_ = {-1};
  if (wants_tree_orders(options_)) order_categories(totals, cells);
  place_.tree_weight = statistic_->weight(totals.lanes.data());
  new_cells(root, cells);
  GrowNode* only[] = {&root};
  if (!ends(root, totals)) {
    search(only, run);
    if (worth_it(root)) return frontier_.push(std::move(root));
  }
  drop_cells(root);
}

// The orders of categories among all rows, by which their nodes may split as well.
void LevelGrower::order_categories(const LevelTotals& totals, std::span<const int64_t> cells) {
  tree_orders_.resize(columns_.size());
  const size_t stride = static_cast<size_t>(n_lanes_) + (counted_ ? 1 : 0);
  for (size_t j = 0; j < columns_.size(); ++j) {
    const GrowColumn& each = columns_[j];
    if (each.kind != ColumnKind::categorical || each.n_codes < 3 || each.sparse) continue;
    std::vector<uint8_t> alone(totals.seen[j]);
    for (uint8_t& n : alone) n = n == 1;
    tree_orders_[j] = statistic_->order_of(
        {cells.data() + cell_start_[j], stride, each.n_codes, static_cast<size_t>(totals.rows[0]), std::move(alone)});
  }
  place_.orders = tree_orders_;
}

// The children of a planned node: their records, and the sums of those that may be split.
void LevelGrower::fill_children(GrowNode& node, const LevelTotals& totals, std::span<int64_t> cells) {
  Ready& ready = ready_.at(node.record);
  const int32_t left = ready.parent.left;
  const auto n_left = static_cast<size_t>(totals.rows[static_cast<size_t>(left)]);
  bound_children(node, ready.child);
  std::vector<int64_t> lanes(node.split.left);
  const std::vector<int64_t> all(lanes_of(node.record), lanes_of(node.record) + n_lanes_);
  for (int c = 0; c < 2; ++c) {
    GrowNode& child = ready.child[c];
    begin_child(node, c, n_left, child);
    child.record = left + c;
    if (c == 1) {
      for (size_t l = 0; l < lanes.size(); ++l) lanes[l] = all[l] - lanes[l];
    }
    add_told_record(child, told_of(totals, child.record).squares, lanes.data());
  }
  int built[2];
  for (int c = 0; c < 2; ++c) built[c] = plan_.histogram[static_cast<size_t>(left + c)];
  if (built[0] < 0 && built[1] < 0) return drop_cells(node);  // too deep to be split
  for (int c = 0; c < 2; ++c) {
    if (built[c] < 0) continue;
    const auto at = static_cast<size_t>(built[c]);
    new_cells(ready.child[c], cells.subspan(at * n_cells(), n_cells()));
    if (!totals.squares.empty()) ready.child[c].squares = totals.squares[at];
  }
  if (built[0] >= 0 && built[1] >= 0) return;
  const int rest = built[0] < 0 ? 0 : 1;
  GrowNode& child = ready.child[rest];
  child.cells = std::move(node.cells);
  child.squares = node.squares;
  child.squares.subtract(ready.child[1 - rest].squares);
  subtract_histogram(child.cells.get(), ready.child[1 - rest].cells.get(), n_cells());
}

void LevelGrower::search_column(int32_t j, const GrowNode& node, ColumnSearch& search, CategoryRules& rules,
                                Split& best) const {
  const auto at = static_cast<size_t>(j);
  if (column(j).n_codes == 0 || !column_rules_.in_tree(at) || !node.may_use(j)) return;
  const int64_t* const cells = node.cells.get() + cell_start_[at];
  const Searched searched = searched_at(j, node, rules);
  if (options_.random && column(j).kind != ColumnKind::categorical) {
    search.drawn_in_cells(searched, cells, best);
  } else {
    search.in_cells(searched, cells, best);
  }
}

// The best splits of nodes that have their sums. A column of all nodes is searched by one thread.
void LevelGrower::search(std::span<GrowNode*> nodes, Run& run) {
  if (column_rules_.vary()) {
    for (GrowNode* node : nodes) node->allowed = column_rules_.allowed(node->path, node->depth, node->used);
  }
  if (!all_) return search_drawn(nodes, run);
  struct Mine {
    std::unique_ptr<ColumnSearch> search;
    std::vector<Split> best;
    CategoryRules rules;
  };
  std::vector<Mine> workers(static_cast<size_t>(run.n_threads()));
  for (Mine& mine : workers) {
    mine.search = statistic_->make_search(options_, counted_);
    mine.best.resize(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i) mine.best[i].clear({options_, column_draws(options_, nodes[i]->path)});
  }
  parallel_for(run, static_cast<int64_t>(columns_.size()), [&](int64_t number, int worker) {
    Mine& mine = workers[static_cast<size_t>(worker)];
    for (size_t i = 0; i < nodes.size(); ++i) {
      search_column(static_cast<int32_t>(number), *nodes[i], *mine.search, mine.rules, mine.best[i]);
    }
  });
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const Mine& mine : workers) {
      if (mine.best[i].found() && mine.best[i].better_than(nodes[i]->split)) nodes[i]->split = mine.best[i];
    }
  }
}

// The same where every node draws its columns: a node is searched by one thread (Grower::search_drawn).
void LevelGrower::search_drawn(std::span<GrowNode*> nodes, Run& run) {
  struct Mine {
    std::unique_ptr<ColumnSearch> search;
    DrawnColumns drawn;
    CategoryRules rules;
  };
  std::vector<Mine> workers;
  for (int i = 0; i < run.n_threads(); ++i) {
    workers.push_back({statistic_->make_search(options_, counted_), DrawnColumns(columns_.size()), {}});
  }
  parallel_for(run, static_cast<int64_t>(nodes.size()), [&](int64_t at, int worker) {
    Mine& mine = workers[static_cast<size_t>(worker)];
    GrowNode& node = *nodes[static_cast<size_t>(at)];
    const Draws draws = column_draws(options_, node.path);
    const auto n_asked = static_cast<size_t>(options_.max_columns);
    size_t n = 0;
    node.split.clear({options_, draws});
    // Nothing valid among them: go on, one column at a time, until something is.
    while (n < n_asked || (n < mine.drawn.size() && !node.split.found())) {
      search_column(mine.drawn.draw(draws, n++), node, *mine.search, mine.rules, node.split);
    }
    mine.drawn.undraw(n);
  });
}

std::vector<int32_t> LevelGrower::leaf_of_numbers(const GrownTree& tree) const {
  std::vector<int32_t> leaf(parent_of_.size(), -1), stack{0};
  int32_t n_leaves = 0;
  while (!stack.empty()) {
    const int32_t record = stack.back();
    stack.pop_back();
    const NodeRecord& node = tree.nodes[static_cast<size_t>(record)];
    if (node.left < 0) {
      leaf[static_cast<size_t>(record)] = n_leaves++;
      continue;
    }
    stack.push_back(node.right);
    stack.push_back(node.left);
  }
  // Rows have gone down where a branch was cut off, or was made ready and not taken: they belong above.
  for (size_t number = 1; number < leaf.size(); ++number) {
    const int32_t above = leaf[static_cast<size_t>(parent_of_[number])];
    if (above >= 0) leaf[number] = above;
  }
  return leaf;
}

}  // namespace weald
