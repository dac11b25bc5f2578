// A coded column as growers read it: the codes of its rows, and what a code means for thresholds.
#pragma once

#include <cstdint>
#include <vector>

#include "core/data/codes.h"

namespace weald {

struct GrowColumn {
  const void* data;
  const double* marks;
  const uint32_t* rows = nullptr;  // sparse columns: see core/data/codes.h
  uint32_t n_codes;
  uint32_t n_entries = 0;
  uint32_t default_code = 0;
  ColumnKind kind;
  uint8_t width;
  bool sparse = false;
};

inline std::vector<GrowColumn> grow_columns(const Codes& codes) {
  std::vector<GrowColumn> columns;
  columns.reserve(codes.columns.size());
  for (const CodeColumn& column : codes.columns) {
    columns.push_back({column.data, column.marks.data(), column.rows, column.n_codes, column.n_entries,
                       column.default_code, column.kind, static_cast<uint8_t>(column.width), column.sparse});
  }
  return columns;
}

}  // namespace weald
