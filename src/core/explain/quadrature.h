// Gauss–Legendre points on [0, 1]: n of them integrate every polynomial of degree 2n − 1 exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weald {

struct Quadrature {
  std::vector<double> point;
  std::vector<double> rest;  // 1 − point, each as exact as the point itself
  std::vector<double> weight;

  size_t size() const { return point.size(); }
};

// n ≥ 1 points, ascending.
Quadrature gauss_legendre(int64_t n);

// The points that a path of so many distinct columns needs: the product over all of them but one has degree d − 1
// (equation S3 of docs/methods/explain.md).
inline int64_t points_of_columns(int64_t d) {
  return d < 2 ? 1 : (d + 1) / 2;
}

}  // namespace weald
