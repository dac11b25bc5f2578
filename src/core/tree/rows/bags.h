// The bags of a forest: how often each tree has each row, drawn by counter, so that they need not be kept.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/random.h"

namespace weald {

struct Bags {
  int64_t n_trees = 1;
  int64_t first_tree = 0;  // number of the first of them: a forest may grow in several calls
  int64_t n_draws = 0;     // rows drawn for each tree, with replacement; 0: every tree has every row once
  uint64_t seed = 0;
  double min_weight_share = 0;  // least weight of a leaf, as a share of its tree's

  uint64_t tree_seed(int64_t t) const { return draw(seed, Purpose::tree_seed, static_cast<uint64_t>(first_tree + t)); }
};

// counts[i] += how often the bag of a tree has the i-th of the rows it is drawn from.
inline void draw_bag(uint64_t seed, int64_t tree, int64_t n_draws, std::span<uint32_t> counts) {
  const Draws draws(seed, Purpose::bag, static_cast<uint64_t>(tree));
  const auto n = static_cast<unsigned __int128>(counts.size());
  for (uint64_t i = 0; i < static_cast<uint64_t>(n_draws); ++i) {
    ++counts[static_cast<size_t>((static_cast<unsigned __int128>(draws(i)) * n) >> 64)];
  }
}

// How often a tree has each of n_rows rows, if it is drawn from those in `present`; empty: every row there once.
inline std::vector<uint32_t> bag_of(const Bags& bags, int64_t t, std::span<const uint32_t> present, size_t n_rows) {
  if (bags.n_draws == 0) return {};
  std::vector<uint32_t> drawn(present.size(), 0);
  draw_bag(bags.seed, bags.first_tree + t, bags.n_draws, drawn);
  if (present.size() == n_rows) return drawn;
  std::vector<uint32_t> counts(n_rows, 0);
  for (size_t i = 0; i < present.size(); ++i) counts[present[i]] = drawn[i];
  return counts;
}

}  // namespace weald
