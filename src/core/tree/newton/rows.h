// The rows of boosting in memory: gradients in, one tree out, with where each row came to rest.
//
// One object serves all trees of a fit, so that what a tree needs (integer statistics, row ids) is allocated once.
// Gradients become integers by one of two rules (docs/methods/boosting.md, 5 and 6):
//
//   wide     int64 in units of the largest power of two for which no sum leaves 62 bits
//   narrow   16 bits scaled by the maximum, rounded by chance; only for many rows whose gradients have no long tail.
//            The tree's structure comes from these, leaf values always from wide sums
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/data/codes.h"
#include "core/tree/grow/node.h"
#include "core/tree/items/row_codes.h"
#include "core/tree/model/forest.h"
#include "core/tree/options.h"
#include "core/tree/rows/sparse_entries.h"
#include "core/tree/split/newton_gain.h"
#include "core/tree/statistics/gradient_source.h"
#include "core/tree/statistics/quantise.h"
#include "core/tree/statistics/statistics.h"

namespace weald {

// In real units; `grow` has what these leave out.
struct NewtonOptions {
  double lambda = 1, alpha = 0, max_step = 0;
  double category_smooth = 0, category_lambda = 0;  // see Newton
  bool believes_categories = false;                 // columns of many categories: by what their spread says (belief.h)
  double rare_weight = 0;                           // a category of a smaller Σ h is not listed
  double min_weight = 1;                            // Σ h of a leaf
  double gamma = 0;                                 // least gain of a split, without ½
  bool zero_gain = false;                           // splits of no gain are made where gradients differ; wide only
  bool prune_after = true;                          // gamma cuts from the bottom after growth, else while growing
  double row_share = 1;                             // rows drawn for the tree, by hash of (seed, row)
  bool narrow = false;                              // 16-bit statistics, if the gradients allow
  size_t narrow_rows = size_t{1} << 16;             // from here on, below it words, which keep fewer bits the more rows
  uint64_t round = 0;                               // with the seed and the row: how 16-bit values are rounded
  GrowOptions grow;
};

// The rows a tree is grown on, ascending. All of them need no list.
struct DrawnRows {
  size_t n = 0;
  std::vector<uint32_t> ids;  // empty: row i is i
  size_t size() const { return n; }
  uint32_t operator[](size_t i) const { return ids.empty() ? static_cast<uint32_t>(i) : ids[i]; }
  std::vector<uint32_t> list() const;
};

struct NewtonTree {
  TreeArrays arrays;                // arrays.leaf_start: how many rows were drawn and came to each leaf
  std::vector<double> value;        // (nodes, outputs) −T(G) / (H + λ), held back by max_step and constraints
  std::vector<double> cover;        // (nodes) Σ h; mean over the outputs
  std::vector<uint16_t> leaf;       // of every row of the table, drawn or not; empty if there are too many leaves
  std::vector<uint32_t> wide_leaf;  // then here
  bool narrow = false;
  std::vector<double> leaf_sums;  // (leaves, 2) Σ g and Σ curvature in real units, where that was given
};

// Calls f with the leaves of all rows: a pointer to uint16_t or to uint32_t.
template <class Tree, class F>
void with_leaves(Tree& tree, F&& f) {
  tree.wide_leaf.empty() ? f(tree.leaf.data()) : f(tree.wide_leaf.data());
}

// The leaf of `tree` that a row comes to by its codes, which are those it was grown on, in memory or of a block.
int32_t leaf_of_row(const TreeArrays& tree, const Codes& codes, uint32_t row);

// The largest |g| and factor of rows, by which their squares are scaled.
struct SquareTops {
  double g = 0, factor = 0;
  void take(const SquareTops& other) { g = std::max(g, other.g), factor = std::max(factor, other.factor); }
};

// What a tree is grown on: g and h, (outputs, n) or from a source (one output), and the weights they are to be
// multiplied by.
struct Gradients {
  std::span<const double> g, h;
  const GradientSource* source = nullptr;  // instead of g and h
  std::span<const double> weight;          // (n): 0 = the row is absent; empty: all 1
  bool whole = false;                      // weights are whole numbers: a row of weight 3 is three rows to the last bit
  // Stagewise boosting: what one step of a leaf divides Σ g by, beside the hessians that the tree is grown on.
  std::span<const double> curvature = {};  // (n)
  bool unit_h = false;                     // every h is 1

