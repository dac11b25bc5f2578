// What a leaf of value 1 adds to a row by each column, and by each pair of columns, for every way in which a row can
// satisfy the leaf's columns: tables of 2^d entries for a leaf of d columns.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/explain/quadrature.h"

namespace weald {

// Tables of one leaf after another. Columns first, then, if asked for, pairs (u, w), u < w, in the order of w and then
// of u; 2^d entries each.
class LeafTableMaker {
 public:
  explicit LeafTableMaker(bool pairs) : pairs_(pairs) {}

  // Path-dependent (S2, S5): `share` of the training weight that satisfies each column.
  std::span<const double> by_shares(std::span<const double> share);
  // Interventional (S8, S9): `background` has the share of its rows of each pattern, 2^d; it is kept as it is.
  std::span<const double> by_background(std::span<const double> background, size_t d);

  static size_t n_targets(size_t d, bool pairs) { return pairs ? d + d * (d - 1) / 2 : d; }

 private:
  const Quadrature& points(size_t d);
  void gain_of_background(const double* from, size_t u, double t, double rest, double* to) const;

  bool pairs_;
  size_t size_ = 0;
  std::vector<Quadrature> quadrature_;  // by number of points
  std::vector<double> table_, product_, gains_, other_;
};

}  // namespace weald
