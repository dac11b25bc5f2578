// One column under the penalty r|v|: how far it is from optimal, and the step that a quadratic model asks for.
#pragma once

#include <algorithm>
#include <cmath>

namespace weald::linear {

inline constexpr double least_descent = 0.01;  // of what the quadratic model promises

// The distance of 0 from the subgradients (equation 19); g is the derivative of the loss.
inline double violation(double g, double v, double r) {
  if (v > 0) return std::abs(g + r);
  if (v < 0) return std::abs(g - r);
  return std::max(std::abs(g) - r, 0.0);
}

// The step that minimises g·s + ½h·s² + r|v + s| (equation 20); h > 0.
inline double shrunken_step(double g, double h, double v, double r) {
  if (g + r <= h * v) return -(g + r) / h;
  if (g - r >= h * v) return -(g - r) / h;
  return -v;
}

}  // namespace weald::linear
