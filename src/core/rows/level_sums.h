// What one pass adds up of blocks of rows: a block is taken down the splits of the level before, and its rows are added
// to the histograms of the nodes they come to. Sums of parts of the rows are added to each other, in any order.
//
//   number   (n) of each row's node: in and out, 2 or 4 bytes. Rows that are not drawn go down the tree as well
//   cells    (histograms, n_cells) when all rows have been added: per column (n_codes + 1) cells of the lanes and, if
//            counted, how many rows
//
// Gradients become integers here, a slice of a block at a time, and are not kept. Packed ones are added two lanes in a
// word, column by column, and moved to wide cells before a half can overflow (statistics.h).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/data/codes.h"
#include "core/rows/tree_units.h"
#include "core/tree/kinds/made.h"
#include "core/tree/levels/level_plan.h"
#include "core/tree/newton/rows.h"

namespace weald {

// Rows of a block are added up so many at a time: each has a number of 16 bits.
inline constexpr size_t slice_rows = size_t{1} << 16;

struct TrainingBlock {
  const Codes* codes;  // none if the pass has no splits and no histograms
  uint64_t first_row;
  std::span<const Gradients> given;  // per output, of the rows of the block
  const DrawnRows& drawn;
  // (n) or none: where the 16-bit values of the first pass of a tree are kept, so that the next need no gradients.
  std::span<NarrowRows::Value> kept = {};
};

// Rows of a tree of classes or of means (tree/kinds/made.h).
struct StatisticBlock {
  const Codes* codes;  // none if the pass has no splits and no histograms
  StatisticRows rows;
  const StatisticKind& kind;
  const Statistic& statistic;
};

// What a pass is for, besides the histograms of its plan.
struct LevelTask {
  LevelPlan plan;
  TreeUnits units;
  size_t n_lanes = 0;    // of trees of classes and of means; 0: two for each of the outputs
  bool seen = false;     // rows of categories are counted
  bool counted = false;  // cells count rows
  bool leaves = false;   // Σ g and Σ h of every node in wide units: the last pass

  // Whether the pass reads codes: the last one may only add up leaves.
  bool reads_codes() const { return !plan.splits.empty() || plan.n_histograms > 0; }
};

class LevelSums {
 public:
  LevelSums(const Codes& codebook, LevelTask task);

  template <class Number>
  void add(const TrainingBlock& block, std::span<Number> number, Run& run);
  template <class Number>
  void add(const StatisticBlock& block, std::span<Number> number, Run& run);
  void add(LevelSums& other, Run& run);
  // Brings all to its place; nothing is added after that.
  void finish(Run& run);
  // All that was added up, as integers that may be added to those of other rows; and back, in place of blocks.
  std::vector<int64_t> told(Run& run);
  void take(std::span<const int64_t> told);

  LevelTotals totals;
  std::vector<int64_t> cells;
  std::vector<int64_t> leaf_sums;  // (numbers, 2)
  int64_t weight = 0;              // Σ of weights in units of the square rule
  const LevelTask& task() const { return task_; }

 private:
  struct Column {
    size_t start = 0;       // of its cells in a histogram
    size_t word_start = 0;  // of its words, of all histograms
    size_t n_words = 0;     // in one histogram
    uint32_t n_codes = 0, default_code = 0;
    bool sparse = false;
  };
  static constexpr size_t byte_codes = 256;  // words of a column of one-byte codes
  static constexpr uint32_t nowhere = ~uint32_t{0};
  struct Narrow {
    uint16_t row, histogram;
    NarrowRows::Value value;
  };
  // Where rows of a node go by their code in a column of one-byte codes: to `left` + right[code].
  using Sides = std::array<uint8_t, byte_codes>;
  struct Step {
    const uint8_t *codes, *right;
    size_t left;
  };
  // What one thread has added up of a slice.
  struct Part {
    std::vector<int64_t> rows, lanes, leaf_sums;
    std::vector<RowSquare> squares;
    int64_t weight = 0;
    std::vector<NodeTold> told;
    std::vector<int64_t> first;  // (numbers, lanes) of the first row of each
  };
  // Rows that some histogram takes, in segments of newton_row_block. What is read for every column is kept small: the
  // list of a slice stays in the second-level cache.
  struct Listed {
    std::vector<uint32_t> place;     // row of the slice, and histogram in the upper half
    std::vector<Narrow> narrow;      // or all in one, of 16-bit values
    std::vector<uint64_t> word;      // words of others
    std::vector<int64_t> lanes;      // no words: the lanes of each row
    std::vector<int32_t> at;         // or, of classes, to which lanes it adds
    std::vector<int64_t> weight;     // this
    std::vector<uint32_t> n;         // per segment
    std::vector<uint32_t> entry_of;  // where there are sparse columns: per row, its place in the list, or none
  };

