// The rows of a table as the search for stumps reads them, laid out once for all rounds.
//
// Rows are numbered anew, class after class: place i is row `row_of[i]`, class c has the places
// [class_start[c], class_start[c + 1]). Every column has one byte per place: its code, or, if it has more than 255
// codes, its block, a run of codes with about 1/255 of the rows. Eight columns share a word, so that one load of a
// row's weight serves eight histograms. A column of blocks also lists its places in code order: what to look at inside
// a block.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/data/codes.h"

namespace weald {

inline constexpr size_t columns_a_word = 8, byte_codes = 256;

struct StumpColumn {
  const CodeColumn* codes = nullptr;
  // Blocks only. Block b ≥ 1 has the places order[block_start[b], block_start[b + 1]) and block 0 the missing rows.
  std::unique_ptr<uint32_t[]> order;  // (n,) places in code order; the first of each code is marked
  std::vector<uint32_t> block_start;
  // Categories of more than 255 codes, which have neither blocks nor bytes: their cells are counted apart.
  bool wide_categories = false;

  static constexpr uint32_t first_of_code = uint32_t{1} << 31;
  bool blocked() const { return order != nullptr; }
  bool categorical() const { return codes->kind == ColumnKind::categorical; }
  // How many cells its histogram has.
  size_t n_cells() const { return blocked() ? block_start.size() - 1 : size_t{codes->n_codes} + 1; }
};

class StumpRows {
 public:
  // `label`: class numbers from 0 to n_classes − 1. Columns are dense. `codes` must outlive this.
  StumpRows(const Codes& codes, std::span<const int32_t> label, int n_classes, Run& run);
  StumpRows(const StumpRows&) = delete;
  StumpRows& operator=(const StumpRows&) = delete;

  size_t n_rows() const { return row_of_.size(); }
  int n_classes() const { return n_classes_; }
  const std::vector<StumpColumn>& columns() const { return columns_; }
  const std::vector<uint32_t>& row_of() const { return row_of_; }
  const std::vector<uint32_t>& class_start() const { return class_start_; }
  size_t n_words() const { return words_.size(); }
  // Eight columns from column 8 · w on: (n,), the byte of the first in the lowest bits.
  const uint64_t* word(size_t w) const { return words_[w].get(); }

 private:
  void lay_out(size_t j, std::vector<uint32_t>& start);
  void put_bytes(size_t j, std::span<const uint8_t> byte_of_code);

  int n_classes_;
  std::vector<uint32_t> row_of_, class_start_;
  std::vector<StumpColumn> columns_;
  std::vector<std::unique_ptr<uint64_t[]>> words_;
};

}  // namespace weald
