#include "core/rows/visit.h"

#include <algorithm>

namespace weald {

namespace {

void apply_splits(const Codes& block, const Level& level, std::span<int32_t> node, Run& run) {
  constexpr size_t together = 4096;
  const auto n_parts = static_cast<int64_t>((node.size() + together - 1) / together);
  parallel_for(run, n_parts, [&](int64_t part, int) {
    const size_t first = static_cast<size_t>(part) * together, last = std::min(node.size(), first + together);
    for (size_t row = first; row < last; ++row) {
      if (node[row] < 0) continue;
      require(static_cast<size_t>(node[row]) < level.split.size(), "a row is in a node that is not there");
      const int32_t at = level.split[static_cast<size_t>(node[row])];
      if (at < 0) continue;
      const CodeSplit& split = level.splits[static_cast<size_t>(at)];
      const uint32_t code = code_of(block.columns[static_cast<size_t>(split.column)], static_cast<uint32_t>(row));
      node[row] = (split.left(code) ? level.left : level.right)[static_cast<size_t>(at)];
    }
  });
}

}  // namespace

std::vector<size_t> cell_starts(const Codes& codes) {
  std::vector<size_t> starts{0};
  for (const CodeColumn& column : codes.columns) {
    starts.push_back(starts.back() + visit_lanes * (size_t{column.n_codes} + 1));
  }
  return starts;
}

void visit(const Codes& block, const Level& level, std::span<const int64_t> pairs, std::span<int32_t> node,
           std::span<int64_t> cells, Run& run) {
  const auto n_rows = static_cast<size_t>(block.n_rows);
  require(node.size() == n_rows && pairs.size() == 2 * n_rows, "one node and one pair per row");
  apply_splits(block, level, node, run);
  const std::vector<size_t> starts = cell_starts(block);
  // Rows that are in a histogram, and where that begins.
  std::vector<uint32_t> rows;
  std::vector<size_t> base(n_rows);
  for (uint32_t row = 0; row < n_rows; ++row) {
    if (node[row] < 0) continue;
    require(static_cast<size_t>(node[row]) < level.histogram.size(), "a row came to a node that is not there");
    const int32_t at = level.histogram[static_cast<size_t>(node[row])];
    if (at < 0) continue;
    rows.push_back(row);
    base[row] = static_cast<size_t>(at) * starts.back() + 1;  // 0: in none
    require(base[row] + starts.back() <= cells.size() + 1, "room for every histogram");
  }
  parallel_for(run, static_cast<int64_t>(block.columns.size()), [&](int64_t number, int) {
    const CodeColumn& column = block.columns[static_cast<size_t>(number)];
    int64_t* const to = cells.data() + starts[static_cast<size_t>(number)];
    const auto add = [&](uint32_t row, size_t code) {
      int64_t* cell = to + (base[row] - 1) + visit_lanes * code;
      cell[0] += pairs[2 * size_t{row}];
      cell[1] += pairs[2 * size_t{row} + 1];
      ++cell[2];
    };
    with_codes(column, [&](const auto* codes) {
      if (!column.sparse) {
        for (const uint32_t row : rows) add(row, codes[row]);
        return;
      }
      for (uint32_t i = 0; i < column.n_entries; ++i) {
        if (base[column.rows[i]] != 0) add(column.rows[i], codes[i]);
      }
    });
  });
}

void fill_defaults(const Codes& codes, std::span<const int64_t> totals, std::span<int64_t> cells) {
  const std::vector<size_t> starts = cell_starts(codes);
  require(totals.size() / visit_lanes * starts.back() == cells.size(), "totals of every histogram");
  for (size_t h = 0; h * visit_lanes < totals.size(); ++h) {
    for (size_t j = 0; j < codes.columns.size(); ++j) {
      const CodeColumn& column = codes.columns[j];
      if (!column.sparse) continue;
      int64_t* const first = cells.data() + h * starts.back() + starts[j];
      for (size_t lane = 0; lane < visit_lanes; ++lane) {
        int64_t rest = totals[h * visit_lanes + lane];
        for (size_t code = 0; code <= column.n_codes; ++code) {
          if (code != column.default_code) rest -= first[visit_lanes * code + lane];
        }
        first[visit_lanes * column.default_code + lane] = rest;
      }
    }
  }
}

}  // namespace weald
