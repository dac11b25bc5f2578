// Linear machines, as every solver here states them (docs/methods/linear_svm.md, equations 1–4).
//
//   minimise over v:  ½ Σ_j r_j v_j²  (or Σ_j r_j |v_j|)  +  Σ_k C_k φ(t_k − σ_k x_{i(k)} · v),   φ(z) = z₊ or z₊²
//
// v holds the weights, with that of the intercept's column last, if there is one. r_j is 1; 0 for an intercept that
// costs nothing. A row of a classifier has one part k: σ = ±1 its class, t = 1. A row of a regression has two: σ = 1,
// t = y − ε for predictions that are too low and σ = −1, t = −y − ε for those too high; the sum of their losses is the
// ε-insensitive loss. The dual, for the quadratic penalty:
//
//   maximise over α ≥ 0:  Σ t_k α_k − ½ Σ_j (Σ_k σ_k α_k x_{i(k)j})² − Σ α_k²/(4 C_k) [φ = z₊²],   α ≤ C [φ = z₊]
//
// with Σ σ_k α_k = 0 if the intercept costs nothing.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/svm/linear/rows.h"

namespace weald::linear {

struct Problem {
  Rows rows;
  std::span<const double> target;  // ±1, or numbers
  std::span<const double> upper;   // C_i of each row, above 0
  bool squared = false;            // φ = z₊²
  bool regression = false;
  double epsilon = 0;
  bool l1 = false;
  bool free_intercept = false;  // the last column has r = 0

  int n_sides() const { return regression ? 2 : 1; }
  // σ and t of one of the parts of a row.
  double sign(int side, int64_t i) const {
    return regression ? (side == 0 ? 1.0 : -1.0) : target[static_cast<size_t>(i)];
  }
  double threshold(int side, int64_t i) const {
    return regression ? sign(side, i) * target[static_cast<size_t>(i)] - epsilon : 1.0;
  }
  double ridge(int64_t j) const { return free_intercept && j == rows.n_columns ? 0.0 : 1.0; }
};

// How far a solver is: written by it, read by whoever waits.
struct Progress {
  std::atomic<int64_t> n_iter{0};
  std::atomic<double> gap{std::numeric_limits<double>::infinity()};  // or what the solver brings to 0 instead

  void tell(int64_t iteration, double value) {
    n_iter.store(iteration, std::memory_order_relaxed);
    gap.store(value, std::memory_order_relaxed);
  }
};

inline constexpr double infinite = std::numeric_limits<double>::infinity();
inline constexpr double least_primal = 1e-9;  // of the objective at 0: gaps are measured against no less

struct Limits {
  double tol = 1e-4;
  int64_t max_iter = 1000;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  uint64_t seed = 0;

  bool late() const {
    return deadline != std::chrono::steady_clock::time_point::max() && std::chrono::steady_clock::now() >= deadline;
  }
};

struct Solution {
  std::vector<double> weight;  // v
  std::vector<double> alpha;   // a dual variable per row: α, or α_0 − α_1 of a regression
  double primal = 0, dual = 0;
  int64_t n_iter = 0;
  bool converged = false;
};

}  // namespace weald::linear
