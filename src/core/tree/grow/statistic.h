// What a tree adds up over its rows, as the grower asks for it: a call per node or per column, never per row, so that
// one grower serves all. Sums in lanes: lane_statistic.h; absolute error, which is no sum: absolute_statistic.h.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/tree/grow/column_search.h"
#include "core/tree/grow/columns.h"
#include "core/tree/grow/node.h"
#include "core/tree/grow/node_numbers.h"
#include "core/tree/options.h"
#include "core/tree/rows/tree_orders.h"

namespace weald {

class Statistic {
 public:
  struct Kind {
    int n_lanes;
    bool unit_weights;  // the weight counts rows
    bool may_be_zero;   // a row's lanes may all be 0
    bool by_rows;       // no sums: columns are always searched in order
    bool compacts;      // a subtree may have the lanes of its own rows alone
  };

  virtual ~Statistic() = default;
  Statistic(const Statistic&) = delete;
  Statistic& operator=(const Statistic&) = delete;

  const Kind& kind() const { return kind_; }
  const Spread& spread() const { return spread_; }

  // Adds rows to the lanes of a node.
  virtual void add_rows(std::span<const uint32_t> ids, int64_t* lanes) const = 0;
  virtual void add_histogram(const GrowColumn& column, std::span<const uint32_t> ids, bool counted,
                             int64_t* cells) const = 0;
  virtual int64_t weight(const int64_t* lanes) const = 0;
  virtual bool pure(const int64_t* lanes) const = 0;
  virtual bool alike(const GrowNode& node, std::span<const uint32_t> ids) const = 0;
  // The score of a new node. Adds what it predicts to `means`, one number per output, if there are targets; zeros where
  // the means of leaves alone are asked for.
  virtual double score(const GrowNode& node, std::span<const uint32_t> ids, const int64_t* lanes, bool leaves_only,
                       std::vector<double>& means) const = 0;
  // The means of a node, one per output, if score() left them out.
  virtual void fill_means(std::span<const uint32_t> ids, int64_t weight, double* means) const = 0;
  // What the split of a node gains over the node's own score.
  virtual double gain(const GrowNode& node, double score) const { return node.split.gain(score); }
  // The orders of categories among these rows, per column (tree_orders.h); none if there is no such thing.
  virtual std::vector<TreeOrder> orders(const std::vector<GrowColumn>& columns,
                                        std::span<const uint32_t> ids) const = 0;

  // The same two where rows are only known by what they add up to: whether two rows, or rows that are alike, are; and
  // the order of a column's categories by their sums. Absolute error is no sum.
  virtual bool lanes_alike(const int64_t* /*a*/, const int64_t* /*b*/) const { return false; }
  virtual TreeOrder order_of(const CategoryCells& /*cells*/) const { return {}; }

  // Around the search of some nodes, and when a node is parted: its range, and by row which side it goes to.
  virtual void begin_search(std::span<GrowNode*> /*nodes*/) {}
  virtual void end_search() {}
  virtual void part(size_t /*begin*/, size_t /*n*/, const uint8_t* /*side*/) {}

  virtual std::unique_ptr<ColumnSearch> make_search(const GrowOptions& options, bool counted) const = 0;
  // The same of some rows, numbered from 0; `lanes`: which of its lanes they have, if it compacts.
  virtual std::unique_ptr<Statistic> gather(std::span<const uint32_t> ids, std::vector<int32_t>& lanes) const = 0;

 protected:
  Statistic(const Kind& kind, Spread spread) : kind_(kind), spread_(std::move(spread)) {}

 private:
  Kind kind_;
  Spread spread_;
};

}  // namespace weald
