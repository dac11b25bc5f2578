// The candidates of tree_method="approx" for rows that pass by in blocks: coarsen.h in three steps.
//
//   CoarseBins(codebook), add every block with its weights, close()
//   codebook(): what gives the new codes their meaning
//   code(block): the rows of a block in new codes
//
// Weights are added up as integers: blocks may come in any order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/data/codes.h"

namespace weald {

class CoarseBins {
 public:
  explicit CoarseBins(const Codes& fine);

  // `weights`: as `coarsen` has them; those of all blocks add up to less than 2^62.
  void add(const Codes& block, std::span<const int64_t> weights, Run& run);
  void close(uint32_t max_bins);

  // Without rows.
  Codes codebook() const;
  Codes code(const Codes& block, Run& run) const;

 private:
  struct Column {
    ColumnKind kind;
    uint32_t n_codes, default_code;
    bool numeric, sparse;
    std::span<const double> marks;
    std::vector<int64_t> weight;  // by fine code
    std::vector<uint32_t> ends;   // of bins
    std::vector<double> cuts;
    CodeColumn fine() const;
  };

  std::vector<Column> columns_;
  std::vector<double> mark_storage_;
  int64_t total_ = 0;
};

}  // namespace weald
