// One column made coarser: from the weights of its fine codes to bins, and from these to new codes. Shared by tables in
// memory (coarsen.cpp) and blocks that pass by (coarse_bins.cpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/data/codes.h"
#include "core/data/encode/cuts.h"

namespace weald {

// Weights of all rows add up to less.
inline constexpr int64_t most_units = int64_t{1} << 62;

inline bool is_numeric(const CodeColumn& column) {
  return column.kind == ColumnKind::exact || column.kind == ColumnKind::binned;
}

// What one worker needs for a column at a time.
struct CoarseScratch {
  std::vector<int64_t> weight;  // by fine code
  std::vector<uint32_t> ends;   // the last fine code of each bin but the last
  std::vector<double> marks;    // one for each of these ends
};

// Where the bin that holds `code` ends, if the next code that any weight lies on is `next`: the last code of the bin,
// and the threshold above it.
inline std::pair<uint32_t, double> end_between(const CodeColumn& column, uint32_t code, uint32_t next) {
  const double* marks = column.marks.data();
  if (column.kind == ColumnKind::binned) {
    const uint32_t end = code + (next - code - 1) / 2;
    return {end, marks[end - 1]};
  }
  const double mark = midpoint_below(marks[code - 1], marks[next - 1]);
  return {static_cast<uint32_t>(std::upper_bound(marks + code, marks + next - 1, mark) - marks), mark};
}

// From the weights of the fine codes to ends and marks.
inline void close_bins(const CodeColumn& column, uint32_t max_bins, CoarseScratch& scratch) {
  scratch.ends.clear();
  scratch.marks.clear();
  uint64_t n_present = 0;
  int64_t total = 0;
  for (uint32_t code = 1; code <= column.n_codes; ++code) {
    n_present += scratch.weight[code] > 0;
    total += scratch.weight[code];
  }
  BinCloser closer(n_present, total, max_bins);
  uint32_t last = 0;  // the code before, of those that weight lies on
  for (uint32_t code = 1; code <= column.n_codes; ++code) {
    if (scratch.weight[code] == 0) continue;
    if (closer.ends_before(scratch.weight[code])) {
      const auto [end, mark] = end_between(column, last, code);
      scratch.ends.push_back(end);
      scratch.marks.push_back(mark);
    }
    last = code;
  }
}

// table[fine code] = bin, from 1; missing stays 0.
template <class Bin>
std::vector<Bin> table_of(const CodeColumn& column, std::span<const uint32_t> ends) {
  std::vector<Bin> table(size_t{column.n_codes} + 1, static_cast<Bin>(ends.size() + 1));
  table[0] = 0;
  uint32_t code = 1;
  for (size_t bin = 0; bin < ends.size(); ++bin) {
    for (; code <= ends[bin]; ++code) table[code] = static_cast<Bin>(bin + 1);
  }
  return table;
}

// Appends the rows of a column whose bin is not that of the rows it does not list.
template <class Bin, class Fine>
void append_entries(const CodeColumn& column, const Fine* codes, std::span<const Bin> table, CodeColumn& out,
                    SparseGroup& group, size_t first_byte) {
  const bool all = column.default_code == 0;  // lists every row
  out.default_code = all ? 0 : table[column.default_code];
  const size_t first_row = group.rows.size();
  group.rows.resize(first_row + column.n_entries);
  group.codes.resize(first_byte + column.n_entries * sizeof(Bin));
  uint32_t* rows = group.rows.data() + first_row;
  auto* bins = reinterpret_cast<Bin*>(group.codes.data() + first_byte);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < column.n_entries; ++i) {
    const Bin bin = table[codes[i]];
    rows[kept] = column.rows[i];
    bins[kept] = bin;
    kept += all || bin != out.default_code;
  }
  out.n_entries = kept;
  group.rows.resize(first_row + kept);
  group.codes.resize(first_byte + kept * sizeof(Bin));
}

}  // namespace weald