  // The curvatures in the place of the hessians.
  Gradients stepped() const { return {g, curvature, nullptr, weight, whole}; }
};

struct Powers {
  int g, h;
};

// What w g² of rows is counted in, times the mean weight of a row: share · 2^power.
struct SquareUnit {
  double share = 1;
  int power = 0;
};

struct Exponents;  // newton_units.h

class NewtonRows {
 public:
  explicit NewtonRows(const Codes& codes);

  NewtonTree grow(const Gradients& given, const NewtonOptions& options, Run& run);

  // scores[row] += values[leaf] for every row of the table.
  void add_scores(const NewtonTree& tree, std::span<const double> leaf_values, std::span<double> scores,
                  Run& run) const;
  // Per leaf Σ g and Σ h over the rows of positive weight, (leaves, 2), in real units: for trees whose values follow
  // another rule than the one they were grown by. The tree has no rows that were left out by chance.
  std::vector<double> leaf_sums(const NewtonTree& tree, const Gradients& given, Run& run) const;
  // The leaf of every row of the table; −1 for rows that were not drawn if `drawn_only`.
  void leaf_of_row(const NewtonTree& tree, bool drawn_only, std::span<int32_t> out) const;

  const Codes& codes() const { return codes_; }

 private:
  RowSquares squares(const Gradients& given, const DrawnRows& drawn, Powers powers, Run& run);
  RowSquares squares_of_items(const Gradients& given, const DrawnRows& drawn, Powers powers, Run& run);
  template <class LaneOf>
  RowSquares squares_of_lanes(const Gradients& given, const DrawnRows& drawn, Powers powers, const LaneOf& lane_of,
                              Run& run);
  const SparseOrder* sparse_order();
  DenseOrder* dense_order();
  uint32_t nearest_row(std::span<const double> weight, uint64_t seed) const;
  DrawnRows draw_rows(std::span<const double> weight, const NewtonOptions& options) const;
  template <class UnitsOfH>
  void fill_pairs(const Gradients& given, const DrawnRows& drawn, Powers powers, const UnitsOfH& units_of_h, Run& run);
  NewtonTree grow_wide(const Gradients& given, const DrawnRows& drawn, const NewtonOptions& options, Run& run);
  NewtonTree grow_wide_from_source(const Gradients& given, const DrawnRows& drawn, const NewtonOptions& options,
                                   Run& run);
  NewtonTree grow_many(const Gradients& given, const DrawnRows& drawn, const NewtonOptions& options, Run& run);
  bool grow_packed(Gradients given, const DrawnRows& drawn, const NewtonOptions& options, Run& run, NewtonTree& out);
  TreeArrays grow_narrow(const Gradients& given, const DrawnRows& drawn, Powers powers, const NewtonOptions& options,
                         Run& run);
  TreeArrays grow_words(const Gradients& given, const DrawnRows& drawn, Powers powers, const NewtonOptions& options,
                        Run& run);
  std::vector<int64_t> sum_leaves(const NewtonTree& tree, const Gradients& given, const DrawnRows& drawn, Powers powers,
                                  Run& run) const;
  std::vector<double> real_sums(const NewtonTree& tree, const Gradients& given, const DrawnRows& drawn,
                                const Exponents& exponents, Run& run) const;
  void value_wide(const Gradients& given, const DrawnRows& drawn, const Exponents& exponents, Powers powers,
                  const NewtonOptions& options, Run& run, NewtonTree& out) const;
  template <class RowOf>
  void place(NewtonTree& tree, Run& run, const RowOf& row_of) const;
  void place_drawn(NewtonTree& tree, Run& run) const;
  template <class Rows>
  void place_items(NewtonTree& tree, const ItemBuffers<Rows>& items, Run& run) const;
  void place_others(NewtonTree& tree, Run& run) const;

  const Codes& codes_;
  size_t n_rows_;
  bool sparse_ = false;
  bool tiled_ = true;             // the columns suit tiles
  bool many_categories_ = false;  // in some column
  std::vector<int64_t> pairs_;
  std::vector<NarrowRows::Value> narrow_;
  std::vector<RowSquare> squares_;  // of the tree that grows, if `squared_`
  SquareTops tops_;                 // of its rows
  bool squared_ = false;
  std::unique_ptr<Tiles> tiles_;  // made for the first tree that reads them
  ItemBuffers<NarrowRows> narrow_items_;
  ItemBuffers<WordRows> word_items_;
  std::unique_ptr<SparseOrder> sparse_order_;  // made for the first tree
  DenseOrder dense_order_;
};

}  // namespace weald
