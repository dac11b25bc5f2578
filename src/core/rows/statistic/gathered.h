// Rows of some nodes, brought into memory from the blocks that pass by: their codes, and what a tree adds up of them.
// Columns stay sparse.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/data/codes.h"
#include "core/rows/level_sums.h"
#include "core/tree/grow/columns.h"
#include "core/tree/kinds/made.h"

namespace weald {

class GatheredRows {
 public:
  // `n_rows`: of each part. `n_numbers`: node numbers are below it; `part_of[number]` is −1 where a node has no part.
  GatheredRows(const Codes& codebook, const StatisticKind& kind, bool drawn, std::span<const size_t> n_rows,
               std::vector<int32_t> part_of);

  // Rows of the block whose nodes have a part, in their order. Rows of weight 0 are none.
  template <class Number>
  void add(const Codes& codes, const StatisticRows& rows, std::span<const Number> number, Run& run);

  size_t n_rows(size_t part) const { return parts_[part].n_rows; }
  // Columns as growers read them; they point into the part.
  std::vector<GrowColumn> columns(size_t part) const;
  StatisticRows rows(size_t part) const;
  void release(size_t part) { parts_[part] = {}; }

 private:
  struct Part {
    size_t n_rows = 0, n_taken = 0;
    std::vector<std::unique_ptr<unsigned char[]>> dense;  // per column
    std::vector<std::vector<uint32_t>> sparse_rows;       // per column
    std::vector<std::vector<unsigned char>> sparse_codes;
    std::vector<int32_t> lane;
    std::vector<int64_t> weight, lanes, squares;
    std::vector<double> targets;
    std::vector<uint32_t> count;
  };
  // A row that is taken: of the block, and where it goes.
  struct Taken {
    uint32_t row, part, place;
  };

  void take_codes(const CodeColumn& column, size_t j);
  void take_statistic(const StatisticRows& rows);

  std::vector<GrowColumn> columns_;
  size_t n_outputs_, n_targets_;
  bool weighted_, drawn_, sparse_ = false;
  std::vector<int32_t> part_of_;
  std::vector<Part> parts_;
  std::vector<Taken> taken_;        // of one block, ascending
  std::vector<uint32_t> taken_at_;  // per row of it, where there are sparse columns
};

}  // namespace weald