  // f(vector) for every vector that is told.
  template <class F>
  void for_told(const F& f) {
    for (std::vector<int64_t>* each : {&totals.rows, &totals.lanes, &leaf_sums, &hist_rows_, &cells}) f(*each);
  }
  void make_ways();
  std::vector<Step> steps_of(const Codes& codes) const;
  template <class Number>
  void route(const Codes& codes, std::span<Number> number, std::span<const Step> steps, Run& run) const;
  template <class Number>
  void add_slice(const TrainingBlock& slice, std::span<Number> number, Run& run);
  template <class Number>
  void list(const TrainingBlock& block, std::span<Number> number, std::span<const Step> steps, Run& run);
  template <class Number, class Factors>
  void list_rows(const TrainingBlock& block, std::span<const Number> number, const Factors& factors, Run& run);
  template <class Number, class Factors>
  void add_leaves(const TrainingBlock& block, std::span<const Number> number, const Factors& all_factors, Run& run);
  bool reads_kept(const TrainingBlock& slice) const;
  template <class Number>
  void list_kept(const TrainingBlock& slice, std::span<Number> number, std::span<const Step> steps, Run& run);
  template <class NodeOf>
  uint32_t list_segment(const TrainingBlock& slice, size_t first, size_t last, Part& part, const NodeOf& node_of);
  template <class Number, class Factors, class Write>
  void list_all(const TrainingBlock& block, std::span<const Number> number, const Factors& all_factors,
                const Write& write, Run& run);
  void begin_list(size_t n_rows);
  void begin_parts(Run& run);
  template <class Number>
  void list_statistic(const StatisticBlock& slice, std::span<const Number> number, Run& run);
  template <class Number>
  void list_classes(const StatisticBlock& slice, std::span<const Number> number, size_t segment, Part& part);
  template <class Number>
  void list_means(const StatisticBlock& slice, std::span<const Number> number, size_t segment, Part& part);
  void collect_told(const Statistic& statistic);
  void count_seen(const Codes& codes, Run& run);
  // Adds what is listed of a row, where it is not in words, to its cell.
  void add_lanes_of(size_t entry, int64_t* cell) const {
    if (row_lanes_ == 0) {
      const int64_t* const lanes = listed_.lanes.data() + entry * n_lanes_;
      for (size_t l = 0; l < n_lanes_; ++l) cell[l] += lanes[l];
    } else {
      const int32_t* const at = listed_.at.data() + entry * row_lanes_;
      for (size_t o = 0; o < row_lanes_; ++o) cell[at[o]] += listed_.weight[entry];
    }
    if (task_.counted) ++cell[n_lanes_];
  }
  void collect_parts(size_t n_rows);
  void add_columns(const Codes& codes, Run& run);
  std::vector<std::vector<size_t>> groups_of(const Codes& codes, int n_threads) const;
  template <size_t N>
  void add_bytes(const Codes& codes, std::span<const size_t> group);
  void add_dense(const CodeColumn& column, const Column& at);
  void add_sparse(const CodeColumn& column, const Column& at);
  void flush(const Column& at);
  size_t n_cells() const {
    return columns_.empty() ? 0 : columns_.back().start + stride_ * (size_t{columns_.back().n_codes} + 1);
  }
  bool narrow() const { return words_ && task_.units.kind == TreeUnits::Kind::narrow; }
  size_t n_segments() const { return listed_.n.size(); }

  LevelTask task_;
  size_t n_lanes_, stride_;
  bool words_;  // histograms are of words until they are finished
  bool sparse_ = false;
  bool lanes_of_cells_ = false;  // what the rows of a histogram add up to is told by the cells of a dense column:
  size_t dense_ = ~size_t{0};    // of this one
  std::vector<Sides> sides_;     // per split on one-byte codes, and one for nodes that are not split
  std::vector<Column> columns_;
  std::vector<uint64_t> packed_;
  std::vector<int64_t> in_words_, in_slice_;  // per histogram: rows in its words, and of this slice
  std::vector<Part> parts_;
  Listed listed_;
  std::vector<int64_t> hist_rows_;
  size_t row_lanes_ = 0;        // of classes: lanes that a row adds its weight to
  std::vector<int64_t> first_;  // (numbers, lanes) of the first row of each
};

}  // namespace weald
