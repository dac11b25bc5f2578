// Forest-RC: candidates that are linear combinations of a few numeric columns, drawn anew in every node.
//
// A combination is Σ aᵢ xᵢ with aᵢ = uᵢ / sd(column i), uᵢ uniform in [−1, 1): as good as one of standardised columns,
// whose means only move the threshold. Terms stand in the order of their columns, and are added in that order, here as
// in predictions. A row that misses one of the values misses the sum.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/data/codes.h"

namespace weald {

struct Term {
  int32_t column;
  double coefficient;
};

// 1 / standard deviation over some rows, for every dense column of exact numbers; 0 for others and for constant ones.
// By counts of codes, so that the order of rows never shows.
inline std::vector<double> column_scales(const Codes& codes, std::span<const uint32_t> rows) {
  std::vector<double> scales(codes.columns.size(), 0.0);
  for (size_t j = 0; j < codes.columns.size(); ++j) {
    const CodeColumn& column = codes.columns[j];
    if (column.kind != ColumnKind::exact || column.sparse) continue;
    std::vector<int64_t> counts(size_t{column.n_codes} + 1, 0);
    with_codes(column.data, column.width, [&](const auto* code) {
      for (const uint32_t row : rows) ++counts[code[row]];
    });
    double n = 0, sum = 0, squares = 0;
    for (size_t code = 1; code < counts.size(); ++code) {
      n += static_cast<double>(counts[code]);
      sum += static_cast<double>(counts[code]) * column.marks[code - 1];
    }
    const double mean = n > 0 ? sum / n : 0;
    for (size_t code = 1; code < counts.size(); ++code) {
      const double off = column.marks[code - 1] - mean;
      squares += static_cast<double>(counts[code]) * off * off;
    }
    const double scale = 1 / std::sqrt(squares / n);
    if (squares > 0 && std::isfinite(scale)) scales[j] = scale;
  }
  return scales;
}

// n terms: the column `first`, and others drawn among those that can be combined.
inline std::vector<Term> draw_terms(uint64_t word, size_t first, size_t n, std::span<const double> scales) {
  std::vector<std::pair<uint64_t, size_t>> others;
  for (size_t j = 0; j < scales.size(); ++j) {
    if (j != first && scales[j] > 0) others.emplace_back(draw(word, Purpose::combined_column, j), j);
  }
  std::sort(others.begin(), others.end());
  std::vector<size_t> columns{first};
  for (size_t k = 0; k + 1 < n && k < others.size(); ++k) columns.push_back(others[k].second);
  std::sort(columns.begin(), columns.end());
  std::vector<Term> terms;
  for (const size_t j : columns) {
    const double u = static_cast<double>(draw(word, Purpose::coefficient, j) >> 11) * 0x1p-52 - 1;
    terms.push_back({static_cast<int32_t>(j), (u == 0 ? 1 : u) * scales[j]});
  }
  return terms;
}

}  // namespace weald
