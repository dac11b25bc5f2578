// The quadratic program of kernel machines, as LIBSVM states it:
//
//     minimise   ½ αᵀQα + pᵀα     with   Q_ij = s_i s_j K(r_i, r_j)
//     such that  sᵀα = 0  and  0 ≤ α_i ≤ u_i,  u_i may be infinite
//
// s_i is +1 or −1 and r_i is the row of variable i; several variables may share a row (regression has two of each).
// Classification: p = −1. Regression: p = ε − y with s = +1, and ε + y with s = −1.
//
// The solver works with β_i = s_i α_i, which leaves the kernel matrix without signs:
//
//     minimise   ½ βᵀKβ + cᵀβ,  c_i = s_i p_i,     Σ β = 0,   low_i ≤ β_i ≤ high_i
//
// where [low, high] is [0, u] or [−u, 0]. Its gradient is F_i = g(r_i) + c_i with g = Kβ, one number per row. β_i may
// still rise if β_i < high_i ("up"), and fall if β_i > low_i ("down"). A solution is optimal if nothing that may rise
// has a smaller gradient than what may fall:
//
//     gap = max over down of F − min over up of F ≤ tol                      (LIBSVM's m(α) − M(α))
//
// and then the intercept is −ρ with ρ between the two: the mean F of variables strictly between their bounds, or the
// middle where there are none. docs/methods/svm.md, equations D1–D9.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace weald::svm {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

struct DualProblem {
  std::span<const int32_t> rows;
  std::span<const int8_t> signs;
  std::span<const double> linear;
  std::span<const double> upper;
};

// The variables in the solver's form; see above.
struct Variables {
  std::vector<int32_t> row;
  std::vector<int8_t> sign;
  std::vector<double> constant;  // c
  std::vector<double> low, high, beta;

  // Throws BadInput for rows outside [0, n_rows) and for bounds that are none. Starts at 0.
  Variables(const DualProblem& problem, int64_t n_rows);

  int64_t size() const { return static_cast<int64_t>(row.size()); }
  bool up(size_t i) const { return beta[i] < high[i]; }
  bool down(size_t i) const { return beta[i] > low[i]; }
  bool free(size_t i) const { return up(i) && down(i); }
  bool unbounded() const;  // whether some bound is infinite
  bool hard() const;       // whether some bound is so large that hardly any solution reaches it
  std::vector<double> beta_by_row(int64_t n_rows) const;

 private:
  bool reaches(double bound) const;  // whether some bound is at least as far from 0
};

struct Gap {
  double smallest_up = infinity;
  double largest_down = -infinity;
  bool finite = true;  // all gradients

  // 0 where nothing can move; never below 0
  double size() const { return largest_down > smallest_up ? largest_down - smallest_up : 0.0; }
};

// The gap among the active variables; F by variable.
Gap gap_of(const Variables& variables, std::span<const int32_t> active, std::span<const double> F);

// α, Qα + p, and what follows from them. The duality gap is the primal objective at (α, intercept) minus the dual one:
//     Σ α_i (G_i − ρ s_i) + u_i max(0, ρ s_i − G_i),    G = Qα + p
// where a violation of at most `tolerance` costs nothing if u_i is infinite.
struct Solution {
  std::vector<double> alpha, gradient;
  double intercept = 0.0, objective = 0.0, gap = 0.0, duality_gap = 0.0;
};

Solution solution_of(const Variables& variables, std::span<const double> F, const Gap& gap, double tolerance);

}  // namespace weald::svm
