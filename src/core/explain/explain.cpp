#include "core/explain/explain.h"

#include <algorithm>
#include <memory>
#include <string>

#include "core/explain/pattern_tables.h"
#include "core/explain/totals.h"
#include "core/explain/tree_quadrature.h"

namespace weald {

namespace {

constexpr int32_t most_pattern_columns = 64;

// Rows of a block while trees are walked: enough to repay laying a tree out.
int64_t walked_rows(const Totals& totals) {
  constexpr int64_t values = int64_t{1} << 18, most = 512;
  const int64_t fitting = values / std::max<int64_t>(1, totals.n_targets() * totals.n_outputs());
  return std::clamp(fitting / bundle_rows * bundle_rows, bundle_rows, most);
}

// A table of a leaf takes 2^d · d · points steps, for all rows together; rows without one are compared with the
// background's patterns, of which there may be as many as rows, or as kinds.
PatternLimits interventional_limits(int64_t n_rows, int64_t n_background, bool pairs) {
  constexpr int32_t largest = 14;
  const int32_t group_bits = pairs ? 6 : 7;
  int32_t bits = group_bits;
  while (bits < largest) {
    const int64_t kinds = int64_t{1} << (bits + 1), d = bits + 1;
    const double targets = pairs ? static_cast<double>(d * d) : static_cast<double>(d);
    const double table = static_cast<double>(kinds * points_of_columns(d)) * targets;
    const double listed =
        static_cast<double>(std::min(n_rows, kinds)) * static_cast<double>(std::min(n_background, kinds));
    if (table > listed) break;
    ++bits;
  }
  return {group_bits, bits};
}

}  // namespace

std::vector<double> Explainer::expected(TreeRange trees) const {
  std::vector<double> out(static_cast<size_t>(n_outputs()), 0.0);
  const auto width = static_cast<size_t>(forest_->laid.width);
  for (size_t t = trees.first; t < trees.last; ++t) {
    const double* mean = forest_->mean.data() + static_cast<size_t>(forest_->laid.roots[t]) * width;
    for (size_t k = 0; k < width; ++k) {
      out[static_cast<size_t>(forest_->laid.output[t]) + k] += forest_->laid.weight[t] * mean[k];
    }
  }
  return out;
}

void Explainer::explain(const PredictTable& table, const Background& background, TreeRange trees,
                        const ExplainedRows& out, std::atomic<int64_t>& done, Run& run) const {
  require(table.n_columns() == n_columns(), "one column for each of the model's");
  if (background.table == nullptr) {
    if (!by_tables(table.n_rows, trees, out.pairs)) return by_quadrature(table, trees, out, done, run);
    return explain_by_patterns(*forest_, table, background, trees, {out.pairs ? 6 : 7, 16}, out, done, run);
  }
  require(background.table->n_columns() == n_columns(), "one column for each of the model's");
  require(static_cast<int64_t>(background.weight.size()) == background.table->n_rows, "one weight per row");
  for (size_t t = trees.first; t < trees.last; ++t) {
    if (forest_->most_columns[t] <= most_pattern_columns) continue;
    throw BadInput("tree " + std::to_string(t) + " asks " + std::to_string(forest_->most_columns[t]) +
                   " columns on one path, and values against a background are for " +
                   std::to_string(most_pattern_columns) + " at most. Leave the background out, or limit max_depth.");
  }
  const PatternLimits limits = interventional_limits(table.n_rows, background.table->n_rows, out.pairs);
  explain_by_patterns(*forest_, table, background, trees, limits, out, done, run);
}

// Tables repay themselves where there are many rows and paths ask few columns.
bool Explainer::by_tables(int64_t n_rows, TreeRange trees, bool pairs) const {
  constexpr int64_t few_rows = 256;
  const int32_t most = pairs ? 8 : 7;
  if (n_rows < few_rows) return false;
  return std::all_of(forest_->most_columns.begin() + static_cast<int64_t>(trees.first),
                     forest_->most_columns.begin() + static_cast<int64_t>(trees.last),
                     [&](int32_t columns) { return columns <= most; });
}

void Explainer::by_quadrature(const PredictTable& table, TreeRange trees, const ExplainedRows& out,
                              std::atomic<int64_t>& done, Run& run) const {
  struct Worker {
    std::unique_ptr<RowValues> rows;
    std::unique_ptr<QuadratureTree> tree;
    std::vector<double> totals;
  };
  const Totals targets(*forest_, out.pairs);
  const int64_t block = walked_rows(targets), cells = targets.n_outputs() * targets.n_targets();
  std::vector<Worker> workers(static_cast<size_t>(run.n_threads()));
  parallel_for(run, (table.n_rows + block - 1) / block, [&](int64_t b, int at) {
    Worker& worker = workers[static_cast<size_t>(at)];
    if (worker.rows == nullptr) {
      worker.rows = std::make_unique<RowValues>(*forest_, table, block);
      worker.tree = std::make_unique<QuadratureTree>(*forest_);
    }
    const int64_t first = b * block, n = std::min(block, table.n_rows - first);
    worker.rows->read(first, n);
    worker.totals.assign(static_cast<size_t>(cells * block), 0.0);
    for (size_t t = trees.first; t < trees.last; ++t) {
      run.check();
      worker.tree->prepare(t);
      for (int64_t i = 0; i < n; i += bundle_rows) {
        worker.tree->add(*worker.rows, i, targets, worker.totals.data() + i * cells);
      }
      done += n;
    }
    targets.write(out, first, n, [&](int64_t i, int64_t k, int64_t target) {
      const int64_t cell = i / bundle_rows * cells + k * targets.n_targets() + target;
      return worker.totals[static_cast<size_t>(cell * bundle_rows + i % bundle_rows)];
    });
  });
}

void Explainer::approximate(const PredictTable& table, TreeRange trees, const ExplainedRows& out,
                            std::atomic<int64_t>& done, Run& run) const {
  require(table.n_columns() == n_columns(), "one column for each of the model's");
  const Totals targets(*forest_, false);
  const int64_t block = targets.rows_of_block(), width = forest_->laid.width;
  parallel_for(run, (table.n_rows + block - 1) / block, [&](int64_t b, int) {
    RowValues rows(*forest_, table, block);
    const int64_t first = b * block, n = std::min(block, table.n_rows - first);
    rows.read(first, n);
    std::vector<double> totals(static_cast<size_t>(targets.n_outputs() * targets.n_targets() * n), 0.0);
    const auto cell = [&](int64_t i, int64_t k, int64_t target) -> double& {
      return totals[static_cast<size_t>((i * targets.n_outputs() + k) * targets.n_targets() + target)];
    };
    for (size_t t = trees.first; t < trees.last; ++t) {
      run.check();
      for (int64_t i = 0; i < n; ++i) {
        for (int32_t id = forest_->laid.roots[t]; !forest_->laid.is_leaf(id);) {
          const int32_t next = forest_->child(id, rows.goes_left(id, i));
          for (int64_t k = 0; k < width; ++k) {
            const double change = forest_->mean[static_cast<size_t>(int64_t{next} * width + k)] -
                                  forest_->mean[static_cast<size_t>(int64_t{id} * width + k)];
            cell(i, forest_->laid.output[t] + k, forest_->slot(id)) += forest_->laid.weight[t] * change;
          }
          id = next;
        }
      }
      done += n;
    }
    targets.write(out, first, n, cell);
  });
}

}  // namespace weald
