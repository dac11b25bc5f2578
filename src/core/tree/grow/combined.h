// Grower, sixth part: linear combinations of columns as candidates. Included by grow.h.
#pragma once

#include "core/tree/grow/grower.h"

namespace weald {

// The sum of a row's terms as predictions add it up; NaN if one of its values is missing.
template <class Rows, class Criterion>
double Grower<Rows, Criterion>::combined_value(std::span<const Term> terms, uint32_t row) const {
  double sum = 0;
  for (const Term& term : terms) {
    const GrowColumn& column = columns_[static_cast<size_t>(term.column)];
    const uint32_t code =
        with_codes(column.data, column.width, [&](const auto* codes) -> uint32_t { return codes[row]; });
    if (code == 0) return std::numeric_limits<double>::quiet_NaN();
    sum += term.coefficient * column.marks[code - 1];
  }
  return sum;
}

// As many candidates as max_columns says. Each draws a column: one of numbers starts a combination, any other stands
// for itself.
template <class Rows, class Criterion>
void Grower<Rows, Criterion>::search_combined(Node& node) {
  run_.check();
  Worker& worker = workers_[0];
  const size_t n = columns_.size();
  node.split.clear(ties_of(node));
  for (int64_t i = 0; i < options_.max_columns; ++i) {
    const uint64_t word = draw(options_.seed, Purpose::combination, node.path, static_cast<uint64_t>(i));
    const auto first = static_cast<size_t>((static_cast<unsigned __int128>(word) * n) >> 64);
    if (options_.scales[first] > 0) {
      const auto n_terms = static_cast<size_t>(options_.combined_columns);
      search_combination(draw_terms(word, first, n_terms, options_.scales), static_cast<int32_t>(first), node, worker,
                         node.split);
    } else {
      search_alone(static_cast<int32_t>(first), node, worker, node.split);
    }
  }
  // Nothing valid among them: go on, one column at a time, until something is.
  const auto start = static_cast<size_t>(node.path % n);
  for (size_t i = 0; i < n && !node.split.found(); ++i) {
    search_alone(static_cast<int32_t>((start + i) % n), node, worker, node.split);
  }
}

template <class Rows, class Criterion>
void Grower<Rows, Criterion>::search_combination(std::vector<Term> terms, int32_t first, const Node& node,
                                                 Worker& worker, Split& best) {
  auto& values = worker.values;
  values.clear();
  worker.entries.clear();
  for (const uint32_t row : ids_of(node)) {
    const double value = combined_value(terms, row);
    if (std::isnan(value)) {
      worker.entries.push_back(row);  // code 0
    } else {
      values.emplace_back(value, row);
    }
  }
  std::sort(values.begin(), values.end());
  // Ranks, from 1, are the codes; `at` has where each begins.
  std::vector<size_t> at{0};
  uint32_t code = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i == 0 || values[i].first != values[i - 1].first) {
      ++code;
      at.push_back(i);
    }
    worker.entries.push_back((static_cast<Entry>(code) << 32) | values[i].second);
  }
  begin_scan(first, node, worker);
  bool won = false;
  if constexpr (by_rows) {
    worker.scan->scan(worker.entries);
    won = worker.scan->offer(first, best);
  } else {
    scan_order(rows_, std::span<const Entry>(worker.entries), *worker.scan);
    won = worker.scan->offer(first, best);
  }
  if (!won) return;
  best.terms = std::move(terms);
  best.threshold = best.next_code == 0 ? std::numeric_limits<double>::infinity()
                                       : midpoint_below(values[at[best.code]].first, values[at[best.next_code]].first);
}

// As mark_rows.
template <class Rows, class Criterion>
size_t Grower<Rows, Criterion>::mark_combined(const Node& node, const NodeRecord& record) {
  size_t n_left = 0;
  for (const uint32_t row : ids_of(node)) {
    const double value = combined_value(node.split.terms, row);
    side_[row] = std::isnan(value) ? record.missing_left : value <= record.threshold;
    n_left += side_[row];
  }
  return n_left;
}

}  // namespace weald
