#include "core/boosting/stage/leaves.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weald {

namespace {

// Residuals of each leaf side by side: [start[leaf], start[leaf + 1]). Rows of weight 0 are left out.
std::vector<Residual> by_leaf(const ResidualRows& rows, std::vector<size_t>& start) {
  const auto weight = [&](size_t row) { return rows.weight.empty() ? int64_t{1} : rows.weight[row]; };
  const auto present = [&](size_t row) { return rows.leaf[row] >= 0 && weight(row) > 0; };
  const size_t n_leaves = start.size() - 1;
  for (size_t row = 0; row < rows.leaf.size(); ++row) {
    if (!present(row)) continue;
    require(static_cast<size_t>(rows.leaf[row]) < n_leaves, "a row is in a leaf that is not there");
    ++start[static_cast<size_t>(rows.leaf[row]) + 1];
  }
  for (size_t leaf = 0; leaf < n_leaves; ++leaf) start[leaf + 1] += start[leaf];
  std::vector<size_t> next(start.begin(), start.end() - 1);
  std::vector<Residual> items(start.back());
  constexpr double most = std::numeric_limits<double>::max();
  for (size_t row = 0; row < rows.leaf.size(); ++row) {
    if (!present(row)) continue;
    // + 0.0 turns −0 into 0: the two are equal, so which one is taken must not show.
    const double value = std::clamp(rows.target[row] - rows.scores[row] + 0.0, -most, most);
    items[next[static_cast<size_t>(rows.leaf[row])]++] = {value, weight(row)};
  }
  return items;
}

template <class Rule>
std::vector<double> each_leaf(const ResidualRows& rows, int64_t n_leaves, Run& run, const Rule& rule) {
  std::vector<double> out(static_cast<size_t>(n_leaves), 0.0);
  std::vector<size_t> start(out.size() + 1, 0);
  std::vector<Residual> items = by_leaf(rows, start);
  parallel_for(run, n_leaves, [&](int64_t number, int) {
    const auto leaf = static_cast<size_t>(number);
    const std::span part(items.data() + start[leaf], start[leaf + 1] - start[leaf]);
    if (!part.empty()) out[leaf] = rule(part);
  });
  return out;
}

// The half that holds the quantile is kept until one residual is left; those after it are no smaller.
double quantile(std::span<Residual> rows, double alpha, bool middle) {
  int64_t total = 0;
  for (const Residual& row : rows) total += row.weight;
  const double wanted = alpha * static_cast<double>(total);
  int64_t before = 0;
  auto first = rows.begin();
  auto last = rows.end();
  while (last - first > 1) {
    const auto half = first + (last - first) / 2;
    std::nth_element(first, half, last);
    int64_t lower = before;
    for (auto row = first; row != half; ++row) lower += row->weight;
    if (static_cast<double>(lower) >= wanted) {
      last = half;
    } else {
      before = lower;
      first = half;
    }
  }
  const double low = first->value;
  if (!middle || static_cast<double>(before + first->weight) > wanted || last == rows.end()) return low;
  const double next = std::min_element(last, rows.end())->value;
  return std::isfinite(next - low) ? low + (next - low) / 2 : low / 2 + next / 2;
}

// Residuals as integers of at most 2^61: value · 2^power.
struct Scale {
  int power;
  explicit Scale(double largest) {
    int exponent = 0;
    std::frexp(largest, &exponent);
    power = 61 - exponent;
  }
  __int128 units(double value) const { return static_cast<int64_t>(std::nearbyint(std::ldexp(value, power))); }
  double real(__int128 sum, int64_t weight) const {
    return std::ldexp(static_cast<double>(sum) / static_cast<double>(weight), -power);
  }
};

double one_step_huber(std::span<Residual> rows, double delta) {
  const double median = quantile(rows, 0.5, false);
  const Scale scale(delta);
  __int128 sum = 0;
  int64_t weight = 0;
  for (const Residual& row : rows) {
    sum += row.weight * scale.units(std::clamp(row.value - median, -delta, delta));
    weight += row.weight;
  }
  return median + scale.real(sum, weight);
}

// The slope of the loss at γ is Σ w · clamp(γ − d, ±δ). It rises with γ, on straight lines between the places d ± δ:
// the two places around its root, and the root on the line between them. At a median ± δ half of the weight pulls
// back with all its force, so the root lies between; there residuals pull the same when held within 2δ of the median.
double exact_huber(std::span<Residual> rows, double delta) {
  const double median = quantile(rows, 0.5, true);
  std::sort(rows.begin(), rows.end());
  const double reach = std::min(2 * delta, std::numeric_limits<double>::max());
  const Scale scale(reach);
  const __int128 step = scale.units(delta);
  const size_t n = rows.size();
  std::vector<__int128> sum(n + 1, 0), place(n);
  std::vector<int64_t> weight(n + 1, 0);
  for (size_t i = 0; i < n; ++i) {
    place[i] = scale.units(std::clamp(rows[i].value - median, -reach, reach));
    sum[i + 1] = sum[i] + rows[i].weight * place[i];
    weight[i + 1] = weight[i] + rows[i].weight;
  }
  struct Line {
    int64_t inside;  // weight of the residuals within δ of γ
    __int128 rest;   // slope at γ = inside · γ − rest
  };
  // Of the residuals, those up to γ − δ pull with +δ, those from γ + δ on with −δ.
  const auto line_at = [&](__int128 from, __int128 to) {
    const auto low = static_cast<size_t>(std::upper_bound(place.begin(), place.end(), from) - place.begin());
    const auto high = static_cast<size_t>(std::lower_bound(place.begin(), place.end(), to) - place.begin());
    const size_t end = std::max(low, high);
    return Line{weight[end] - weight[low], sum[end] - sum[low] - step * (weight[low] - (weight[n] - weight[end]))};
  };
  const auto slope = [&](__int128 at) {
    const Line line = line_at(at - step, at + step);
    return line.inside * at - line.rest;
  };
  std::vector<__int128> bends;
  bends.reserve(2 * n);
  for (const __int128 each : place) bends.push_back(each - step);
  for (const __int128 each : place) bends.push_back(each + step);
  std::inplace_merge(bends.begin(), bends.begin() + static_cast<int64_t>(n), bends.end());
  const auto reached = std::partition_point(bends.begin(), bends.end(), [&](__int128 at) { return slope(at) < 0; });
  if (slope(*reached) == 0) {  // perhaps flat from here on
    const auto past = std::partition_point(reached, bends.end(), [&](__int128 at) { return slope(at) <= 0; });
    return median + scale.real(*reached + *(past - 1), 2);
  }
  const __int128 from = *(reached - 1), to = *reached;
  const Line line = line_at(from - step, to + step);
  return median + scale.real(line.rest, line.inside);
}

}  // namespace

std::vector<double> stage_quantiles(const ResidualRows& rows, int64_t n_leaves, double alpha, bool middle, Run& run) {
  return each_leaf(rows, n_leaves, run, [&](std::span<Residual> part) { return quantile(part, alpha, middle); });
}

std::vector<double> stage_huber(const ResidualRows& rows, int64_t n_leaves, double delta, bool exact, Run& run) {
  return each_leaf(rows, n_leaves, run, [&](std::span<Residual> part) {
    if (!(delta > 0)) return quantile(part, 0.5, exact);
    return exact ? exact_huber(part, delta) : one_step_huber(part, delta);
  });
}

}  // namespace weald
