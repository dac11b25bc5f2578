#include "core/data/encode/coarsen.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/data/encode/cuts.h"
#include "core/data/sparse_columns.h"

namespace weald {

namespace {

constexpr int64_t most_units = int64_t{1} << 62;

bool is_numeric(const CodeColumn& column) {
  return column.kind == ColumnKind::exact || column.kind == ColumnKind::binned;
}

int64_t checked_total(std::span<const int64_t> weights) {
  int64_t total = 0, any_sign = 0;
  bool overflow = false;
  for (const int64_t weight : weights) {
    any_sign |= weight;
    overflow |= __builtin_add_overflow(total, weight, &total);
  }
  if (any_sign < 0) {
    const auto first = std::find_if(weights.begin(), weights.end(), [](int64_t weight) { return weight < 0; });
    throw BadInput("row " + std::to_string(first - weights.begin()) +
                   " has a negative weight; candidates are chosen by weights of at least 0");
  }
  if (overflow || total >= most_units) throw BadInput("the weights add up to 2^62 units or more; use larger units");
  return total;
}

// ---- the bins of one column --------------------------------------------------------------------------------------

// What one worker needs for a column at a time.
struct Scratch {
  std::vector<int64_t> weight;  // by fine code
  std::vector<uint32_t> ends;   // the last fine code of each bin but the last
  std::vector<double> marks;    // one for each of these ends
};

// Where the bin that holds `code` ends, if the next code that any weight lies on is `next`: the last code of the bin,
// and the threshold above it.
std::pair<uint32_t, double> end_between(const CodeColumn& column, uint32_t code, uint32_t next) {
  const double* marks = column.marks.data();
  if (column.kind == ColumnKind::binned) {
    const uint32_t end = code + (next - code - 1) / 2;
    return {end, marks[end - 1]};
  }
  const double mark = midpoint_below(marks[code - 1], marks[next - 1]);
  return {static_cast<uint32_t>(std::upper_bound(marks + code, marks + next - 1, mark) - marks), mark};
}

// From the weights of the fine codes to ends and marks.
void close_bins(const CodeColumn& column, uint32_t max_bins, Scratch& scratch) {
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

// ---- dense columns -----------------------------------------------------------------------------------------------

void coarsen_dense(const CodeColumn& column, std::span<const int64_t> weights, uint32_t max_bins, size_t j,
                   Scratch& scratch, Codes& coarse) {
  const auto n_rows = static_cast<size_t>(coarse.n_rows);
  with_codes(column, [&](const auto* codes) {
    scratch.weight.assign(size_t{column.n_codes} + 1, 0);
    int64_t* sums = scratch.weight.data();
    for (size_t row = 0; row < n_rows; ++row) sums[codes[row]] += weights[row];
    close_bins(column, max_bins, scratch);
    void* out = coarse.allocate(j, static_cast<uint32_t>(scratch.ends.size()) + 1);
    with_code_type(coarse.columns[j].width, [&](auto type) {
      using Bin = decltype(type);
      const std::vector<Bin> table = table_of<Bin>(column, scratch.ends);
      const Bin* bins = table.data();
      auto* to = static_cast<Bin*>(out);
      for (size_t row = 0; row < n_rows; ++row) to[row] = bins[codes[row]];
    });
  });
  coarse.columns[j].kind = ColumnKind::binned;
  coarse.set_marks(j, std::vector<double>(scratch.marks));
}

void copy_levels(const CodeColumn& column, size_t j, Codes& coarse) {
  void* out = coarse.allocate(j, column.n_codes);
  coarse.columns[j].kind = column.kind;
  if (coarse.n_rows > 0) std::memcpy(out, column.data, static_cast<size_t>(coarse.n_rows) * column.width);
}

// ---- sparse columns ----------------------------------------------------------------------------------------------

// Where a column begins in its group, until the group no longer moves.
struct Place {
  size_t rows, codes, marks;
};

struct SparseJob {
  std::span<const int64_t> weights;
  int64_t total;
  uint32_t max_bins;
};

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

Place coarsen_sparse(const CodeColumn& column, const SparseJob& job, Scratch& scratch, CodeColumn& out,
                     SparseGroup& group) {
  return with_codes(column, [&](const auto* codes) {
    scratch.weight.assign(size_t{column.n_codes} + 1, 0);
    int64_t unlisted = job.total;
    for (uint32_t i = 0; i < column.n_entries; ++i) {
      const int64_t weight = job.weights[column.rows[i]];
      scratch.weight[codes[i]] += weight;
      unlisted -= weight;
    }
    scratch.weight[column.default_code] += unlisted;
    close_bins(column, job.max_bins, scratch);
    out.kind = ColumnKind::binned;
    out.sparse = true;
    out.n_codes = static_cast<uint32_t>(scratch.ends.size()) + 1;
    out.width = code_width(out.n_codes);
    const size_t first_byte = (group.codes.size() + out.width - 1) / out.width * out.width;
    const Place place{group.rows.size(), first_byte, group.marks.size()};
    with_code_type(out.width, [&](auto type) {
      using Bin = decltype(type);
      append_entries<Bin>(column, codes, table_of<Bin>(column, scratch.ends), out, group, first_byte);
    });
    group.marks.insert(group.marks.end(), scratch.marks.begin(), scratch.marks.end());
    return place;
  });
}

void coarsen_group(const Codes& fine, const ColumnRange& range, const SparseJob& job, Scratch& scratch, Codes& coarse,
                   SparseGroup& group) {
  const auto first = static_cast<size_t>(range.first), last = static_cast<size_t>(range.last);
  std::vector<Place> places(last - first);
  for (size_t j = first; j < last; ++j) {
    if (!fine.columns[j].sparse) continue;
    places[j - first] = coarsen_sparse(fine.columns[j], job, scratch, coarse.columns[j], group);
  }
  group.rows.shrink_to_fit();
  group.codes.shrink_to_fit();
  for (size_t j = first; j < last; ++j) {
    CodeColumn& column = coarse.columns[j];
    if (!column.sparse) continue;
    const Place& place = places[j - first];
    column.rows = group.rows.data() + place.rows;
    column.data = group.codes.data() + place.codes;
    column.marks = std::span(group.marks).subspan(place.marks, column.n_codes - 1);
  }
}

}  // namespace

Codes coarsen(const Codes& fine, std::span<const int64_t> weights, uint32_t max_bins, Run& run) {
  require(static_cast<int64_t>(weights.size()) == fine.n_rows, "one weight per row");
  const int64_t total = checked_total(weights);
  Codes coarse;
  coarse.n_rows = fine.n_rows;
  coarse.resize_dense(fine.columns.size());
  std::vector<Scratch> scratch(static_cast<size_t>(run.n_threads()));
  std::vector<size_t> dense;
  std::vector<int64_t> count(fine.columns.size(), 0);
  for (size_t j = 0; j < fine.columns.size(); ++j) {
    if (fine.columns[j].sparse) {
      require(is_numeric(fine.columns[j]), "columns of levels are dense");
      count[j] = fine.columns[j].n_entries;
    } else {
      dense.push_back(j);
    }
  }
  parallel_for(run, static_cast<int64_t>(dense.size()), [&](int64_t c, int worker) {
    const size_t j = dense[static_cast<size_t>(c)];
    const CodeColumn& column = fine.columns[j];
    if (!is_numeric(column)) return copy_levels(column, j, coarse);
    coarsen_dense(column, weights, max_bins, j, scratch[static_cast<size_t>(worker)], coarse);
  });
  if (dense.size() == fine.columns.size()) return coarse;
  const std::vector<ColumnRange> ranges = group_columns(count, run.n_threads());
  coarse.groups.resize(ranges.size());
  parallel_for(run, static_cast<int64_t>(ranges.size()), [&](int64_t g, int worker) {
    const auto at = static_cast<size_t>(g);
    coarsen_group(fine, ranges[at], {weights, total, max_bins}, scratch[static_cast<size_t>(worker)], coarse,
                  coarse.groups[at]);
  });
  return coarse;
}

}  // namespace weald
