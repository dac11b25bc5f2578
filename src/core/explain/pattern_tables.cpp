#include "core/explain/pattern_tables.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <numeric>

#include "core/explain/background_patterns.h"
#include "core/explain/leaf_table.h"
#include "core/explain/totals.h"

namespace weald {

namespace {

// Of the tables that exist at a time.
constexpr size_t most_table_bytes = size_t{1} << 26;
constexpr int64_t background_block = 4096;

struct GroupData {
  size_t table = 0;                              // where its table begins, (output, target, pattern)
  size_t counts = 0;                             // where the background's shares of its patterns begin
  size_t targets = 0;                            // columns, then pairs
  std::unique_ptr<BackgroundPatterns> patterns;  // of a group without table
};

// Some trees, with the tables of their groups.
class PatternBatch {
 public:
  PatternBatch(const ExplainedForest& forest, const Totals& totals, bool counted)
      : forest_(forest), totals_(totals), counted_(counted) {}

  // Returns false once there is no room for more trees after this one.
  bool add(PatternTree&& tree, int64_t n_background) {
    const auto width = static_cast<size_t>(forest_.laid.width);
    std::vector<GroupData> data;
    for (const PatternGroup& group : tree.groups) {
      GroupData each;
      each.targets = LeafTableMaker::n_targets(group.slots.size(), totals_.pairs());
      each.table = n_table_;
      each.counts = n_counts_;
      if (group.table) {
        n_table_ += (each.targets * width) << group.n_bits();
        if (counted_) n_counts_ += size_t{1} << group.n_bits();
      } else {
        each.patterns = std::make_unique<BackgroundPatterns>();
        n_other_bytes_ += static_cast<size_t>(n_background) * 16;
      }
      data.push_back(std::move(each));
    }
    trees_.push_back(std::move(tree));
    data_.push_back(std::move(data));
    return (n_table_ + n_counts_) * sizeof(double) + n_other_bytes_ < most_table_bytes;
  }

  int64_t n_trees() const { return static_cast<int64_t>(trees_.size()); }

  void count(const Background& background, Run& run) {
    counts_.assign(n_counts_, 0.0);
    const PredictTable& table = *background.table;
    const int64_t most = std::min(background_block, (table.n_rows + bundle_rows - 1) / bundle_rows * bundle_rows);
    RowValues rows(forest_, table, std::max(most, bundle_rows));
    std::vector<PatternRows<uint16_t>> narrow(static_cast<size_t>(run.n_threads()));
    std::vector<PatternRows<uint64_t>> wide(static_cast<size_t>(run.n_threads()));
    for (int64_t first = 0; first < table.n_rows; first += background_block) {
      rows.read(first, std::min(background_block, table.n_rows - first));
      const double* weight = background.weight.data() + first;
      // Every tree takes the rows in their order, whichever thread does it.
      parallel_for(run, n_trees(), [&](int64_t t, int worker) {
        run.check();
        const PatternTree& tree = trees_[static_cast<size_t>(t)];
        const auto use = [&](size_t g, const auto* pattern) {
          GroupData& data = data_[static_cast<size_t>(t)][g];
          double* counts = counts_.data() + data.counts;
          for (int64_t i = 0; i < rows.n_rows(); ++i) {
            if (data.patterns == nullptr) {
              counts[pattern[i]] += weight[i];
            } else if (weight[i] > 0) {
              data.patterns->add(pattern[i], weight[i]);
            }
          }
        };
        const auto at = static_cast<size_t>(worker);
        tree.wide ? wide[at].pass(tree, rows, use) : narrow[at].pass(tree, rows, use);
      });
    }
  }

  void make_tables(Run& run) {
    tables_.assign(n_table_, 0.0);
    parallel_for(run, n_trees(), [&](int64_t t, int) {
      const PatternTree& tree = trees_[static_cast<size_t>(t)];
      LeafTableMaker maker(totals_.pairs());
      for (size_t g = 0; g < tree.groups.size(); ++g) {
        run.check();
        GroupData& data = data_[static_cast<size_t>(t)][g];
        data.patterns == nullptr ? make_table(tree, tree.groups[g], data, maker) : data.patterns->close();
      }
    });
  }

