// The search of boosting over histograms of items (items.h): cells that are words, or lanes, and columns of two values
// by the thousand.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/tree/grow/lane_statistic.h"
#include "core/tree/split/newton_gain.h"

namespace weald {

extern template class LaneSearch<NarrowRows, Newton>;  // compiled once, in packed_search.cpp

class PackedSearch final : public LaneSearch<NarrowRows, Newton> {
 public:
  // `words`: a cell is one word.
  PackedSearch(const Newton& criterion, const GrowOptions& options, bool counted, bool words);

  bool in_cells(const Searched& at, const int64_t* cells, Split& best) override;

  // Columns of two values, of which one is listed, and their cells: what the listed rows add up to. `usable`: 0 where
  // the node may not use a column; empty: it may use all.
  void in_flags(std::span<const int32_t> flags, const std::vector<GrowColumn>& columns, const int64_t* cells,
                std::span<const uint8_t> usable, const GrowNode& node, const int64_t* total, Split& best);

 private:
  void in_words(const Searched& at, const uint64_t* packed, Split& best);
  void listed_rows(const int64_t* cells, size_t i, int64_t* lanes) const;
  void set_left(const Searched& at, const int64_t* listed);

  bool words_;
  std::vector<int64_t> unpacked_;
};

}  // namespace weald
