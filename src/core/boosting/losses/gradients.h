// Gradients and hessians of all rows at their raw scores. Row weights are not in them.
//
// scores, g, h: (n_outputs, n_rows), one output after another. target: (n_outputs, n_rows), or (1, n_rows) which every
// output reads. The target of "squared_log_error" holds log(1 + y), that of "softmax" class numbers.
//
//   loss                 parameters
//   squared_error        none
//   squared_log_error    none
//   pseudo_huber         slope > 0
//   absolute_error       none
//   quantile             α of each output
//   logistic             weight of rows whose target is 1
//   hinge                none
//   softmax              none; target (1, n_rows)
//   poisson              max_delta_step
//   gamma                none
//   tweedie              power of the variance, 1 ≤ ρ < 2
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "core/base/pool.h"
#include "core/tree/statistics/gradient_source.h"

namespace weald {

struct GradientRows {
  const double* scores;
  const double* target;
  int64_t n_rows;
  int64_t n_outputs;
  int64_t target_stride;  // between the targets of two outputs: n_rows, or 0 where all read the same
};

void gradients(std::string_view loss, std::span<const double> parameters, const GradientRows& rows, double* g,
               double* h, Run& run);

// The same for one output, a block of rows at a time; not for softmax. `scores` and `target`, (n_rows), stay the
// caller's.
std::unique_ptr<GradientSource> loss_source(std::string_view loss, std::span<const double> parameters, int64_t output,
                                            const double* scores, const double* target);

}  // namespace weald
