// Rows between which distances are taken, and the distance: points without gaps, and categories beside them.
// Equations V1 to V6 of docs/methods/neighbors.md.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "core/svm/kernel/points.h"

namespace weald::neighbors {

// How the differences of columns are put together: Σ |d|^p, the largest |d|, or one minus the cosine.
enum class Rule : int { powers = 0, largest = 1, cosine = 2 };

struct Metric {
  Rule rule = Rule::powers;
  double p = 2;
};

// What categories add to the sum of powers. Two different levels of column c add cost[c]; a level of code a adds
// against[start[c] + a] to a missing one (code 0). For the cosine the same numbers, of p = 2.
struct Categories {
  std::span<const double> cost;
  std::span<const double> against;
  std::span<const int64_t> start;

  int64_t n() const { return static_cast<int64_t>(cost.size()); }
  double term(int64_t c, int32_t a, int32_t b) const {
    if (a == b) return 0.0;
    const double* column = against.data() + start[static_cast<size_t>(c)];
    if (a == 0) return column[b];
    return b == 0 ? column[a] : cost[static_cast<size_t>(c)];
  }
};

// Rows that somebody else owns. For the cosine points are divided by their length, and `weight` is 1 / length.
struct Rows {
  svm::MatrixView points;
  const int32_t* codes = nullptr;  // (n_rows, n_categorical), row-major
  std::span<const double> weight;

  int64_t n() const { return points.n_rows; }
};

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace weald::neighbors
