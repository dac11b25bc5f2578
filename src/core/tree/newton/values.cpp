#include "core/tree/newton/values.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/tree/statistics/quantise.h"

namespace weald {

void fill_values(NewtonTree& tree, const Newton& criterion, Powers powers, std::span<const int64_t> lanes,
                 double bound_scale, double min_weight) {
  const size_t n = tree.arrays.slot.size();
  tree.value.resize(n);
  tree.cover.resize(n);
  for (size_t i = 0; i < n; ++i) {
    const double value = std::ldexp(criterion.value(lanes.data() + 2 * i), powers.h - powers.g);
    tree.value[i] = std::clamp(value, tree.arrays.lower[i] * bound_scale, tree.arrays.upper[i] * bound_scale);
    tree.cover[i] = std::ldexp(static_cast<double>(lanes[2 * i + 1]), -powers.h);
    if (tree.cover[i] < min_weight) tree.value[i] = 0;
  }
}

void fill_values_of_sums(NewtonTree& tree, const Newton& criterion, Powers powers, std::span<const int64_t> leaf_sums,
                         double bound_scale, double min_weight) {
  // Preorder: children come after their parent, so sums travel up from the end.
  const TreeArrays& arrays = tree.arrays;
  const size_t n = arrays.slot.size();
  std::vector<int64_t> lanes(2 * n);
  for (size_t i = n; i-- > 0;) {
    const int32_t slot = arrays.slot[i];
    for (size_t lane = 0; lane < 2; ++lane) {
      lanes[2 * i + lane] = slot < 0
                                ? leaf_sums[2 * static_cast<size_t>(~slot) + lane]
                                : lanes[2 * (i + 1) + lane] +
                                      lanes[2 * static_cast<size_t>(arrays.right[static_cast<size_t>(slot)]) + lane];
    }
  }
  fill_values(tree, criterion, powers, lanes, bound_scale, min_weight);
}

void fill_many_values(NewtonTree& tree, const NewtonMany& criterion, Powers powers) {
  const auto n_outputs = static_cast<size_t>(criterion.n_outputs);
  for (size_t i = 0; i < tree.arrays.slot.size(); ++i) {
    const int64_t* lanes = tree.arrays.lanes.data() + 2 * n_outputs * i;
    for (size_t k = 0; k < n_outputs; ++k) {
      tree.value.push_back(std::ldexp(criterion.value(lanes, static_cast<int>(k)), powers.h - powers.g));
    }
    tree.cover.push_back(std::ldexp(static_cast<double>(criterion.weight(lanes)), -powers.h));
  }
}

void fill_counts(const TreeArrays& tree, double h_scale, std::span<int64_t> sums) {
  for (size_t leaf = 0; 2 * leaf < sums.size(); ++leaf) {
    sums[2 * leaf + 1] = in_units(static_cast<double>(tree.leaf_start[leaf + 1] - tree.leaf_start[leaf]), h_scale);
  }
}

Newton criterion_in(const NewtonOptions& options, Powers powers) {
  Newton criterion{std::ldexp(options.lambda, powers.h), std::ldexp(options.alpha, powers.g),
                   std::ldexp(options.max_step, powers.g - powers.h), std::ldexp(options.category_smooth, powers.h),
                   std::ldexp(options.category_lambda, powers.h)};
  criterion.score_power = powers.h - 2 * powers.g;
  return criterion;
}

GrowOptions grow_options_in(const NewtonOptions& options, Powers powers) {
  GrowOptions grow = options.grow;
  grow.must_gain = true;
  const double least = std::ceil(std::ldexp(options.min_weight, powers.h));
  grow.min_weight_leaf = static_cast<int64_t>(std::min(least, 0x1p62));
  grow.rare_weight = std::ldexp(options.rare_weight, powers.h);
  grow.min_gain = options.prune_after ? 0 : options.gamma;
  return grow;
}

NewtonMany many_in(const NewtonOptions& options, Powers powers, size_t n_outputs) {
  const Newton one = criterion_in(options, powers);
  NewtonMany criterion{static_cast<int>(n_outputs), one.lambda, one.alpha, one.max_step,
                       std::ldexp(options.min_weight, powers.h)};
  criterion.score_power = one.score_power;
  return criterion;
}

}  // namespace weald
