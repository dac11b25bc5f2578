// Sparse columns of a growing tree, of which each node has a range of listed entries, carried down by stable partitions
// where all columns are searched in every node. Where columns are drawn, entries are looked up instead.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/tree/grow/columns.h"
#include "core/tree/grow/node.h"
#include "core/tree/grow/workers.h"
#include "core/tree/rows/sparse_entries.h"
#include "core/tree/split/column_rules.h"

namespace weald {

// The sparse columns of a table in code order.
SparseOrder sort_sparse_columns(std::span<const GrowColumn> columns, size_t n_rows);

class SparseColumns {
 public:
  // Carried: the entries of the tree's columns and rows; `order` is that of the whole table, made here if nobody has
  // it. `side` is scratch, one byte per row of the table.
  void carry(std::span<const GrowColumn> columns, const ColumnRules& rules, std::span<const uint32_t> ids,
             const SparseOrder* order, std::vector<uint8_t>& side);
  // Drawn: the record whose rows each row is among.
  void follow(size_t n_rows) { node_of_row_.assign(n_rows, -1); }
  void place_rows(std::span<const uint32_t> ids, int32_t record) {
    if (node_of_row_.empty()) return;
    for (const uint32_t row : ids) node_of_row_[row] = record;
  }

  // The ranges of a node's columns; of the root's.
  const std::vector<SparseRange>& ranges(const GrowNode* node) const { return node == nullptr ? root_ : node->sparse; }
  std::span<Entry> load(const SparseRange& range, Worker& worker) const;
  // Parts the i-th range of a parent by the side of its rows; how many entries go left.
  size_t part(const SparseRange& range, size_t i, std::span<Entry> entries, const uint8_t* side, Worker& worker);
  // Before and after the search of some children: whether the i-th range is constant in the c-th.
  void begin_search(size_t n_ranges);
  void set_constant(size_t c, size_t i, bool constant) { constant_[c][i] = constant; }
  void end_search(std::span<GrowNode*> children, const GrowNode* parent, const std::vector<SparseRange>& ranges);

  // The entries of a column among the rows of a node, in code order: by looking up the node's rows in the column, or by
  // looking through the column, whichever is less.
  std::span<Entry> collect(const GrowColumn& column, std::span<const uint32_t> ids, int32_t record,
                           Worker& worker) const;

 private:
  SparseEntries entries_;  // of all sparse columns
  std::vector<size_t> start_;
  std::vector<SparseRange> root_;
  std::vector<uint32_t> middle_;  // per range of the parent: where the right child's part begins
  std::vector<uint8_t> constant_[2];
  std::vector<int32_t> node_of_row_;
};

}  // namespace weald