  // Adds to totals[(output · n_targets + target) · stride + row].
  template <class Pattern>
  void add_rows(size_t t, const RowValues& rows, PatternRows<Pattern>& patterns, const BetaTable& beta, int64_t stride,
                double* totals, Run& run) const {
    const PatternTree& tree = trees_[t];
    patterns.pass(tree, rows, [&](size_t g, const Pattern* pattern) {
      const PatternGroup& group = tree.groups[g];
      const GroupData& data = data_[t][g];
      if (data.patterns != nullptr) {
        run.check();
        return add_listed(tree, group, data, rows.n_rows(), pattern, beta, stride, totals);
      }
      const int64_t output = forest_.laid.output[tree.tree], n = rows.padded();
      const double* table = tables_.data() + data.table;
      for (int64_t k = 0; k < forest_.laid.width; ++k) {
        for_targets(group, [&](int64_t target, size_t) {
          double* to = totals + ((output + k) * totals_.n_targets() + target) * stride;
          for (int64_t i = 0; i < n; ++i) to[i] += table[pattern[i]];
          table += size_t{1} << group.n_bits();
        });
      }
    });
  }
  bool wide(size_t t) const { return trees_[t].wide; }

 private:
  // use(target, its number in the group): columns, then pairs in the order of leaf_table.h.
  template <class Use>
  void for_targets(const PatternGroup& group, Use use) const {
    size_t number = 0;
    for (const int32_t slot : group.slots) use(slot, number++);
    for (size_t w = 1; totals_.pairs() && w < group.slots.size(); ++w) {
      for (size_t u = 0; u < w; ++u) use(totals_.pair(group.slots[u], group.slots[w]), number++);
    }
  }

  // The numbers, in the group, of a leaf's columns and pairs.
  std::vector<size_t> targets_of(const PatternGroup& group, const PatternLeaf& leaf) const {
    std::vector<size_t> out;
    const size_t n = group.slots.size();
    for (const int32_t slot : leaf.slot) {
      out.push_back(static_cast<size_t>(std::ranges::find(group.slots, slot) - group.slots.begin()));
    }
    for (size_t w = 1; totals_.pairs() && w < leaf.slot.size(); ++w) {
      for (size_t u = 0; u < w; ++u) {
        const auto [low, high] = std::minmax(out[u], out[w]);
        out.push_back(n + high * (high - 1) / 2 + low);
      }
    }
    return out;
  }

  void make_table(const PatternTree& tree, const PatternGroup& group, const GroupData& data, LeafTableMaker& maker) {
    const size_t size = size_t{1} << group.n_bits();
    std::vector<uint32_t> kind(size);  // which of the leaf's columns each pattern satisfies
    std::vector<double> folded;
    for (const PatternLeaf& leaf : group.leaves) {
      for (size_t p = 0; p < size; ++p) kind[p] = static_cast<uint32_t>(leaf.satisfied(p));
      const size_t d = leaf.n_columns();
      std::span<const double> unit;
      if (counted_) {
        folded.assign(size_t{1} << d, 0.0);
        for (size_t p = 0; p < size; ++p) folded[kind[p]] += counts_[data.counts + p];
        unit = maker.by_background(folded, d);
      } else {
        unit = maker.by_shares(leaf.share);
      }
      const double* value = forest_.laid.leaf_value(leaf.node);
      const std::vector<size_t> targets = targets_of(group, leaf);
      for (size_t k = 0; k < static_cast<size_t>(forest_.laid.width); ++k) {
        const double scaled = forest_.laid.weight[tree.tree] * value[k];
        for (size_t n = 0; n < targets.size(); ++n) {
          double* to = tables_.data() + data.table + (k * data.targets + targets[n]) * size;
          const double* from = unit.data() + (n << d);
          for (size_t p = 0; p < size; ++p) to[p] += scaled * from[kind[p]];
        }
      }
    }
  }

