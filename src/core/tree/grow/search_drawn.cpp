// Grower: some columns, or linear combinations of them, drawn anew in every node.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/data/encode/cuts.h"
#include "core/tree/grow/grower.h"
#include "core/tree/split/combinations.h"

namespace weald {

void Grower::search_drawn(GrowNode& node) {
  const Draws draws = column_draws(options_, node.path);
  auto n = static_cast<size_t>(options_.max_columns);
  for (size_t i = 0; i < n; ++i) drawn_.draw(draws, i);
  for (auto& worker : workers_) worker.best[0].clear({options_, draws});
  workers_.for_each(n, n * node.size(),
                    [&](size_t i, Worker& worker) { search_alone(drawn_[i], node, worker, worker.best[0]); });
  for (auto& worker : workers_) {
    if (worker.best[0].found() && worker.best[0].better_than(node.split)) node.split = worker.best[0];
  }
  // Nothing valid among them: go on, one column at a time, until something is.
  for (; n < drawn_.size() && !node.split.found(); ++n) {
    workers_.run().check();
    search_alone(drawn_.draw(draws, n), node, workers_.first(), node.split);
  }
  drawn_.undraw(n);
}

// One column by itself. True if it is constant in the node.
bool Grower::search_alone(int32_t j, const GrowNode& node, Worker& worker, Split& best) {
  const GrowColumn& of_node = column(j);
  const Searched at = searched_at(j, node, worker.rules);
  const auto ids = ids_of(node);
  if (of_node.sparse) {
    return worker.search->in_listed(at, sparse_columns_.collect(of_node, ids, node.record, worker), ids, best);
  }
  if (options_.random && worker.search->reads_rows() && of_node.kind != ColumnKind::categorical) {
    return worker.search->drawn(at, ids, best);
  }
  if (in_order(j, node.size())) {
    return worker.search->in_order(at, orders_.make(j, ids, place_.whole, worker), best);
  }
  worker.cells.assign(cells_of(j), 0);
  statistic_->add_histogram(of_node, ids, counted_, worker.cells.data());
  return worker.search->in_cells(at, worker.cells.data(), best);
}

// The sum of a row's terms as predictions add it up; NaN if one of its values is missing.
double Grower::combined_value(std::span<const Term> terms, uint32_t row) const {
  double sum = 0;
  for (const Term& term : terms) {
    const GrowColumn& of_term = column(term.column);
    const uint32_t code =
        with_codes(of_term.data, of_term.width, [&](const auto* codes) -> uint32_t { return codes[row]; });
    if (code == 0) return std::numeric_limits<double>::quiet_NaN();
    sum += term.coefficient * of_term.marks[code - 1];
  }
  return sum;
}

// As many candidates as max_columns says. Each draws a column: one of numbers starts a combination, any other stands
// for itself.
void Grower::search_combined(GrowNode& node) {
  workers_.run().check();
  Worker& worker = workers_.first();
  const size_t n = columns_.size();
  node.split.clear({options_, column_draws(options_, node.path)});
  for (int64_t i = 0; i < options_.max_columns; ++i) {
    const uint64_t word = draw(options_.seed, Purpose::combination, node.path, static_cast<uint64_t>(i));
    const auto first = static_cast<size_t>((static_cast<unsigned __int128>(word) * n) >> 64);
    if (kept_.scales[first] > 0) {
      const auto n_terms = static_cast<size_t>(options_.combined_columns);
      search_combination(draw_terms(word, first, n_terms, kept_.scales), static_cast<int32_t>(first), node, worker,
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

void Grower::search_combination(std::vector<Term> terms, int32_t first, const GrowNode& node, Worker& worker,
                                Split& best) {
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
  if (!worker.search->in_combination(searched_at(first, node, worker.rules), worker.entries, best)) return;
  best.terms = std::move(terms);
  best.threshold = best.next_code == 0 ? std::numeric_limits<double>::infinity()
                                       : midpoint_below(values[at[best.code]].first, values[at[best.next_code]].first);
}

}  // namespace weald
