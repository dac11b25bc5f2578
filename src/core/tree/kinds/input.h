// What every entry point of tree.h needs: the rows that take part, the trees of all bags, one tree by whichever grower
// suits.
#pragma once

#include <cmath>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "core/tree/grow/grower.h"
#include "core/tree/grow/lane_statistic.h"
#include "core/tree/grow_drawn/grower.h"
#include "core/tree/kinds/made.h"
#include "core/tree/rows/bags.h"

namespace weald {

// What the trees of a forest have in common.
struct TreesTogether {
  std::unique_ptr<DrawnTable> drawn_table;  // present: DrawnGrower grows them
  std::vector<double> scales;               // per column, if columns are combined: see combinations.h
  TreeJoiner joiner;
};

// One tree of a call.
struct TreeCall {
  const Codes& codes;
  std::span<const uint32_t> counts;  // how often its bag has each row; empty: every row once
  GrowOptions options;
  TreesTogether* together;  // nullptr: it is the only one
  Run& run;
  MadeStatistic* made = nullptr;  // present: the statistic alone is asked for, no tree
};

// Rows whose weight is not 0; `weights` has one entry every `stride`, or is empty: all rows.
std::vector<uint32_t> present_rows(int64_t n_rows, std::span<const int64_t> weights, size_t stride = 1, size_t at = 0);
// Rows of `present` that a bag has; an empty bag has all.
std::vector<uint32_t> drawn_rows(std::span<const uint32_t> present, std::span<const uint32_t> counts);
// The least weight of a tree's leaves is a share of its own.
void take_share(GrowOptions& options, const Bags* bags, int64_t total_weight);
// `width` numbers per row, each times the row's count.
std::vector<int64_t> times_counts(std::span<const int64_t> values, std::span<const uint32_t> counts);

TreeArrays grow_statistic(const TreeCall& call, std::vector<uint32_t> ids, std::unique_ptr<Statistic> statistic);

template <class Rows, class Criterion>
TreeArrays grow_flat(const TreeCall& call, std::vector<uint32_t> ids, Rows rows, const Criterion& criterion,
                     Spread spread) {
  if (call.made != nullptr) {
    call.made->statistic =
        std::make_unique<LaneStatistic<Rows, Criterion>>(std::move(rows), criterion, std::move(spread));
    return {};
  }
  if (ids.empty()) throw BadInput("no row has a positive weight");
  if (call.together != nullptr && call.together->drawn_table != nullptr) {
    return DrawnGrower<Rows, Criterion>(*call.together->drawn_table, std::move(ids), rows, criterion, spread,
                                        call.options, call.run)
        .grow(call.together->joiner.spare());
  }
  return grow_statistic(
      call, std::move(ids),
      std::make_unique<LaneStatistic<Rows, Criterion>>(std::move(rows), criterion, std::move(spread)));
}

// The tree of every bag, joined; without bags one tree of all rows. Trees grow on one thread each if there are enough
// of them. `by_sums`: DrawnGrower can compare sums of the rows. grow_one(call): the tree of one bag.
template <class GrowOne>
TreeArrays grow_trees(const Codes& codes, const Bags* bags, const BagSource& source, const GrowOptions& options,
                      bool by_sums, Run& run, const GrowOne& grow_one) {
  if (bags == nullptr) return grow_one(TreeCall{codes, {}, options, nullptr, run});
  const std::span<const uint32_t> present = source.present;
  if (present.empty()) throw BadInput("no row has a positive weight");
  TreesTogether together{nullptr, {}, TreeJoiner(bags->n_trees)};
  if (options.combined_columns > 0) together.scales = column_scales(codes, present);
  const bool one_each = bags->n_trees >= 2 * int64_t{run.n_threads()};
  if (one_each && by_sums && DrawnTable::fits(codes, options)) {
    together.drawn_table = std::make_unique<DrawnTable>(codes, options, run);
  }
  const auto grow = [&](int64_t t, Run& part) {
    const std::vector<uint32_t> counts = bag_of(*bags, t, source, static_cast<size_t>(codes.n_rows));
    TreeCall call{codes, counts, options, &together, part};
    call.options.seed = bags->tree_seed(t);
    together.joiner.add(t, grow_one(std::move(call)));
  };
  if (one_each) {
    parallel_for(run, bags->n_trees, [&](int64_t t, int) {
      Run part(&run);
      grow(t, part);
    });
  } else {
    for (int64_t t = 0; t < bags->n_trees; ++t) grow(t, run);
  }
  return together.joiner.finish();
}

}  // namespace weald
