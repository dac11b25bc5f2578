#include "core/rows/statistic/block_tree.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/tree/grow/grower.h"
#include "core/tree/rows/tree_orders.h"

namespace weald {

BlockTree::BlockTree(const Codes& codebook, const StatisticKind& kind, const GrowOptions& options,
                     const BlockPlan& plan)
    : codebook_(codebook), kind_(kind), options_(options), plan_(plan), in_memory_(plan.n_rows <= plan.memory_rows) {
  if (plan.n_rows == 0) throw BadInput("no row has a positive weight");
  require(options.combined_columns == 0, "combinations of columns look at all rows");
  if (in_memory_) {
    waiting_.push_back({0, plan.n_rows, {}});
    return;
  }
  Run run(1);
  sums_only_ = kind_.make({}, run);
  grower_ = std::make_unique<LevelGrower>(grow_columns(codebook), std::move(sums_only_.statistic), options_,
                                          plan.memory_rows);
}

bool BlockTree::next() {
  sums_.reset();
  gathered_.reset();
  LevelTask task;
  if (grower_ != nullptr && !leveled_) {
    leveled_ = !grower_->next(task.plan);
    n_numbers_ = std::max<size_t>(1, task.plan.split.size());
  }
  if (grower_ != nullptr && !leveled_) {
    task.n_lanes = kind_.n_lanes();
    task.counted = grower_->counted();
    task.units.kind = kind_.packed() ? TreeUnits::Kind::words : TreeUnits::Kind::wide;
    task.seen = !begun_ && wants_tree_orders(options_);
    sums_ = std::make_unique<LevelSums>(codebook_, std::move(task));
  }
  if (!waiting_.empty()) plan_gathering(n_numbers_);
  return reads_codes() || plan_means();
}

// As many of the nodes that wait as there is room for, the first ones first.
void BlockTree::plan_gathering(size_t n_numbers) {
  std::vector<int32_t> part_of(n_numbers, -1);
  std::vector<size_t> n_rows;
  size_t total = 0, n = 0;
  for (; n < waiting_.size() && (n == 0 || total + waiting_[n].n_rows <= plan_.memory_rows); ++n) {
    total += waiting_[n].n_rows;
    part_of[static_cast<size_t>(waiting_[n].number)] = static_cast<int32_t>(n);
    n_rows.push_back(waiting_[n].n_rows);
  }
  const auto taken = waiting_.begin() + static_cast<std::ptrdiff_t>(n);
  gathering_.assign(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(taken));
  waiting_.erase(waiting_.begin(), taken);
  gathered_ = std::make_unique<GatheredRows>(codebook_, kind_, plan_.drawn, n_rows, std::move(part_of));
}

// The means of nodes that are not in branches: of all, or of leaves alone.
bool BlockTree::plan_means() {
  if (grower_ == nullptr || kind_.classes()) return false;
  if (tree_ == nullptr) {
    tree_ = std::make_unique<GrownTree>(grower_->finish());
    std::vector<uint8_t> wanted(grower_->parents().size(), 0);
    std::vector<int32_t> stack{0};
    while (!stack.empty()) {
      const auto number = static_cast<size_t>(stack.back());
      stack.pop_back();
      const NodeRecord& node = tree_->nodes[number];
      wanted[number] = node.left < 0 || !options_.leaf_means_only;
      if (node.left >= 0) stack.insert(stack.end(), {node.left, node.right});
    }
    for (const auto& branch : branches_) wanted[static_cast<size_t>(branch.first)] = 0;
    means_ = std::make_unique<NodeMeans>(grower_->parents(), std::move(wanted), kind_.n_targets());
  }
  return means_->next();
}

template <class Number>
void BlockTree::add(const Codes* codes, const StatisticRows& rows, uint64_t first_row, std::span<Number> number,
                    Run& run) {
  require(codes != nullptr || !reads_codes(), "this pass reads codes");
  if (!reads_codes()) return means_->add<Number>(rows, first_row, number, run);
  if (gathered_ != nullptr) gathered_->add<Number>(*codes, rows, number, run);
  if (sums_ != nullptr) sums_->add(StatisticBlock{codes, rows, kind_, grower_->statistic()}, number, run);
}

template void BlockTree::add(const Codes*, const StatisticRows&, uint64_t, std::span<uint16_t>, Run&);
template void BlockTree::add(const Codes*, const StatisticRows&, uint64_t, std::span<uint32_t>, Run&);

void BlockTree::take(Run& run) {
  if (!reads_codes()) return means_->take();
  if (gathered_ != nullptr) grow_gathered(run);
  if (sums_ == nullptr) return;
  sums_->finish(run);
  if (!begun_) begin_tree(*sums_);
  grower_->take(sums_->totals, sums_->cells, {}, run);
  std::vector<Aside> aside = grower_->take_aside();
  waiting_.insert(waiting_.end(), std::make_move_iterator(aside.begin()), std::make_move_iterator(aside.end()));
}

// What is only known when all rows have been seen once.
void BlockTree::begin_tree(const LevelSums& sums) {
  begun_ = true;
  if (plan_.weight_share <= 0) return;
  const int64_t total = grower_->statistic().weight(sums.totals.lanes.data());
  options_.min_weight_leaf = least_weight(plan_.weight_share, total);
}

// Branches by one thread each, the largest first; one alone by all.
void BlockTree::grow_gathered(Run& run) {
  const size_t n = gathering_.size();
  std::vector<GrownTree> grown(n);
  std::vector<size_t> by_size(n);
  std::iota(by_size.begin(), by_size.end(), size_t{0});
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](size_t a, size_t b) { return gathering_[a].n_rows > gathering_[b].n_rows; });
  const auto grow = [&](size_t part, Run& own) {
    grown[part] = grow_part(part, std::move(gathering_[part].place), own);
    gathered_->release(part);
  };
  if (n == 1) {
    grow(0, run);
  } else {
    parallel_for(run, static_cast<int64_t>(n), [&](int64_t i, int) {
      Run own(&run);
      grow(by_size[static_cast<size_t>(i)], own);
    });
  }
  for (size_t part = 0; part < n; ++part) {
    grown[part].ids.clear();
    branches_.emplace_back(gathering_[part].number, std::move(grown[part]));
  }
}

