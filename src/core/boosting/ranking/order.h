// The rows of one query in order, and queries in blocks: shared by the gradients and the metrics of ranking.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/check.h"
#include "core/base/radix_sort.h"
#include "core/data/encode/order_key.h"

namespace weald::ranking {

struct Ranked {
  uint64_t key;
  int32_t row;  // within its query
};

// Equation R1: the rows of a query by falling value; equal values (−0 and 0 are) keep the order of the rows.
inline void rank_rows(std::span<const double> values, std::vector<Ranked>& scratch, std::vector<Ranked>& out) {
  constexpr size_t few = 256;
  out.resize(values.size());
  for (size_t i = 0; i < values.size(); ++i) out[i] = {~to_key(values[i] + 0.0), static_cast<int32_t>(i)};
  if (values.size() < few) {
    std::sort(out.begin(), out.end(),
              [](const Ranked& a, const Ranked& b) { return a.key != b.key ? a.key < b.key : a.row < b.row; });
    return;
  }
  scratch.resize(values.size());
  radix_sort(out.data(), scratch.data(), out.size(), 0, 64, [](const Ranked& item) { return item.key; });
}

// Whole queries in blocks of some thousand rows: block b has the queries [result[b], result[b + 1]).
inline std::vector<int64_t> query_blocks(std::span<const int64_t> start) {
  constexpr int64_t rows_a_block = 4096;
  require(!start.empty() && start.front() == 0, "queries start at row 0");
  std::vector<int64_t> first{0};
  const auto n_queries = static_cast<int64_t>(start.size()) - 1;
  for (int64_t q = 0; q < n_queries; ++q) {
    const int64_t end = start[static_cast<size_t>(q) + 1];
    require(end >= start[static_cast<size_t>(q)], "queries follow each other");
    require(end - start[static_cast<size_t>(q)] <= INT32_MAX, "a query has fewer than 2^31 rows");
    if (end - start[static_cast<size_t>(first.back())] >= rows_a_block) first.push_back(q + 1);
  }
  if (first.back() != n_queries) first.push_back(n_queries);
  return first;
}

}  // namespace weald::ranking
