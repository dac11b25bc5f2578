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
//   multinomial       none; one output per class
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

// What a pass over all rows is to give.
struct StageWanted {
  double* g = nullptr;  // null: no gradients
  double* h = nullptr;  // left as it is where every curvature is 1
  bool loss = false;
  std::span<const double> weight = {};  // of the loss; empty: all 1. Rows of weight 0 do not count
};

struct LossSum {
  double loss, weight;
};

// Fills g and h, and returns Σ w · loss and Σ w, blocks added up in their order.
LossSum stage_pass(std::string_view loss, std::span<const double> parameters, const StageRows& rows,
                   const StageWanted& wanted, Run& run);

}  // namespace weald