  // A leaf without table: rows of one pattern are looked up together.
  template <class Pattern>
  void add_listed(const PatternTree& tree, const PatternGroup& group, const GroupData& data, int64_t n,
                  const Pattern* pattern, const BetaTable& beta, int64_t stride, double* totals) const {
    const PatternLeaf& leaf = group.leaves[0];
    std::vector<int64_t> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](int64_t i) { return pattern[i]; });
    std::vector<double> unit(data.targets);
    const double* value = forest_.laid.leaf_value(leaf.node);
    const double weight = forest_.laid.weight[tree.tree];
    const int64_t output = forest_.laid.output[tree.tree];
    for (size_t i = 0; i < order.size(); ++i) {
      if (i == 0 || pattern[order[i]] != pattern[order[i - 1]]) {
        std::ranges::fill(unit, 0.0);
        data.patterns->explain(pattern[order[i]], leaf.n_columns(), totals_.pairs(), beta, unit);
      }
      for (int64_t k = 0; k < forest_.laid.width; ++k) {
        for_targets(group, [&](int64_t target, size_t number) {
          totals[((output + k) * totals_.n_targets() + target) * stride + order[i]] += weight * value[k] * unit[number];
        });
      }
    }
  }

  const ExplainedForest& forest_;
  const Totals& totals_;
  bool counted_;
  std::vector<PatternTree> trees_;
  std::vector<std::vector<GroupData>> data_;
  size_t n_table_ = 0, n_counts_ = 0, n_other_bytes_ = 0;
  std::vector<double> counts_, tables_;
};

// What every thread needs for its rows.
struct PatternWorker {
  std::unique_ptr<RowValues> rows;
  PatternRows<uint16_t> narrow;
  PatternRows<uint64_t> wide;
  std::vector<double> totals;
};

void add_batch(const ExplainedForest& forest, const PatternBatch& batch, const PredictTable& table,
               const Totals& totals, const BetaTable& beta, const ExplainedRows& out, std::atomic<int64_t>& done,
               Run& run) {
  const int64_t block = totals.rows_of_block();
  std::vector<PatternWorker> workers(static_cast<size_t>(run.n_threads()));
  parallel_for(run, (table.n_rows + block - 1) / block, [&](int64_t b, int at) {
    PatternWorker& worker = workers[static_cast<size_t>(at)];
    if (worker.rows == nullptr) worker.rows = std::make_unique<RowValues>(forest, table, block);
    const int64_t first = b * block, n = std::min(block, table.n_rows - first);
    worker.rows->read(first, n);
    worker.totals.assign(static_cast<size_t>(totals.n_outputs() * totals.n_targets() * block), 0.0);
    for (size_t t = 0; t < static_cast<size_t>(batch.n_trees()); ++t) {
      run.check();
      double* to = worker.totals.data();
      batch.wide(t) ? batch.add_rows(t, *worker.rows, worker.wide, beta, block, to, run)
                    : batch.add_rows(t, *worker.rows, worker.narrow, beta, block, to, run);
    }
    totals.write(out, first, n, [&](int64_t i, int64_t k, int64_t target) {
      return worker.totals[static_cast<size_t>((k * totals.n_targets() + target) * block + i)];
    });
    done += n * batch.n_trees();
  });
}

}  // namespace

void explain_by_patterns(const ExplainedForest& forest, const PredictTable& table, const Background& background,
                         TreeRange trees, const PatternLimits& limits, const ExplainedRows& out,
                         std::atomic<int64_t>& done, Run& run) {
  const Totals totals(forest, out.pairs);
  const BetaTable beta(background.table == nullptr ? 1 : 66);
  const bool counted = background.table != nullptr;
  for (size_t t = trees.first; t < trees.last;) {
    PatternBatch batch(forest, totals, counted);
    for (bool room = true; room && t < trees.last; ++t) {
      run.check();
      room = batch.add(pattern_tree(forest, t, limits), counted ? background.table->n_rows : 0);
    }
    if (counted) batch.count(background, run);
    batch.make_tables(run);
    add_batch(forest, batch, table, totals, beta, out, done, run);
  }
}

}  // namespace weald
