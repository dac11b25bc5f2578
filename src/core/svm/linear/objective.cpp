#include "core/svm/linear/objective.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace weald::linear {

namespace {

struct Sums {
  double loss = 0;    // Σ C φ
  double gain = 0;    // Σ t α
  double square = 0;  // Σ α² / 4C, if the loss is squared
};

Sums row_sums(const Problem& p, int64_t i, double f, double alpha) {
  Sums sums;
  const double c = p.upper[static_cast<size_t>(i)];
  for (int side = 0; side < p.n_sides(); ++side) {
    const double z = std::max(p.threshold(side, i) - p.sign(side, i) * f, 0.0);
    const double a = !p.regression ? alpha : std::max(side == 0 ? alpha : -alpha, 0.0);
    sums.loss += c * (p.squared ? z * z : z);
    sums.gain += p.threshold(side, i) * a;
    sums.square += p.squared ? a * a / (4 * c) : 0.0;
  }
  return sums;
}

}  // namespace

Objectives objectives(const Problem& p, std::span<const double> weight, std::span<const double> alpha, Run& run) {
  const int64_t n = p.rows.n_rows;
  const RowBlocks blocks(n);
  std::vector<Sums> found(static_cast<size_t>(blocks.count()));
  std::vector<double> f(static_cast<size_t>(n)), signed_alpha(f.size()), from_alpha(weight.size());
  parallel_for(run, blocks.count(), [&](int64_t b, int) {
    multiply(p.rows, weight.data(), blocks.first(b), blocks.last(b), f.data() + blocks.first(b));
    Sums sums;
    for (int64_t i = blocks.first(b); i < blocks.last(b); ++i) {
      const auto row = static_cast<size_t>(i);
      const Sums one = row_sums(p, i, f[row], alpha[row]);
      sums.loss += one.loss;
      sums.gain += one.gain;
      sums.square += one.square;
      signed_alpha[row] = p.regression ? alpha[row] : p.target[row] * alpha[row];
    }
    found[static_cast<size_t>(b)] = sums;
  });
  transpose_multiply(p.rows, signed_alpha, run, from_alpha);
  Sums all;
  for (const Sums& each : found) {
    all.loss += each.loss;
    all.gain += each.gain;
    all.square += each.square;
  }
  double own = 0, of_alpha = 0, largest = 0, open = 0;
  for (int64_t j = 0; j < p.rows.width(); ++j) {
    const auto at = static_cast<size_t>(j);
    if (p.ridge(j) == 0) {
      open = std::abs(from_alpha[at]) * (std::abs(weight[at]) + 1);
    } else {
      own += p.l1 ? std::abs(weight[at]) : weight[at] * weight[at] / 2;
      of_alpha += from_alpha[at] * from_alpha[at];
      largest = std::max(largest, std::abs(from_alpha[at]));
    }
  }
  if (!p.l1) return {own + all.loss, all.gain - of_alpha / 2 - all.square - open};
  // The best multiple of α among those that keep |Σ σαx| ≤ 1.
  const double most = largest > 1 ? 1 / largest : 1.0;
  const double best = all.square > 0 ? std::clamp((all.gain - open) / (2 * all.square), 0.0, most) : most;
  return {own + all.loss, best * (all.gain - open) - best * best * all.square};
}

}  // namespace weald::linear
