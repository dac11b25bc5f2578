#include "core/data/encode/coarsen.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/data/encode/coarse_column.h"
#include "core/data/sparse_columns.h"

namespace weald {

namespace {

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

// ---- dense columns -----------------------------------------------------------------------------------------------

void coarsen_dense(const CodeColumn& column, std::span<const int64_t> weights, uint32_t max_bins, size_t j,
                   CoarseScratch& scratch, Codes& coarse) {
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

Place coarsen_sparse(const CodeColumn& column, const SparseJob& job, CoarseScratch& scratch, CodeColumn& out,
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

void coarsen_group(const Codes& fine, const ColumnRange& range, const SparseJob& job, CoarseScratch& scratch,
                   Codes& coarse, SparseGroup& group) {
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
  std::vector<CoarseScratch> scratch(static_cast<size_t>(run.n_threads()));
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
