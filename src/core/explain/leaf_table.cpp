#include "core/explain/leaf_table.h"

#include <algorithm>

#include "core/base/simd.h"

namespace weald {

const Quadrature& LeafTableMaker::points(size_t d) {
  const auto n = static_cast<size_t>(points_of_columns(static_cast<int64_t>(d)));
  if (quadrature_.size() <= n) quadrature_.resize(n + 1);
  if (quadrature_[n].size() == 0) quadrature_[n] = gauss_legendre(static_cast<int64_t>(n));
  return quadrature_[n];
}

std::span<const double> LeafTableMaker::by_shares(std::span<const double> share) {
  const size_t d = share.size(), size = size_t{1} << d, n_targets = LeafTableMaker::n_targets(d, pairs_);
  table_.assign(n_targets * size, 0.0);
  product_.resize(size);
  gains_.resize(2 * d);
  const Quadrature& quadrature = points(d);
  for (size_t g = 0; g < quadrature.size(); ++g) {
    const double t = quadrature.point[g], rest = quadrature.rest[g];
    product_[0] = quadrature.weight[g];
    for (size_t u = 0, half = 1; u < d; ++u, half *= 2) {
      const double others = share[u] * rest, same = share[u] + (1 - share[u]) * t;
      for (size_t s = 0; s < half; ++s) {
        product_[half + s] = product_[s] * same;
        product_[s] *= others;
      }
      gains_[2 * u] = -1 / rest;
      gains_[2 * u + 1] = (1 - share[u]) / same;
    }
    double* to = table_.data();
    for (size_t u = 0; u < d; ++u, to += size) {
      for (size_t s = 0; s < size; ++s) to[s] += product_[s] * gains_[2 * u + ((s >> u) & 1)];
    }
    for (size_t w = 1; pairs_ && w < d; ++w) {
      for (size_t u = 0; u < w; ++u, to += size) {
        for (size_t s = 0; s < size; ++s) {
          to[s] += product_[s] * (gains_[2 * u + ((s >> u) & 1)] * gains_[2 * w + ((s >> w) & 1)]);
        }
      }
    }
  }
  return table_;
}

// to = what the sums over the background become if the factor of column u is replaced by its slope.
void LeafTableMaker::gain_of_background(const double* from, size_t u, double t, double rest, double* to) const {
  const size_t size = product_.size(), half = size_t{1} << u;
  const double inverse_rest = 1 / rest, inverse = 1 / t;
  for (size_t block = 0; block < size; block += 2 * half) {
    for (size_t s = block; s < block + half; ++s) {
      const double others = from[s] * inverse_rest;
      to[s] = -others;
      to[s + half] = (from[s + half] - others) * inverse;
    }
  }
}

std::span<const double> LeafTableMaker::by_background(std::span<const double> background, size_t d) {
  const size_t size = size_t{1} << d, n_targets = LeafTableMaker::n_targets(d, pairs_);
  table_.assign(n_targets * size, 0.0);
  product_.resize(size);
  gains_.resize(size * (pairs_ ? d : 1));
  other_.resize(size);
  const Quadrature& quadrature = points(d);
  for (size_t g = 0; g < quadrature.size(); ++g) {
    const double t = quadrature.point[g], rest = quadrature.rest[g];
    for (size_t s = 0; s < size; ++s) product_[s] = background[s] * quadrature.weight[g];
    for (size_t half = 1; half < size; half *= 2) {
      for (size_t block = 0; block < size; block += 2 * half) {
        for (size_t s = block; s < block + half; ++s) {
          const double without = product_[s], with = product_[s + half];
          product_[s] = rest * with;
          product_[s + half] = t * without + with;
        }
      }
    }
    double* to = table_.data();
    for (size_t u = 0; u < d; ++u, to += size) {
      double* gain = gains_.data() + (pairs_ ? u * size : 0);
      gain_of_background(product_.data(), u, t, rest, gain);
      for (size_t s = 0; s < size; ++s) to[s] += gain[s];
    }
    for (size_t w = 1; pairs_ && w < d; ++w) {
      for (size_t u = 0; u < w; ++u, to += size) {
        gain_of_background(gains_.data() + u * size, w, t, rest, other_.data());
        for (size_t s = 0; s < size; ++s) to[s] += other_[s];
      }
    }
  }
  return table_;
}

}  // namespace weald
