#include "core/rows/paged_tree.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/tree/newton/statistics.h"
#include "core/tree/newton/values.h"
#include "core/tree/split/belief.h"

namespace weald {

bool PagedTree::squares(const Codes& codebook, const NewtonOptions& options, size_t n_outputs) {
  const auto many = [](const CodeColumn& c) { return c.kind == ColumnKind::categorical && c.n_codes > few_categories; };
  return options.believes_categories && n_outputs == 1 &&
         std::any_of(codebook.columns.begin(), codebook.columns.end(), many);
}

PagedTree::PagedTree(const Codes& codebook, const GradientCounts& counts, const NewtonOptions& options, bool weighted,
                     bool whole)
    : options_(options),
      units_(choose_units(counts, options, weighted, whole, squares(codebook, options, counts.given.of_output.size()))),
      grow_(grow_options_in(options_, units_.powers)),
      weighted_(weighted),
      n_drawn_(counts.n_drawn) {
  require(counts.n_drawn > 0, "a tree has a row");
  require(!options.zero_gain, "splits of no gain look at rows one by one");
  if (units_.n_outputs > 1) grow_.min_weight_leaf = 0;  // outputs fall silent one by one instead
  grower_ = std::make_unique<LevelGrower>(grow_columns(codebook), statistic(), grow_);
}

std::unique_ptr<Statistic> PagedTree::statistic() const {
  if (units_.n_outputs > 1) {
    const LaneRows rows{{}, static_cast<int>(2 * units_.n_outputs)};
    return newton_statistic(rows, many_in(options_, units_.powers, units_.n_outputs));
  }
  const Newton criterion = criterion_in(options_, units_.powers);
  if (units_.packed()) return newton_statistic(NarrowRows{}, criterion);
  return newton_statistic(PairRows{{}, units_.zeros}, criterion);
}

// After the last splits, leaves are added up in wide units where histograms have fewer bits: in the pass that applies
// those splits if no histogram is asked for there, else in one of its own.
bool PagedTree::next() {
  if (done_) return false;
  task_ = {};
  task_.units = units_;
  task_.counted = grower_->counted();
  const bool grows = grower_->next(task_.plan);
  const bool last = task_.plan.n_histograms == 0;
  task_.leaves = last && units_.packed();
  done_ = !grows;
  return grows || (task_.leaves && !summed_);
}

void PagedTree::take(LevelSums& sums, Run& run) {
  sums.finish(run);
  summed_ = task_.leaves;
  if (task_.leaves) leaf_sums_ = std::move(sums.leaf_sums);
  if (done_) return;
  if (units_.squared && !squares_.known()) {
    squares_ = {{}, 1.0, true};
    if (!units_.square_lanes) {
      const bool fractions = weighted_ && !units_.whole;
      const SquareUnit unit = units_.rule->unit(fractions, sums.weight, n_drawn_);
      squares_.unit = std::ldexp(unit.share, unit.power + 2 * units_.powers.g);
    }
  }
  grower_->take(sums.totals, sums.cells, squares_, run);
}

NewtonTree PagedTree::finish() {
  GrownTree grown = grower_->finish();
  if (options_.prune_after && options_.gamma > 0) grown.prune(options_.gamma);
  leaf_of_number_ = grower_->leaf_of_numbers(grown);
  NewtonTree tree;
  tree.arrays = flatten(std::move(grown));
  tree.narrow = units_.kind == TreeUnits::Kind::narrow;
  const double bound_scale = scale_of(units_.powers.h - units_.powers.g);
  if (units_.n_outputs > 1) {
    fill_many_values(tree, many_in(options_, units_.powers, units_.n_outputs), units_.powers);
  } else if (!units_.packed()) {
    fill_values(tree, criterion_in(options_, units_.powers), units_.powers, tree.arrays.lanes, bound_scale,
                options_.min_weight);
  } else {
    std::vector<int64_t> of_leaves(2 * (tree.arrays.leaf_start.size() - 1), 0);
    for (size_t number = 0; 2 * number < leaf_sums_.size(); ++number) {
      const int32_t leaf = leaf_of_number_[number];
      if (leaf < 0) continue;
      of_leaves[2 * static_cast<size_t>(leaf)] += leaf_sums_[2 * number];
      of_leaves[2 * static_cast<size_t>(leaf) + 1] += leaf_sums_[2 * number + 1];
    }
    fill_values_of_sums(tree, criterion_in(options_, units_.wide), units_.wide, of_leaves, bound_scale,
                        options_.min_weight);
  }
  return tree;
}

}  // namespace weald
