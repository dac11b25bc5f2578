#include "core/explain/quadrature.h"

#include <cmath>
#include <numbers>

namespace weald {

Quadrature gauss_legendre(int64_t n) {
  const auto size = static_cast<size_t>(n);
  Quadrature out{std::vector<double>(size), std::vector<double>(size), std::vector<double>(size)};
  for (size_t i = 0; i < (size + 1) / 2; ++i) {
    // A zero of the Legendre polynomial on [−1, 1], by Newton's steps from its well-known neighbourhood.
    double x = std::cos(std::numbers::pi * (static_cast<double>(i) + 0.75) / (static_cast<double>(n) + 0.5));
    double slope = 1;
    for (int step = 0; step < 100; ++step) {
      double before = 0, value = 1;
      for (int64_t k = 1; k <= n; ++k) {
        const auto degree = static_cast<double>(k);
        const double next = ((2 * degree - 1) * x * value - (degree - 1) * before) / degree;
        before = value;
        value = next;
      }
      slope = static_cast<double>(n) * (x * value - before) / (x * x - 1);
      const double moved = value / slope;
      x -= moved;
      if (std::abs(moved) < 1e-15) break;
    }
    if (2 * i + 1 == size) x = 0;
    const double weight = 1 / ((1 - x * x) * slope * slope);  // half of that on [−1, 1]
    const size_t mirrored = size - 1 - i;
    out.point[i] = out.rest[mirrored] = (1 - x) / 2;
    out.rest[i] = out.point[mirrored] = (1 + x) / 2;
    out.weight[i] = out.weight[mirrored] = weight;
  }
  return out;
}

}  // namespace weald