GrownTree BlockTree::grow_part(size_t part, Place place, Run& run) const {
  const size_t n = gathered_->n_rows(part);
  std::vector<uint32_t> ids(n);
  std::iota(ids.begin(), ids.end(), 0U);
  const StatisticRows rows = gathered_->rows(part);
  MadeStatistic made = kind_.make(rows, run);
  GrowOptions options = options_;
  if (in_memory_ && plan_.weight_share > 0) {
    std::vector<int64_t> lanes(kind_.n_lanes(), 0);
    made.statistic->add_rows(ids, lanes.data());
    options.min_weight_leaf = least_weight(plan_.weight_share, made.statistic->weight(lanes.data()));
  }
  std::unique_ptr<Statistic> statistic = std::move(made.statistic);
  if (!in_memory_ && statistic->kind().compacts) statistic = statistic->gather(ids, place.lanes);
  Grower grower(gathered_->columns(part), n, std::move(ids), std::move(statistic), options, run, {}, std::move(place));
  return grower.grow();
}

GrownTree BlockTree::whole() {
  if (in_memory_) return std::move(branches_.at(0).second);
  GrownTree tree = tree_ == nullptr ? grower_->finish() : std::move(*tree_);
  const size_t n_targets = kind_.n_targets();
  for (size_t number = 0; means_ != nullptr && number < tree.nodes.size(); ++number) {
    if (!means_->wants(static_cast<int32_t>(number))) continue;
    for (size_t o = 0; o < n_targets; ++o) {
      tree.means[number * n_targets + o] = means_->mean(static_cast<int32_t>(number), o, tree.nodes[number].weight);
    }
  }
  if (grower_->statistic().kind().compacts) tree.keep_some_lanes();
  for (auto& [number, branch] : branches_) tree.graft(number, std::move(branch));
  return tree;
}

TreeArrays BlockTree::finish() {
  TreeArrays tree = flatten(whole(), options_.leaf_means_only);
  const bool few = kind_.n_outputs() == 1 && kind_.n_lanes() == 2 && !kind_.weighted();
  if (kind_.classes() && !few) check_room(tree, static_cast<int>(kind_.n_lanes()), plan_.n_trees, options_.value_bytes);
  return tree;
}

}  // namespace weald
