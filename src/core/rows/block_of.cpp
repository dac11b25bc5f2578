#include "core/rows/block_of.h"

#include <algorithm>
#include <utility>

namespace weald {

Codes block_of(const Codes& table, int64_t first, int64_t n_rows) {
  require(first >= 0 && n_rows > 0 && first + n_rows <= table.n_rows, "a block is within its table");
  Codes block;
  block.n_rows = n_rows;
  block.columns = table.columns;
  for (CodeColumn& column : block.columns) {
    const auto* const codes = static_cast<const unsigned char*>(column.data);
    if (!column.sparse) {
      column.data = codes + static_cast<size_t>(first) * column.width;
      continue;
    }
    const uint32_t* const begin = column.rows;
    const uint32_t* const end = column.rows + column.n_entries;
    const uint32_t* const from = std::lower_bound(begin, end, static_cast<uint32_t>(first));
    const uint32_t* const to = std::lower_bound(from, end, static_cast<uint32_t>(first + n_rows));
    SparseGroup group;
    for (const uint32_t* row = from; row < to; ++row) group.rows.push_back(*row - static_cast<uint32_t>(first));
    group.codes.assign(codes + (from - begin) * column.width, codes + (to - begin) * column.width);
    column.n_entries = static_cast<uint32_t>(to - from);
    block.groups.push_back(std::move(group));
    column.rows = block.groups.back().rows.data();
    column.data = block.groups.back().codes.data();
  }
  return block;
}

}  // namespace weald
