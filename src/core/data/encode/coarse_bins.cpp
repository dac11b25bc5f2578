#include "core/data/encode/coarse_bins.h"

#include <cstring>
#include <utility>

#include "core/data/encode/coarse_column.h"

namespace weald {

CoarseBins::CoarseBins(const Codes& fine) {
  size_t n_marks = 0;
  for (const CodeColumn& each : fine.columns) n_marks += each.marks.size();
  mark_storage_.reserve(n_marks);  // what spans point into stays
  for (const CodeColumn& each : fine.columns) {
    const size_t first = mark_storage_.size();
    mark_storage_.insert(mark_storage_.end(), each.marks.begin(), each.marks.end());
    columns_.push_back({each.kind,
                        each.n_codes,
                        each.default_code,
                        is_numeric(each),
                        each.sparse,
                        std::span(mark_storage_).subspan(first),
                        {},
                        {},
                        {}});
    Column& column = columns_.back();
    require(column.numeric || !column.sparse, "columns of levels are dense");
    if (column.numeric) column.weight.assign(size_t{column.n_codes} + 1, 0);
  }
}

CodeColumn CoarseBins::Column::fine() const {
  CodeColumn column;
  column.kind = kind;
  column.n_codes = n_codes;
  column.default_code = default_code;
  column.marks = marks;
  column.sparse = sparse;
  return column;
}

void CoarseBins::add(const Codes& block, std::span<const int64_t> weights, Run& run) {
  require(block.columns.size() == columns_.size() && static_cast<size_t>(block.n_rows) == weights.size(),
          "one weight per row of a block in the codes of its codebook");
  for (const int64_t weight : weights) {
    require(weight >= 0 && weight < most_units - total_, "weights are at least 0 and add up to less than 2^62");
    total_ += weight;
  }
  parallel_for(run, static_cast<int64_t>(columns_.size()), [&](int64_t j, int) {
    Column& column = columns_[static_cast<size_t>(j)];
    const CodeColumn& given = block.columns[static_cast<size_t>(j)];
    require(given.n_codes == column.n_codes && given.sparse == column.sparse, "a block has the codes of its codebook");
    if (!column.numeric) return;
    int64_t* sums = column.weight.data();
    with_codes(given, [&](const auto* codes) {
      if (!given.sparse) {
        for (size_t row = 0; row < weights.size(); ++row) sums[codes[row]] += weights[row];
      } else {
        for (uint32_t i = 0; i < given.n_entries; ++i) sums[codes[i]] += weights[given.rows[i]];
      }
    });
  });
}

void CoarseBins::close(uint32_t max_bins) {
  CoarseScratch scratch;
  for (Column& column : columns_) {
    if (!column.numeric) continue;
    scratch.weight = std::move(column.weight);
    if (column.sparse) {
      int64_t unlisted = total_;
      for (const int64_t weight : scratch.weight) unlisted -= weight;
      scratch.weight[column.default_code] += unlisted;
    }
    close_bins(column.fine(), max_bins, scratch);
    column.ends = scratch.ends;
    column.cuts = scratch.marks;
    column.weight = {};
  }
}

Codes CoarseBins::codebook() const {
  Codes none;
  none.columns.resize(columns_.size());
  for (size_t j = 0; j < columns_.size(); ++j) {
    CodeColumn& empty = none.columns[j];
    empty = columns_[j].fine();
    empty.width = code_width(empty.n_codes);
  }
  Run run(1);
  return code(none, run);
}

Codes CoarseBins::code(const Codes& block, Run& run) const {
  require(block.columns.size() == columns_.size(), "a block has the columns of its codebook");
  Codes coarse;
  coarse.n_rows = block.n_rows;
  coarse.resize_dense(columns_.size());
  coarse.groups.resize(columns_.size());
  parallel_for(run, static_cast<int64_t>(columns_.size()), [&](int64_t number, int) {
    const auto j = static_cast<size_t>(number);
    const Column& column = columns_[j];
    const CodeColumn& given = block.columns[j];
    require(given.n_codes == column.n_codes && given.sparse == column.sparse, "a block has the codes of its codebook");
    CodeColumn& out = coarse.columns[j];
    const auto n_rows = static_cast<size_t>(block.n_rows);
    if (!column.numeric) {
      void* to = coarse.allocate(j, column.n_codes);
      out.kind = column.kind;
      if (n_rows > 0) std::memcpy(to, given.data, n_rows * out.width);
      return;
    }
    const auto n_codes = static_cast<uint32_t>(column.ends.size()) + 1;
    void* to = nullptr;
    if (!column.sparse) to = coarse.allocate(j, n_codes);
    out.n_codes = n_codes;
    out.width = code_width(n_codes);
    out.kind = ColumnKind::binned;
    out.sparse = column.sparse;
    coarse.set_marks(j, std::vector<double>(column.cuts));
    with_codes(given, [&](const auto* codes) {
      with_code_type(out.width, [&](auto type) {
        using Bin = decltype(type);
        const std::vector<Bin> table = table_of<Bin>(given, column.ends);
        if (column.sparse) {
          SparseGroup& group = coarse.groups[j];
          append_entries<Bin>(given, codes, table, out, group, 0);
          out.rows = group.rows.data();
          out.data = group.codes.data();
          return;
        }
        for (size_t row = 0; row < n_rows; ++row) static_cast<Bin*>(to)[row] = table[codes[row]];
      });
    });
  });
  return coarse;
}

}  // namespace weald
