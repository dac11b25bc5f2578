// Rows of nodes in the order of a dense column: carried from parent to children where all columns are searched in every
// node, else made when asked for, in small nodes by the ranks of their part (ranks.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/tree/grow/columns.h"
#include "core/tree/grow/node.h"
#include "core/tree/grow/workers.h"
#include "core/tree/rows/order.h"
#include "core/tree/rows/partition.h"
#include "core/tree/statistics/ranks.h"

namespace weald {

class RowOrders {
 public:
  // `kept`: where the orders of all rows are kept from tree to tree, or nullptr.
  RowOrders(std::span<const GrowColumn> columns, size_t n_rows, DenseOrder* kept)
      : columns_(columns), n_rows_(n_rows), kept_(kept), entries_(columns.size()) {}

  void use_ranks() { ranks_ = Ranks(columns_.size(), n_rows_); }
  const Ranks& ranks() const { return ranks_; }

  // The carried entries of a node that has them.
  std::span<Entry> carried(int32_t j, const GrowNode& node) const {
    return {entries_[static_cast<size_t>(j)].get() + node.begin, node.size()};
  }
  void part(int32_t j, const GrowNode& parent, const uint8_t* side, Worker& worker) {
    worker.scratch.resize(std::max(worker.scratch.size(), parent.size()));
    partition_stable(carried(j, parent).data(), parent.size(), side, worker.scratch.data(), entry_row);
  }
  // From here on the rows of a node are carried in the order of a column; n_all: rows of the tree.
  void put_in_order(int32_t j, const GrowNode& node, std::span<const uint32_t> ids, size_t n_all, Worker& worker);

  // The rows of a node in code order, anew: by rank where there are ranks, else sorted.
  std::span<const Entry> make(int32_t j, std::span<const uint32_t> ids, const RankedWhole& whole, Worker& worker);

 private:
  std::span<const GrowColumn> columns_;
  size_t n_rows_;
  DenseOrder* kept_;                               // filled by the first tree that has all rows
  std::vector<std::unique_ptr<Entry[]>> entries_;  // per column, made when first needed
  Ranks ranks_;                                    // filled as columns are asked for
};

}  // namespace weald
