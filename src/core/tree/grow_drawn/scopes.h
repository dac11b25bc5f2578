// The columns of a table as the nodes of a tree read them, where each node draws its own: rows that are numbered
// together share a scope. Most of the work is in small nodes, whose rows lie scattered over the table, so small nodes
// are grown as parts: their rows are numbered from 0, their columns copied, and codes replaced by their ranks among
// those present when a column is first drawn in a node that is not tiny. Parts have smaller parts of their own.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/tree/grow/node_numbers.h"
#include "core/tree/grow_drawn/sums.h"
#include "core/tree/grow_drawn/table.h"
#include "core/tree/options.h"

namespace weald {

// A column as a node reads it.
struct DrawnView {
  const void* data = nullptr;  // codes
  const float* narrow = nullptr;
  const double* wide = nullptr;
  size_t stride = 1;                   // from row to row of narrow values
  const uint32_t* original = nullptr;  // per code, what it is in the table; absent: the same
  uint32_t n_codes = 0;
  uint8_t width = 1;
  uint32_t in_table(uint32_t code) const { return original == nullptr || code == 0 ? code : original[code]; }
};

// Rows that are numbered together: all, or those of a part.
struct DrawnScope {
  enum class Copied : uint8_t { no, as_is, ranked };
  const Spread* spread = nullptr;
  std::vector<uint32_t> ids = {};           // those of a node are together, ascending
  DrawnScope* whole = nullptr;              // what a part was taken from
  std::span<const uint32_t> in_whole = {};  // and where its rows are there
  size_t level = 0;                         // 0: the table; then parts of it, then parts of these
  std::vector<uint32_t> in_table = {};      // where its rows are in the table
  std::vector<uint32_t> cells = {};         // of a part of a part: its rows as the table has them in rows_of_words
  std::vector<DrawnView> views = {};
  std::vector<Copied> copied = {};  // per column of a part
};

class DrawnScopes {
 public:
  static constexpr size_t n_levels = 3;  // of parts

  DrawnScopes(const DrawnTable& table, std::vector<uint32_t> ids, const Spread& spread, bool random);
  DrawnScopes(const DrawnScopes&) = delete;
  DrawnScopes& operator=(const DrawnScopes&) = delete;
  // Leaves the memory of copies to the next tree.
  void finish() { table_.spare_copies.give_back(std::move(copies_)); }

  const DrawnTable& table() const { return table_; }
  DrawnScope& whole() { return whole_; }
  // Rows of parts of the table, of parts of those, and so on: nodes of no more are grown as one.
  size_t part_rows(size_t level) const { return part_rows_[level]; }
  // The part of some rows of a scope: the one of its level at hand.
  DrawnScope& make_part(DrawnScope& whole, std::span<const uint32_t> ids, const Spread& spread);

  // Column j for a node of n rows.
  const DrawnView& view(int32_t j, DrawnScope& scope, size_t n) {
    const auto at = static_cast<size_t>(j);
    if (scope.level == 0) return scope.views[at];
    if (scope.copied[at] == DrawnScope::Copied::no) copy_column(at, scope);
    const DrawnColumn& column = table_.columns[at];
    const bool may = !random_ && column.width > 1 && column.kind != ColumnKind::categorical;
    if (may && scope.copied[at] != DrawnScope::Copied::ranked && n > few_rows_sorted) rank_column(at, scope);
    return scope.views[at];
  }

 private:
  template <class Cell>
  void copy_rows(const RowMajor& rows, DrawnScope& part);
  void take_rows(DrawnScope& part);
  DrawnCopy& copy_of(size_t j, const DrawnScope& part);
  void take_copy(size_t j, DrawnScope& part);
  void copy_column(size_t j, DrawnScope& part);
  void rank_column(size_t j, DrawnScope& part);

  const DrawnTable& table_;
  bool random_;
  std::array<size_t, n_levels> part_rows_;
  DrawnScope whole_;
  std::array<DrawnScope, n_levels> parts_;
  std::vector<DrawnCopy> copies_;
  CodeBits bits_;
  std::vector<uint16_t> rank_of_;  // per code of a column, while it is copied
};

}  // namespace weald
