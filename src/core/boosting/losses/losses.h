// The losses of boosting: first and second derivative of the loss of one row by its raw score. Each is defined once,
// here, as a small struct; equations L1 to L11 of docs/methods/boosting.md. The definitions are those of xgboost,
// floors included, so that its trees come out. No function has a branch, so that a loop over rows becomes vector code.
//
// To add one: the equation, a struct with `at`, its name in gradients.cpp, its row in
// weald/boosting/newton/loss_table.py.
#pragma once

#include <cmath>

#include "core/base/mathematics.h"

namespace weald {

struct Derivatives {
  double g, h;
};

// Where a hessian has a floor, so that no leaf divides by 0.
constexpr double least_hessian = 1e-16;
// Raw scores behind exp are cut here: e^±500 is beyond any data, and stays finite when multiplied with some.
constexpr double steepest = 500.0;

[[gnu::always_inline]] inline double at_least(double value, double least) {
  return value < least ? least : value;
}

// L1: ½ (f − y)²
struct SquaredError {
  [[gnu::always_inline]] Derivatives at(double score, double y) const { return {score - y, 1.0}; }
};

// L2: ½ (log(1 + f) − log(1 + y))²; `log_y` is log(1 + y), made once per fit
struct SquaredLogError {
  [[gnu::always_inline]] Derivatives at(double score, double log_y) const {
    const double f = at_least(score, -1.0 + 1e-6);
    const double d = log1p(f) - log_y;
    const double inverse = 1.0 / (1.0 + f);
    return {d * inverse, at_least((1.0 - d) * inverse * inverse, 1e-6)};
  }
};

// L3: δ² (√(1 + ((f − y)/δ)²) − 1)
struct PseudoHuber {
  double slope;
  [[gnu::always_inline]] Derivatives at(double score, double y) const {
    const double d = score - y;
    const double scaled = d / slope;
    const double square = 1.0 + scaled * scaled;
    const double root = std::sqrt(square);
    return {d / root, 1.0 / (square * root)};
  }
};

// L4: |f − y|
struct AbsoluteError {
  [[gnu::always_inline]] Derivatives at(double score, double y) const {
    const double above = score > y ? 1.0 : 0.0;
    const double below = score < y ? 1.0 : 0.0;
    return {above - below, 1.0};
  }
};

// L5: α (y − f) where f < y, else (1 − α)(f − y)
struct QuantileError {
  double alpha;
  [[gnu::always_inline]] Derivatives at(double score, double y) const {
    return {score >= y ? 1.0 - alpha : -alpha, 1.0};
  }
};

// L6: −y log p − (1 − y) log(1 − p), p = sigmoid(f); times `positive_weight` where y is 1
struct Logistic {
  double positive_weight;
  [[gnu::always_inline]] Derivatives at(double score, double y) const {
    const double p = sigmoid(score);
    const double weight = y == 1.0 ? positive_weight : 1.0;
    return {weight * (p - y), weight * at_least(p * (1.0 - p), least_hessian)};
  }
};

// L7: max(0, 1 − s f), s = 2y − 1
struct Hinge {
  [[gnu::always_inline]] Derivatives at(double score, double y) const {
    const double side = 2.0 * y - 1.0;
    const bool inside = score * side < 1.0;
    return {inside ? -side : 0.0, inside ? 1.0 : 0x1p-126};  // the least normal float32
  }
};

// L9: e^f − y f; the hessian is raised by e^δ, δ = max_delta_step
struct Poisson {
  double exp_max_delta_step;
  [[gnu::always_inline]] Derivatives at(double score, double y) const {
    const double mean = exp(detail::clamped(score, -steepest, steepest));
    return {mean - y, mean * exp_max_delta_step};
  }
};

// L10: f + y e^−f
struct Gamma {
  [[gnu::always_inline]] Derivatives at(double score, double y) const {
    const double ratio = y * exp(-detail::clamped(score, -steepest, steepest));
    return {1.0 - ratio, ratio};
  }
};

// L11: y e^((1−ρ)f) / (ρ − 1) + e^((2−ρ)f) / (2 − ρ), 1 ≤ ρ < 2 the power of the variance
struct Tweedie {
  double power;
  [[gnu::always_inline]] Derivatives at(double score, double y) const {
    const double f = detail::clamped(score, -steepest, steepest);
    const double first = y * exp((1.0 - power) * f);
    const double second = exp((2.0 - power) * f);
    return {second - first, (2.0 - power) * second - (1.0 - power) * first};
  }
};

// L8, one class: −log p_y, p = softmax(f); `is_class` is 1 for the row's class, else 0
struct Softmax {
  [[gnu::always_inline]] Derivatives at(double p, double is_class) const {
    return {p - is_class, at_least(2.0 * p * (1.0 - p), least_hessian)};
  }
};

}  // namespace weald
