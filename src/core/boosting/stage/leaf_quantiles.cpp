#include "core/boosting/stage/leaf_quantiles.h"

#include <algorithm>
#include <cmath>

namespace weald {

namespace {

// The k-th smallest and, by a share of the way, the next one: at place α (n + 1), counted from 1.
double interpolated(std::span<double> values, double alpha) {
  const auto n = static_cast<double>(values.size());
  const double place = std::clamp(alpha * (n + 1.0), 1.0, n);
  const auto k = static_cast<int64_t>(place) - 1;
  const auto at = values.begin() + k;
  std::nth_element(values.begin(), at, values.end());
  const double share = place - 1.0 - static_cast<double>(k);
  if (at + 1 == values.end() || share == 0.0) return *at;
  return *at + share * (*std::min_element(at + 1, values.end()) - *at);
}

// The smallest value with at least the share α of the weight up to and including it: the half that holds it is kept
// until one is left.
double weighted(std::span<Residual> rows, double alpha) {
  int64_t total = 0;
  for (const Residual& row : rows) total += row.weight;
  const double wanted = alpha * static_cast<double>(total);
  int64_t before = 0;
  auto first = rows.begin();
  auto last = rows.end();
  while (last - first > 1) {
    const auto middle = first + (last - first) / 2;
    std::nth_element(first, middle, last);
    int64_t lower = before;
    for (auto row = first; row != middle; ++row) lower += row->weight;
    if (static_cast<double>(lower) >= wanted) {
      last = middle;
    } else {
      before = lower;
      first = middle;
    }
  }
  return first->value;
}

// Items of each leaf side by side: [start[leaf], start[leaf + 1]). Rows of weight 0 are left out.
template <class Item, class Make>
std::vector<Item> by_leaf(const ResidualRows& rows, std::vector<size_t>& start, Make make) {
  const auto present = [&](size_t row) { return rows.leaf[row] >= 0 && (rows.weight.empty() || rows.weight[row] > 0); };
  const auto n_leaves = start.size() - 1;
  for (size_t row = 0; row < rows.leaf.size(); ++row) {
    if (!present(row)) continue;
    require(static_cast<size_t>(rows.leaf[row]) < n_leaves, "a row is in a leaf that is not there");
    ++start[static_cast<size_t>(rows.leaf[row]) + 1];
  }
  for (size_t leaf = 0; leaf < n_leaves; ++leaf) start[leaf + 1] += start[leaf];
  std::vector<size_t> next(start.begin(), start.end() - 1);
  std::vector<Item> items(start.back());
  for (size_t row = 0; row < rows.leaf.size(); ++row) {
    if (present(row)) items[next[static_cast<size_t>(rows.leaf[row])]++] = make(row);
  }
  return items;
}

}  // namespace

std::vector<double> leaf_quantiles(const ResidualRows& rows, int64_t n_leaves, double alpha, Run& run) {
  std::vector<double> out(static_cast<size_t>(n_leaves), 0.0);
  std::vector<size_t> start(out.size() + 1, 0);
  // + 0.0 turns −0 into 0: the two are equal, so which one is taken must not show
  const auto residual = [&](size_t row) { return rows.target[row] - rows.scores[row] + 0.0; };
  const auto fill = [&](auto& items, auto quantile) {
    parallel_for(run, n_leaves, [&](int64_t number, int) {
      const auto leaf = static_cast<size_t>(number);
      const std::span part(items.data() + start[leaf], start[leaf + 1] - start[leaf]);
      if (!part.empty()) out[leaf] = quantile(part, alpha);
    });
  };
  if (rows.weight.empty()) {
    auto items = by_leaf<double>(rows, start, residual);
    fill(items, interpolated);
  } else {
    auto items = by_leaf<Residual>(rows, start, [&](size_t row) { return Residual{residual(row), rows.weight[row]}; });
    fill(items, weighted);
  }
  return out;
}

}  // namespace weald
