// Newton's score: the drop of the second-order loss that a set of rows allows (docs/methods/boosting.md, 1 to 4).
//
// Lanes Σ g, Σ h. With λ and α the strengths of the penalties λ/2 · w² and α · |w| on a leaf's value w, and T the soft
// threshold by α, the best value and what it saves (times 2) are
//
//   w = −T(G) / (H + λ)          score = T(G)² / (H + λ)
//
// A limit on |w| (`max_step`), or bounds of a monotone constraint, hold w back; the score of a given w is
// −(2 G w + (H + λ) w² + 2 α |w|). Where H + λ ≤ 0 there is no best value:
// such rows are worth nothing and predict 0.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "core/tree/split/gain.h"

namespace weald {

// All parameters in units of the lanes: λ of H, α of G, max_step of G / H (0: no limit).
struct Newton {
  static constexpr bool ordered = true, rows_may_be_zero = true;
  double lambda = 0, alpha = 0, max_step = 0;
  // Categories: added to H before they are put in order, and to λ when their splits are judged; 0, 0: neither.
  double category_smooth = 0, category_lambda = 0;
  int score_power = 0;  // a score · 2^score_power is in real units

  bool cautious() const { return category_smooth > 0 || category_lambda > 0; }
  bool penalises_categories() const { return category_lambda > 0; }
  double place(const int64_t* cell) const {
    const double h = static_cast<double>(cell[1]) + category_smooth;
    return h > 0 ? static_cast<double>(cell[0]) / h : 0.0;
  }
  Newton for_categories() const {
    Newton strict = *this;
    strict.lambda += category_lambda;
    return strict;
  }

  static int64_t weight(const int64_t* cell) { return cell[1]; }
  static bool pure(const int64_t*) { return false; }
  // The same g / h, but for the rounding of each lane to a unit; asked only where splits of no gain are made.
  static bool alike(const int64_t* a, const int64_t* b) {
    const auto difference = static_cast<__int128>(a[0]) * b[1] - static_cast<__int128>(b[0]) * a[1];
    const auto rounding = static_cast<__int128>(std::abs(a[0])) + std::abs(b[0]) + a[1] + b[1];
    return difference <= rounding && -difference <= rounding;
  }
  static bool less(const int64_t* a, const int64_t* b) {
    // H = 0 stands at ±∞ by the sign of G, or at 0 if that is 0 too.
    const auto end = [](const int64_t* cell) { return cell[1] > 0 ? 0 : (cell[0] > 0) - (cell[0] < 0); };
    if (end(a) != end(b)) return end(a) < end(b);
    return end(a) == 0 && ratio_less(a[0], std::max<int64_t>(1, a[1]), b[0], std::max<int64_t>(1, b[1]));
  }
  double value(const int64_t* cell) const {
    const double h = static_cast<double>(cell[1]) + lambda;
    if (!(h > 0)) return 0.0;
    const double w = -shrunk(cell[0]) / h;
    return max_step > 0 ? std::clamp(w, -max_step, max_step) : w;
  }
  double score(const int64_t* cell) const {
    if (max_step > 0) return score_at(cell, value(cell));
    const double g = shrunk(cell[0]), h = static_cast<double>(cell[1]) + lambda;
    return h > 0 ? g * g / h : 0.0;
  }
  double score_at(const int64_t* cell, double w) const {
    const double g = static_cast<double>(cell[0]), h = static_cast<double>(cell[1]) + lambda;
    return h > 0 ? -(2 * g * w + h * (w * w) + 2 * alpha * std::abs(w)) : 0.0;
  }
  // T(Gl)²/(Hl + λ) + T(Gr)²/(Hr + λ) < s, multiplied by both denominators. What holds values back only lowers scores.
  bool hopeless(const int64_t* l, const int64_t* r, double s) const {
    const double lg = shrunk(l[0]), lh = static_cast<double>(l[1]) + lambda;
    const double rg = shrunk(r[0]), rh = static_cast<double>(r[1]) + lambda;
    return lh > 0 && rh > 0 && (lg * lg * rh + rg * rg * lh) * (1 + caution) < s * (lh * rh);
  }

 private:
  double shrunk(int64_t sum) const {
    const double g = static_cast<double>(sum);
    return alpha == 0 ? g : g > alpha ? g - alpha : g < -alpha ? g + alpha : 0.0;
  }
};

// One tree for K outputs: lanes G of each output, then H of each. λ, α as above. An output whose H is below
// `min_weight` (in units of H) is worth nothing in a node and predicts 0 there, as in xgboost; the others go on.
struct NewtonMany {
  static constexpr bool ordered = false, rows_may_be_zero = true;
  int n_outputs = 1;
  double lambda = 0, alpha = 0, max_step = 0, min_weight = 0;
  int score_power = 0;  // as of Newton

  int64_t weight(const int64_t* cell) const {
    int64_t total = 0;
    for (int k = 0; k < n_outputs; ++k) total += cell[n_outputs + k];
    return total / n_outputs;
  }
  static bool pure(const int64_t*) { return false; }
  static bool alike(const int64_t*, const int64_t*) { return false; }
  static bool hopeless(const int64_t*, const int64_t*, double) { return false; }
  double score(const int64_t* cell) const {
    double total = 0;
    for (int k = 0; k < n_outputs; ++k) {
      if (speaks(cell, k)) total += one().score(pair(cell, k).data());
    }
    return total;
  }
  double value(const int64_t* cell, int k) const { return speaks(cell, k) ? one().value(pair(cell, k).data()) : 0.0; }
  int profile_size() const { return n_outputs; }
  void profile(const int64_t* cell, double* out) const {
    for (int k = 0; k < n_outputs; ++k) out[k] = value(cell, k);
  }

 private:
  Newton one() const { return {lambda, alpha, max_step}; }
  bool speaks(const int64_t* cell, int k) const { return static_cast<double>(cell[n_outputs + k]) >= min_weight; }
  std::array<int64_t, 2> pair(const int64_t* cell, int k) const { return {cell[k], cell[n_outputs + k]}; }
};

}  // namespace weald
