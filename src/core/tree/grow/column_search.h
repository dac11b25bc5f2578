// The search of one column of one node, as the grower asks for it: a call per column, never per row. What kind of sums
// it compares is up to the statistic that made it.
#pragma once

#include <cstdint>
#include <span>

#include "core/tree/grow/columns.h"
#include "core/tree/grow/node.h"
#include "core/tree/options.h"
#include "core/tree/rows/order.h"
#include "core/tree/split/categorical.h"
#include "core/tree/split/split.h"

namespace weald {

// One column of one node.
struct Searched {
  int32_t j;
  const GrowColumn& column;
  const int64_t* lanes;  // of the node
  int64_t n_rows;
  size_t place;                          // of the node among those searched together
  Constraint constraint = {};            // monotone
  const CategoryRules* rules = nullptr;  // categories only
  uint64_t word = 0;                     // what the random splitter draws by
};

inline Searched searched(int32_t j, const GrowColumn& column, const GrowNode& node, const int64_t* lanes,
                         const GrowOptions& options) {
  const int direction = options.monotone.empty() ? 0 : options.monotone[static_cast<size_t>(j)];
  return {j, column, lanes, static_cast<int64_t>(node.size()), node.place, {direction, node.lower, node.upper}};
}

// Each offers its best candidate to `best` and tells whether the column is constant in the node.
class ColumnSearch {
 public:
  virtual ~ColumnSearch() = default;
  // Rows in code order.
  virtual bool in_order(const Searched& at, std::span<const Entry> entries, Split& best) = 0;
  // A histogram.
  virtual bool in_cells(const Searched& at, const int64_t* cells, Split& best) = 0;
  // A sparse column: its listed entries among the rows `ids`, in code order.
  virtual bool in_listed(const Searched& at, std::span<const Entry> entries, std::span<const uint32_t> ids,
                         Split& best) = 0;
  // One candidate of a numeric or ordinal column, drawn, if this search can tell it from the rows as they are.
  virtual bool reads_rows() const = 0;
  virtual bool drawn(const Searched& at, std::span<const uint32_t> ids, Split& best) = 0;
  // The same from a histogram, of any search that has such.
  virtual bool drawn_in_cells(const Searched& /*at*/, const int64_t* /*cells*/, Split& /*best*/) { return false; }
  // Ranks of a combination of columns, in order. True if it is the best so far.
  virtual bool in_combination(const Searched& at, std::span<const Entry> entries, Split& best) = 0;
};

}  // namespace weald
