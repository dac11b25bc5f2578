#include "core/tree/split/categorical.h"

namespace weald {

namespace {

// principal_positions for very many lanes: (m, d) profiles, d means, m weights.
std::vector<double> principal_positions_of_many(std::vector<double>& profile, std::span<const double> mean,
                                                std::span<const double> weight) {
  const size_t m = weight.size(), d = mean.size();
  std::vector<double> squares(d, 0.0);
  for (size_t i = 0; i < m; ++i) {
    for (size_t k = 0; k < d; ++k) {
      profile[i * d + k] -= mean[k];
      squares[k] += weight[i] * profile[i * d + k] * profile[i * d + k];
    }
  }
  const auto widest = static_cast<size_t>(std::max_element(squares.begin(), squares.end()) - squares.begin());
  std::vector<double> position(m), axis(d);
  for (size_t i = 0; i < m; ++i) position[i] = profile[i * d + widest];
  constexpr int power_steps = 40;
  for (int step = 0; step < power_steps; ++step) {
    std::fill(axis.begin(), axis.end(), 0.0);
    for (size_t i = 0; i < m; ++i) {
      for (size_t k = 0; k < d; ++k) axis[k] += weight[i] * position[i] * profile[i * d + k];
    }
    double length = 0;
    for (const double each : axis) length = std::max(length, std::abs(each));
    if (!(length > 0)) break;
    for (size_t i = 0; i < m; ++i) {
      position[i] = 0;
      for (size_t k = 0; k < d; ++k) position[i] += axis[k] / length * profile[i * d + k];
    }
  }
  return position;
}

}  // namespace

std::vector<double> principal_positions(std::vector<double>& profile, size_t d, std::span<const double> weight) {
  const size_t m = weight.size();
  std::vector<double> mean(d, 0.0);
  double total = 0;
  for (size_t i = 0; i < m; ++i) {
    total += weight[i];
    for (size_t k = 0; k < d; ++k) mean[k] += weight[i] * profile[i * d + k];
  }
  for (size_t k = 0; k < d; ++k) mean[k] /= total;
  constexpr size_t most_squared = 1024;  // beyond, the matrix of d² numbers costs more than what it is made of
  if (d > most_squared) return principal_positions_of_many(profile, mean, weight);
  std::vector<double> spread(d * d, 0.0);
  for (size_t i = 0; i < m; ++i) {
    for (size_t k = 0; k < d; ++k) {
      const double away = weight[i] * (profile[i * d + k] - mean[k]);
      for (size_t l = 0; l < d; ++l) spread[k * d + l] += away * (profile[i * d + l] - mean[l]);
    }
  }
  size_t widest = 0;
  for (size_t k = 1; k < d; ++k) widest = spread[k * d + k] > spread[widest * d + widest] ? k : widest;
  std::vector<double> axis(spread.begin() + static_cast<std::ptrdiff_t>(widest * d),
                           spread.begin() + static_cast<std::ptrdiff_t>((widest + 1) * d));
  std::vector<double> next(d);
  constexpr int power_steps = 40;
  for (int step = 0; step < power_steps; ++step) {
    double length = 0;
    for (size_t k = 0; k < d; ++k) {
      next[k] = 0;
      for (size_t l = 0; l < d; ++l) next[k] += spread[k * d + l] * axis[l];
      length = std::max(length, std::abs(next[k]));
    }
    if (!(length > 0)) break;
    for (size_t k = 0; k < d; ++k) axis[k] = next[k] / length;
  }
  std::vector<double> position(m, 0.0);
  for (size_t i = 0; i < m; ++i) {
    for (size_t k = 0; k < d; ++k) position[i] += axis[k] * (profile[i * d + k] - mean[k]);
  }
  return position;
}

void sort_by_position(std::span<const double> position, std::vector<size_t>& order) {
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return position[a] < position[b]; });
}

std::vector<size_t> in_order_of(const TreeOrder& tree, const PresentCategories& present) {
  std::vector<uint64_t> placed(present.size());  // the place in the high half, the category in the low one
  for (size_t i = 0; i < placed.size(); ++i) placed[i] = uint64_t{tree.place[present.code[i]]} << 32 | i;
  std::sort(placed.begin(), placed.end());
  std::vector<size_t> order(placed.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(placed[i]);
  return order;
}

void sort_ends(std::vector<PlacedCategory>& all, size_t n) {
  const auto count = static_cast<std::ptrdiff_t>(n);
  if (4 * n >= all.size()) {
    std::sort(all.begin(), all.end());
    return;
  }
  std::nth_element(all.begin(), all.begin() + count, all.end());
  std::sort(all.begin(), all.begin() + count);
  std::nth_element(all.begin() + count, all.end() - count, all.end());
  std::sort(all.end() - count, all.end());
}

void list_prefix(const PresentCategories& present, const std::vector<size_t>& order, Split& split) {
  for (size_t i = 0; i < order.size(); ++i) {
    (i < split.code ? split.left_codes : split.right_codes).push_back(present.code[order[i]]);
  }
}

}  // namespace weald
