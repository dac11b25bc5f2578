// Weighted quantiles of a stream in bounded memory. Equations: docs/methods/sketch.md.
//
// Rows are collected into blocks of a fixed number of values. A full block becomes an exact summary at level 0; two
// summaries of a level are merged into one of the next, which is pruned if it has grown beyond its room. All ranks
// are integers, in the units of the weights: what a sequence of rows and merges gives is the same bits everywhere, and
// how the rows are cut into calls does not show.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace weald {

// What is known of the weight at and around one value of the stream; `value` ascends (equation 1).
struct SketchEntry {
  double value;
  int64_t before;  // at most the weight of smaller values
  int64_t weight;  // at most the weight of this value
  int64_t until;   // at least the weight of values up to and including this one

  int64_t surely_until() const { return before + weight; }   // at most the weight up to and including this value
  int64_t at_most_before() const { return until - weight; }  // at least the weight of smaller values
  int64_t middle() const { return surely_until() + (until - surely_until()) / 2; }
};

// Entries by ascending value, the least and the greatest value among them, and their weight in all.
struct SketchSummary {
  std::vector<SketchEntry> entries;
  int64_t total = 0;

  // Bounds on the weight of what lies between the entries at − 1 and at.
  int64_t lower(size_t at) const { return at == 0 ? 0 : entries[at - 1].surely_until(); }
  int64_t upper(size_t at) const { return at == entries.size() ? total : entries[at].at_most_before(); }
};

// Exact in integers: the gaps of the parts add up (equation 2).
SketchSummary merge_summaries(const SketchSummary& a, const SketchSummary& b);
// Drops entries as long as no gap exceeds `gap`, except those that already do (equation 3).
void prune_summary(SketchSummary& summary, int64_t gap);

class QuantileSketch {
 public:
  static constexpr int n_levels = 32;
  static constexpr int64_t most_units = int64_t{1} << 62;  // the total weight is below

  // `epsilon` in [1e-6, 0.5].
  explicit QuantileSketch(double epsilon);

  // Values are finite, weights positive; no weights: all are 1.
  void add(std::span<const double> values, std::span<const int64_t> weights);
  void merge(const QuantileSketch& other);
  // Multiplies all weights by 2^shift; a negative shift rounds, and bounds stay bounds.
  void scale(int shift);

  int64_t total() const { return total_; }
  int64_t block_size() const { return block_size_; }
  size_t n_entries() const;

  // Everything so far in one summary: its gaps are at most epsilon · total (equation 4).
  SketchSummary summary() const;

 private:
  void insert(SketchSummary&& summary, size_t level);
  void close_block();
  void grow_total(int64_t weight);

  int64_t block_size_;
  int64_t share_;  // epsilon / n_levels, in 2^-48
  int64_t total_ = 0;
  std::vector<std::pair<double, int64_t>> block_;  // not yet summarised
  std::vector<SketchSummary> levels_;              // level l holds 2^l blocks or none
};

// Bounds on the weight of all values up to and including this one.
std::pair<int64_t, int64_t> rank_bounds(const SketchSummary& summary, double value);
// The least entry that about `rank` of the weight lies at or below (equation 5); the summary must not be empty.
double value_at(const SketchSummary& summary, int64_t rank);
// Cuts between at most max_bins bins of about equal weight (equation 6).
std::vector<double> sketch_cuts(const SketchSummary& summary, uint32_t max_bins);

}  // namespace weald
