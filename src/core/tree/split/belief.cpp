#include "core/tree/split/belief.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weald {

namespace {

struct Sums {
  double g, h;
  explicit Sums(const int64_t* cell) : g(static_cast<double>(cell[0])), h(static_cast<double>(cell[1])) {}
};

// σ²/τ²: the weight at which a mean is half believed; negative if there is nothing to believe.
double shrinkage(const PresentCategories& present, const int64_t* missing, const Sums& all, const NodeSpread& node,
                 double& noise) {
  double between = 0, h_squares = 0, n_groups = 0;
  const auto add = [&](const Sums& cell) {
    if (cell.h > 0) between += cell.g * cell.g / cell.h, h_squares += cell.h * cell.h, n_groups += 1;
  };
  for (size_t i = 0; i < present.size(); ++i) add(Sums(present.cell(i)));
  if (missing != nullptr) add(Sums(missing));
  if (!(all.h > 0) || n_groups < 2) return -1;
  const double of_mean = all.g * all.g / all.h, h_a_row = all.h / node.n_rows;
  between -= of_mean;
  const double in_all = std::max(0.0, node.squares / h_a_row - of_mean);
  const double within = std::max(0.0, in_all - between), freedom = std::max(1.0, node.n_rows - n_groups);
  // Where few categories have a second row, noise is told by the rows as a whole, too high rather than too low.
  constexpr double prior_rows = 10, errors = 4;
  noise = (within + prior_rows * in_all / std::max(1.0, node.n_rows - 1)) / (freedom + prior_rows);
  const double by_chance = (n_groups - 1) * noise;
  if (!(between > by_chance * (1 + errors * std::sqrt(2 / freedom)))) return -1;
  return noise * (all.h - h_squares / all.h) / (between - by_chance);
}

}  // namespace

Believed believe(const PresentCategories& present, const int64_t* missing, const int64_t* total,
                 const NodeSpread& node) {
  Believed out;
  const double s = shrinkage(present, missing, Sums(total), node, out.noise);
  if (s < 0) return out;
  double g_sum = 0, h_sum = 0;
  for (size_t i = 0; i < present.size(); ++i) {
    const Sums cell(present.cell(i));
    if (cell.h > 0) g_sum += cell.g / (cell.h + s), h_sum += cell.h / (cell.h + s);
  }
  if (!(h_sum > 0)) return out;
  const double mean = g_sum / h_sum;
  std::vector<std::pair<double, size_t>> places;
  places.reserve(present.size());
  for (size_t i = 0; i < present.size(); ++i) {
    const Sums cell(present.cell(i));
    places.emplace_back(cell.h > 0 ? (cell.g - mean * cell.h) / (cell.h + s) : 0.0, i);
  }
  std::sort(places.begin(), places.end());
  for (const auto& [beyond_mean, i] : places) {
    const int64_t* cell = present.cell(i);
    out.order.push_back(i);
    out.g.push_back(cell[1] > 0 ? std::llround((mean + beyond_mean) * static_cast<double>(cell[1])) : cell[0]);
    out.excess += cell[0] - out.g.back();
  }
  return out;
}

}  // namespace weald
