// The losses of stagewise boosting, one row each: −r (r the pseudo-residual), the curvature that a leaf's one step
// divides by, and the loss itself; equations S1 to S7 of docs/methods/gradient_boosting.md. Where a loss has a kink,
// its slope there is that of scikit-learn: the score counts as being below the target.
//
// To add one: the equation, a struct with `at` and `value`, its name in stage.cpp, its row in
// weald/boosting/stage/losses.py.
#pragma once

#include "core/base/mathematics.h"
#include "core/boosting/losses/losses.h"

namespace weald {

// S1: (y − f)²; its half is what r is the slope of
struct StageSquared {
  static constexpr bool unit_curvature = true;
  [[gnu::always_inline]] Derivatives at(double score, double y) const { return {score - y, 1.0}; }
  [[gnu::always_inline]] double value(double score, double y) const { return (y - score) * (y - score); }
};

// S2: |y − f|
struct StageAbsolute {
  static constexpr bool unit_curvature = true;
  [[gnu::always_inline]] Derivatives at(double score, double y) const { return {score > y ? 1.0 : -1.0, 1.0}; }
  [[gnu::always_inline]] double value(double score, double y) const { return y < score ? score - y : y - score; }
};

// S3: ½ d² where |d| ≤ δ, else δ (|d| − ½ δ); d = y − f
struct StageHuber {
  static constexpr bool unit_curvature = true;
  double delta;
  [[gnu::always_inline]] Derivatives at(double score, double y) const {
    return {detail::clamped(score - y, -delta, delta), 1.0};
  }
  [[gnu::always_inline]] double value(double score, double y) const {
    const double size = y < score ? score - y : y - score;
    return size <= delta ? 0.5 * (size * size) : delta * (size - 0.5 * delta);
  }
};

// S4: α (y − f) where f ≤ y, else (1 − α)(f − y)
struct StageQuantile {
  static constexpr bool unit_curvature = true;
  double alpha;
  [[gnu::always_inline]] Derivatives at(double score, double y) const {
    return {score > y ? 1.0 - alpha : -alpha, 1.0};
  }
  [[gnu::always_inline]] double value(double score, double y) const {
    return score > y ? (1.0 - alpha) * (score - y) : alpha * (y - score);
  }
};

// S5: 2 (log(1 + e^f) − y f), y 0 or 1
struct StageBinomial {
  static constexpr bool unit_curvature = false;
  [[gnu::always_inline]] Derivatives at(double score, double y) const {
    const double p = sigmoid(score);
    return {p - y, p * (1.0 - p)};
  }
  [[gnu::always_inline]] double value(double score, double y) const {
    const double size = score < 0 ? -score : score;
    const double positive = score < 0 ? 0.0 : score;
    return 2.0 * (log1p(exp(-size)) + positive - y * score);
  }
};

// S6: e^(−s f), s = 2y − 1
struct StageExponential {
  static constexpr bool unit_curvature = false;
  [[gnu::always_inline]] Derivatives at(double score, double y) const {
    const double side = 2.0 * y - 1.0;
    const double size = exp(detail::clamped(-side * score, -steepest, steepest));
    return {-side * size, size};
  }
  [[gnu::always_inline]] double value(double score, double y) const {
    return exp(detail::clamped((1.0 - 2.0 * y) * score, -steepest, steepest));
  }
};

}  // namespace weald
