// The weighted Gram matrix of rows, which every second-order solver of linear machines needs in each step:
//
//   H = Σ_i g_i x_i x_iᵀ   (width × width, lower triangle),   s_k = Σ_i u_ki x_i
//
// at n·d² multiplications on all threads. Sums run over the rows in order, by fixed blocks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/svm/linear/rows.h"

namespace weald::linear {

// A square matrix whose rows are `stride` apart; only the lower triangle means anything.
struct Square {
  int64_t n = 0, stride = 0;
  std::vector<double> values;

  explicit Square(int64_t size)
      : n(size), stride((size + 3) / 4 * 4), values(static_cast<size_t>(stride * stride), 0.0) {}
  double* row(int64_t i) { return values.data() + i * stride; }
  const double* row(int64_t i) const { return values.data() + i * stride; }
};

// Rows with g_i = 0 and u_ki = 0 for all k cost next to nothing. `sums` holds one vector of `width` for each of the
// `factors`, each of which has a value per row.
void weighted_gram(const Rows& rows, std::span<const double> g, std::span<const std::span<const double>> factors,
                   Run& run, Square& out, std::span<double> sums);

}  // namespace weald::linear
