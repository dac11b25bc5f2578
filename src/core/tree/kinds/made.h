// What rows add up to, apart from the tree that grows on them: for growers whose rows pass by in blocks, which ask
// about sums, and for parts of those rows that are brought into memory. The statistics of tree.h: the same integers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/tree/grow/statistic.h"
#include "core/tree/kinds/tree.h"
#include "core/tree/split/gain.h"

namespace weald {

struct MadeStatistic {
  std::unique_ptr<Statistic> statistic;
  std::shared_ptr<const EntropyTerms> terms;  // which it may point to
};

// Some rows of a tree. Of classes `lane`, `weight` and `count`, of means `lanes`, `squares`, `targets` and `count`, as
// ClassTarget and grow_moment_trees have them. Without rows: a statistic that is only asked about sums.
struct StatisticRows {
  std::span<const int32_t> lane = {};
  std::span<const int64_t> weight = {};  // empty: 1
  std::span<const int64_t> lanes = {};
  std::span<const int64_t> squares = {};
  std::span<const double> targets = {};
  std::span<const uint32_t> count = {};  // how often the bag of the tree has each row; empty: once
};

// A family of trees: every tree of a fit is one of it.
class StatisticKind {
 public:
  virtual ~StatisticKind() = default;
  StatisticKind(const StatisticKind&) = delete;
  StatisticKind& operator=(const StatisticKind&) = delete;

  // Owns what it needs of the rows.
  virtual MadeStatistic make(const StatisticRows& rows, Run& run) const = 0;

  bool classes() const { return n_outputs_ != 0; }
  size_t n_outputs() const { return n_outputs_; }  // of classes: lanes that a row adds its weight to; else 0
  size_t n_targets() const { return n_targets_; }  // of means
  size_t n_lanes() const { return n_lanes_; }
  bool weighted() const { return weighted_; }  // rows of classes have weights
  bool packed() const { return packed_; }      // all rows of a tree fit two lanes of 32 bits

 protected:
  StatisticKind(size_t n_outputs, size_t n_targets, size_t n_lanes, bool weighted, bool packed)
      : n_outputs_(n_outputs), n_targets_(n_targets), n_lanes_(n_lanes), weighted_(weighted), packed_(packed) {}

 private:
  size_t n_outputs_, n_targets_, n_lanes_;
  bool weighted_, packed_;
};

// `most`: the weight of all rows of a tree, about. `drawn`: rows count as often as bags have them.
std::unique_ptr<StatisticKind> class_kind(std::vector<int> output_start, bool weighted, int weight_power, bool drawn,
                                          int64_t most, ClassCriterion criterion);
std::unique_ptr<StatisticKind> moment_kind(MomentPowers powers, MomentCriterion criterion);

// The least weight of a leaf that is a share of its tree's.
int64_t least_weight(double share, int64_t total_weight);
// Raises TooLarge unless the shares of all leaves of n_trees such trees have room.
void check_room(const TreeArrays& tree, int n_lanes, int64_t n_trees, int64_t bytes);

}  // namespace weald
