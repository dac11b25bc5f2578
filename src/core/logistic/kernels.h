// The arithmetic of a few rows, for several lines of weights side by side: scores, probabilities, sums over rows.
// `w` and `out` of sums are (width, stride), `r` is (rows, stride); stride is 1 or a multiple of 4.
#pragma once

#include <cstdint>

#include "core/svm/linear/columns.h"
#include "core/svm/linear/rows.h"

namespace weald::logistic {

// out[i − first] = W x_i, (rows, stride).
void scores(const linear::Rows& rows, const double* w, int64_t stride, int64_t first, int64_t last, double* out);

// out += Σ_i x_i r_iᵀ
void add_outer(const linear::Rows& rows, const double* r, int64_t stride, int64_t first, int64_t last, double* out);

// out[j] = Σ_i x_ij r_i for the columns first … last.
void column_sums(const linear::Columns& columns, const double* r, int64_t stride, int64_t first, int64_t last,
                 double* out);

// Of one line, from the scores f of n rows with targets 0 or 1: loss (without c), c (p − y), c p (1 − p).
void two_classes(const double* f, const double* target, const double* cost, int64_t n, double* loss, double* derivative,
                 double* curvature);

// Of several lines: `f` becomes the probabilities, `derivative` c (p − [k = y]); padding becomes 0. `derivative` may be
// nullptr. `loss` is without c.
void many_classes(double* f, const int32_t* label, const double* cost, int64_t n, int64_t n_lines, int64_t stride,
                  double* loss, double* derivative);

// a ← c (p ∘ a − p (p · a)), row by row.
void times_curvature(const double* p, const double* cost, int64_t n, int64_t stride, double* a);

}  // namespace weald::logistic
