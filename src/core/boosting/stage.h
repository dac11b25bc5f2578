// Pseudo-residuals of all rows at their raw scores, and the loss there. Row weights are not in the former.
//
// scores, g, h: (n_outputs, n_rows), one output after another; target: (n_rows), class numbers for "multinomial".
// g is −r, so that trees on g and unit hessians are squared-error trees on the pseudo-residuals r; h is the curvature
// of the one-step leaf rule.
//
//   loss              parameters
//   squared_error     none
//   absolute_error    none
//   huber             δ ≥ 0; where it is 0 all pseudo-residuals and losses are 0
//   quantile          α
//   binomial          none
//   exponential       none
//   multinomial       none; one output a class
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/base/pool.h"

namespace weald {

struct StageRows {
  const double* scores;
  const double* target;
  int64_t n_rows;
  int64_t n_outputs;
};

void stage_gradients(std::string_view loss, std::span<const double> parameters, const StageRows& rows, double* g,
                     double* h, Run& run);

struct LossSum {
  double loss, weight;
};

// Σ w · loss and Σ w, blocks added up in their order; `weight` empty: all 1. Rows of weight 0 do not count.
LossSum stage_loss(std::string_view loss, std::span<const double> parameters, const StageRows& rows,
                   std::span<const double> weight, Run& run);

}  // namespace weald
