// Which integers the rows of one tree add to histograms: found from what all blocks have counted, so that neither their
// order nor where they lie shows. The rule of NewtonRows (tree/newton/rows.h), for rows that are not in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/pool.h"
#include "core/tree/newton/rows.h"
#include "core/tree/statistics/newton_units.h"

namespace weald {

// Which rows of a block a tree is grown on: those of positive weight that chance draws by their number in the table.
struct RowDraw {
  double share = 1;
  uint64_t seed = 0;
  int64_t only = -1;  // chance has left no row: the one that came nearest
};
DrawnRows draw_block(const RowDraw& draw, std::span<const double> weight, size_t n_rows, uint64_t first_row);
// Of the rows of positive weight, the one whose number comes nearest to being drawn, and by which it does; −1: none.
struct NearestRow {
  int64_t row = -1;
  uint64_t word = 0;
  void take(const NearestRow& other);
};
NearestRow nearest_of_block(const RowDraw& draw, std::span<const double> weight, size_t n_rows, uint64_t first_row);

// What all gradients of a tree are told by before it grows.
struct GradientCounts {
  struct Counted {
    std::vector<Exponents> of_output;
    SquareTops tops;
  };
  Counted given;  // whole weights as repeated rows
  Counted each;   // every row once; only where weights are whole
  int64_t n_drawn = 0;

  void add(const GradientCounts& other);
};
// `given`: one per output. `squared`: the largest gradients are asked for too.
GradientCounts count_block(std::span<const Gradients> given, const DrawnRows& drawn, bool squared, Run& run);

struct TreeUnits {
  enum class Kind : uint8_t { wide, words, narrow };
  Kind kind = Kind::wide;
  Powers powers{0, 0};
  Powers wide{0, 0};   // of leaf sums, where histograms have fewer bits
  bool zeros = false;  // sums of rows may be 0
  bool whole = false;  // whole weights are repeated rows
  uint64_t seed = 0, round = 0;
  size_t n_outputs = 1;
  bool squared = false;            // w g² of rows is asked for, where categories are judged by it:
  bool square_lanes = false;       // of the integers themselves, or
  std::optional<SquareRule> rule;  // by this

  bool packed() const { return kind != Kind::wide; }
};

// `weighted`, `whole`: of the table's weights.
TreeUnits choose_units(const GradientCounts& counts, const NewtonOptions& options, bool weighted, bool whole,
                       bool squared);

}  // namespace weald
