// What every entry point of grow_tree.h needs: the columns as the grower reads them, the rows that take part.
#pragma once

#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "core/tree/grow/grower.h"
#include "core/tree/grow_drawn/grower.h"
#include "core/tree/rows/bags.h"

namespace weald {

inline std::vector<GrowColumn> grow_columns(const Codes& codes) {
  std::vector<GrowColumn> columns;
  columns.reserve(codes.columns.size());
  for (const CodeColumn& column : codes.columns) {
    columns.push_back({column.data, column.marks.data(), column.rows, column.n_codes, column.n_entries,
                       column.default_code, column.kind, static_cast<uint8_t>(column.width), column.sparse});
  }
  return columns;
}

// Rows whose weight is not 0; `weights` has one entry every `stride`, or is empty: all rows.
inline std::vector<uint32_t> present_rows(int64_t n_rows, std::span<const int64_t> weights, size_t stride = 1,
                                          size_t at = 0) {
  std::vector<uint32_t> ids;
  if (weights.empty()) {
    ids.resize(static_cast<size_t>(n_rows));
    std::iota(ids.begin(), ids.end(), 0U);
    return ids;
  }
  for (size_t row = 0; row < static_cast<size_t>(n_rows); ++row) {
    if (weights[row * stride + at] != 0) ids.push_back(static_cast<uint32_t>(row));
  }
  return ids;
}

template <class Rows, class Criterion>
TreeArrays grow_flat(const Codes& codes, std::vector<uint32_t> ids, Rows rows, const Criterion& criterion,
                     Spread spread, const GrowOptions& options, Run& run) {
  if (ids.empty()) throw BadInput("no row has a positive weight");
  if constexpr (!ByRows<Criterion> && !Criterion::rows_may_be_zero) {
    if (options.drawn_table != nullptr) {
      return DrawnGrower<Rows, Criterion>(*options.drawn_table, std::move(ids), rows, criterion, spread, options, run)
          .grow(options.joiner->spare());
    }
  }
  const auto n_rows = static_cast<size_t>(codes.n_rows);
  Grower<Rows, Criterion> grower(grow_columns(codes), n_rows, std::move(ids), std::move(rows), criterion,
                                 std::move(spread), options, run);
  return flatten(grower.grow(), options.leaf_means_only);
}

// Rows of `present` that a bag has; an empty bag has all.
inline std::vector<uint32_t> drawn_rows(std::span<const uint32_t> present, std::span<const uint32_t> counts) {
  std::vector<uint32_t> ids;
  ids.reserve(present.size());
  for (const uint32_t row : present) {
    if (counts.empty() || counts[row] > 0) ids.push_back(row);
  }
  return ids;
}

// The tree of every bag, joined; without bags one tree of all rows. Trees grow on one thread each if there are enough
// of them. grow_one(counts, options, run): the tree of one bag; no counts: every row once.
template <class GrowOne>
TreeArrays grow_trees(const Codes& codes, const Bags* bags, std::span<const uint32_t> present,
                      const GrowOptions& options, Run& run, const GrowOne& grow_one) {
  if (bags == nullptr) return grow_one(std::span<const uint32_t>{}, options, run);
  if (present.empty()) throw BadInput("no row has a positive weight");
  GrowOptions shared = options;
  if (options.combined_columns > 0) shared.scales = column_scales(codes, present);
  const bool one_each = bags->n_trees >= 2 * int64_t{run.n_threads()};
  std::unique_ptr<DrawnTable> drawn_table;
  if (one_each && DrawnTable::fits(codes, options)) {
    drawn_table = std::make_unique<DrawnTable>(codes, options, run);
    shared.drawn_table = drawn_table.get();
  }
  TreeJoiner joiner(bags->n_trees);
  shared.joiner = &joiner;
  const auto grow = [&](int64_t t, Run& part) {
    const std::vector<uint32_t> counts = bag_of(*bags, t, present, static_cast<size_t>(codes.n_rows));
    GrowOptions mine = shared;
    mine.seed = bags->tree_seed(t);
    joiner.add(t, grow_one(std::span<const uint32_t>(counts), mine, part));
  };
  if (one_each) {
    parallel_for(run, bags->n_trees, [&](int64_t t, int) {
      Run part(&run);
      grow(t, part);
    });
  } else {
    for (int64_t t = 0; t < bags->n_trees; ++t) grow(t, run);
  }
  return joiner.finish();
}

// The options of one tree: the least weight of its leaves is a share of its own.
inline GrowOptions with_share(GrowOptions options, const Bags* bags, int64_t total_weight) {
  if (bags == nullptr || bags->min_weight_share <= 0) return options;
  const double least = std::ceil(bags->min_weight_share * static_cast<double>(total_weight));
  options.min_weight_leaf = static_cast<int64_t>(std::min(least, 0x1p62));
  return options;
}

// `width` numbers a row, each times the row's count.
inline std::vector<int64_t> times_counts(std::span<const int64_t> values, std::span<const uint32_t> counts) {
  std::vector<int64_t> out(values.begin(), values.end());
  if (counts.empty()) return out;
  const size_t width = values.size() / counts.size();
  for (size_t i = 0; i < out.size(); ++i) out[i] *= counts[i / width];
  return out;
}

}  // namespace weald
