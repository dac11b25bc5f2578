// What every entry point of grow_tree.h needs: the columns as the grower reads them, the rows that take part.
#pragma once

#include <numeric>
#include <utility>
#include <vector>

#include "core/tree/grow.h"

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
  const auto n_rows = static_cast<size_t>(codes.n_rows);
  Grower<Rows, Criterion> grower(grow_columns(codes), n_rows, std::move(ids), std::move(rows), criterion,
                                 std::move(spread), options, run);
  return flatten(grower.grow());
}

}  // namespace weald
