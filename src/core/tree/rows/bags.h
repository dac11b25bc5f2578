// The bags of a forest: how often each tree has each row, drawn by counter, so that they need not be kept.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/check.h"
#include "core/base/random.h"

namespace weald {

// Of a class whose rows all bags have, instead of a number of draws.
inline constexpr int64_t all_rows = -1;

struct Bags {
  int64_t n_trees = 1;
  int64_t first_tree = 0;  // number of the first of them: a forest may grow in several calls
  int64_t n_draws = 0;     // rows drawn for each tree, with replacement; 0: every tree has every row once
  uint64_t seed = 0;
  double min_weight_share = 0;  // least weight of a leaf, as a share of its tree's
  // Rows of each class that a tree gets before n_draws are drawn from these (0: they are its bag); all_rows: every row
  // of the class once. Empty: classes are not looked at.
  std::vector<int64_t> class_draws;
  bool class_replace = false;  // whether a row may come twice among those of its class

  uint64_t tree_seed(int64_t t) const { return draw(seed, Purpose::tree_seed, static_cast<uint64_t>(first_tree + t)); }
};

// A word as one of the numbers 0 … n − 1.
inline size_t place_of(uint64_t word, size_t n) {
  return static_cast<size_t>((static_cast<unsigned __int128>(word) * n) >> 64);
}

// counts[i] += how often the bag of a tree has the i-th of the rows it is drawn from.
inline void draw_bag(uint64_t seed, int64_t tree, int64_t n_draws, std::span<uint32_t> counts) {
  const Draws draws(seed, Purpose::bag, static_cast<uint64_t>(tree));
  for (uint64_t i = 0; i < static_cast<uint64_t>(n_draws); ++i) ++counts[place_of(draws(i), counts.size())];
}

// Rows, one class after another: those of class k lie from start[k] to start[k + 1], ascending.
struct RowsByClass {
  std::vector<uint32_t> rows;
  std::vector<size_t> start;

  // Of the rows in `present`, by their classes 0 … n_classes − 1.
  RowsByClass(std::span<const int32_t> class_of_row, std::span<const uint32_t> present, size_t n_classes)
      : rows(present.size()), start(n_classes + 1, 0) {
    for (const uint32_t row : present) ++start[static_cast<size_t>(class_of_row[row]) + 1];
    for (size_t k = 0; k < n_classes; ++k) start[k + 1] += start[k];
    std::vector<size_t> next(start.begin(), start.end() - 1);
    for (const uint32_t row : present) rows[next[static_cast<size_t>(class_of_row[row])]++] = row;
  }

  std::span<const uint32_t> of(size_t k) const { return std::span(rows).subspan(start[k], start[k + 1] - start[k]); }
};

// The rows that bags are drawn from.
struct BagSource {
  std::span<const uint32_t> present;
  const RowsByClass* by_class = nullptr;  // there if bags have class_draws
};

// counts[row] += how often the bag of a tree has the row, class by class; counts are 0 before. Draw i of a tree is the
// same whichever thread asks. Without replacement by Floyd's rule: the j-th of the rows joins where the one that was
// drawn among the first j is in the bag already. Equation R11 of docs/methods/balanced_ensembles.md.
inline void draw_classes(const Bags& bags, int64_t tree, const RowsByClass& by_class, std::span<uint32_t> counts) {
  const Draws draws(bags.seed, Purpose::class_bag, static_cast<uint64_t>(tree));
  uint64_t i = 0;
  for (size_t k = 0; k < bags.class_draws.size(); ++k) {
    const std::span<const uint32_t> rows = by_class.of(k);
    if (bags.class_draws[k] == all_rows) {
      for (const uint32_t row : rows) counts[row] = 1;
      continue;
    }
    const auto n_draws = static_cast<size_t>(bags.class_draws[k]);
    for (size_t j = rows.size() - n_draws; !bags.class_replace && j < rows.size(); ++j) {
      const size_t drawn = place_of(draws(i++), j + 1);
      counts[rows[counts[rows[drawn]] == 0 ? drawn : j]] = 1;
    }
    for (size_t j = 0; bags.class_replace && j < n_draws; ++j) ++counts[rows[place_of(draws(i++), rows.size())]];
  }
}

// Raises unless there are rows to draw from for every class that is drawn from.
inline void check_draws(const Bags& bags, const RowsByClass& by_class) {
  require(bags.class_draws.size() + 1 == by_class.start.size(), "one number of draws per class");
  for (size_t k = 0; k < bags.class_draws.size(); ++k) {
    const int64_t n_draws = bags.class_draws[k], n_rows = static_cast<int64_t>(by_class.of(k).size());
    require(
        n_draws == all_rows || (n_draws >= 0 && (bags.class_replace ? n_rows > 0 || n_draws == 0 : n_draws <= n_rows)),
        "draws of a class need rows to draw from");
  }
}

// How often a tree has each of n_rows rows if classes are drawn apart, and n_draws of those if that is not 0.
inline std::vector<uint32_t> class_bag(const Bags& bags, int64_t tree, const RowsByClass& by_class, size_t n_rows) {
  std::vector<uint32_t> counts(n_rows, 0);
  draw_classes(bags, tree, by_class, counts);
  if (bags.n_draws == 0) return counts;
  std::vector<uint32_t> chosen;
  for (size_t row = 0; row < n_rows; ++row) chosen.insert(chosen.end(), counts[row], static_cast<uint32_t>(row));
  std::vector<uint32_t> drawn(chosen.size(), 0);
  draw_bag(bags.seed, tree, bags.n_draws, drawn);
  std::fill(counts.begin(), counts.end(), 0U);
  for (size_t i = 0; i < chosen.size(); ++i) counts[chosen[i]] += drawn[i];
  return counts;
}

// How often a tree has each of n_rows rows, if it is drawn from those of `source`; empty: every row there once.
inline std::vector<uint32_t> bag_of(const Bags& bags, int64_t t, const BagSource& source, size_t n_rows) {
  const std::span<const uint32_t> present = source.present;
  if (source.by_class != nullptr) return class_bag(bags, bags.first_tree + t, *source.by_class, n_rows);
  if (bags.n_draws == 0) return {};
  std::vector<uint32_t> drawn(present.size(), 0);
  draw_bag(bags.seed, bags.first_tree + t, bags.n_draws, drawn);
  if (present.size() == n_rows) return drawn;
  std::vector<uint32_t> counts(n_rows, 0);
  for (size_t i = 0; i < present.size(); ++i) counts[present[i]] = drawn[i];
  return counts;
}

}  // namespace weald
