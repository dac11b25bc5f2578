#include <algorithm>
#include <cmath>
#include <vector>

#include "core/data/sparse_columns.h"
#include "core/rows/code.h"

namespace weald {

namespace {

// Codes of values that are not 0, by the marks of one column.
uint32_t code_of(double value, const CodeColumn& known) {
  if (!(value == value)) return 0;
  if (std::isinf(value)) throw InfiniteValue();
  const auto at = std::lower_bound(known.marks.begin(), known.marks.end(), value);
  if (known.kind == ColumnKind::exact && (at == known.marks.end() || *at != value)) {
    throw BadInput("a number has no code: no row of the codebook has it");
  }
  return static_cast<uint32_t>(at - known.marks.begin()) + 1;
}

// The coded entries of the columns of one group, before the group stands still.
class GroupWriter {
 public:
  GroupWriter(const SparseView& matrix, SparseGroup& group) : matrix_(matrix), group_(group) {}

  // `rows`, ascending, and `values`: the stored entries of one column, those of one row added up.
  template <class T>
  void add(std::span<const uint32_t> rows, std::span<const T> values, CodeColumn& column) {
    const size_t first_row = group_.rows.size(), width = column.width;
    const size_t first_code = (group_.codes.size() + width - 1) / width * width;
    codes_.clear();
    for (size_t i = 0; i < rows.size(); ++i) {
      const double value = static_cast<double>(values[i]) + 0.0;
      if (value == 0 || (matrix_.absent_missing && value != value)) continue;
      const uint32_t code = code_of(value, column);
      if (code == column.default_code) continue;
      group_.rows.push_back(rows[i]);
      codes_.push_back(code);
    }
    column.n_entries = static_cast<uint32_t>(codes_.size());
    group_.codes.resize(first_code + codes_.size() * width);
    with_code_type(column.width, [&](auto type) {
      auto* out = reinterpret_cast<decltype(type)*>(group_.codes.data() + first_code);
      for (size_t i = 0; i < codes_.size(); ++i) out[i] = static_cast<decltype(type)>(codes_[i]);
    });
    places_.push_back({first_row, first_code});
  }

  // Once the group has all its columns.
  void point(std::span<CodeColumn> columns) const {
    for (size_t c = 0; c < columns.size(); ++c) {
      columns[c].rows = group_.rows.data() + places_[c].first;
      columns[c].data = group_.codes.data() + places_[c].second;
    }
  }

 private:
  const SparseView& matrix_;
  SparseGroup& group_;
  std::vector<uint32_t> codes_;
  std::vector<std::pair<size_t, size_t>> places_;
};

void code_group(const SparseView& matrix, const ColumnRange& range, std::span<const int64_t> count,
                std::span<CodeColumn> columns, SparseGroup& group, Run& run) {
  with_dtype(matrix.dtype, [&](auto type) {
    using T = decltype(type);
    Gathered<T> gathered = gather<T>(matrix, range, count, run);
    GroupWriter writer(matrix, group);
    for (size_t c = 0; c < columns.size(); ++c) {
      if (c % lines_a_check == 0) run.check();
      const size_t first = gathered.start[c], n = gathered.start[c + 1] - first;
      const auto rows = std::span(gathered.rows).subspan(first, n);
      const size_t kept = merge(rows, std::span(gathered.values).subspan(first, n), matrix.dtype);
      writer.add(std::span<const uint32_t>(rows.first(kept)), std::span<const T>(gathered.values).subspan(first, kept),
                 columns[c]);
    }
    writer.point(columns);
  });
}

}  // namespace

Codes code_sparse_block(const Codes& codebook, const SparseView& matrix, std::span<const PlacedColumn> placed,
                        Run& run) {
  check_row_count(matrix.n_rows);
  check_lines(matrix);
  require(static_cast<size_t>(matrix.n_columns) == codebook.columns.size(), "as many columns as the codebook has");
  std::vector<int64_t> count = count_entries(matrix, run);
  Codes known;  // of the placed columns alone
  std::vector<ColumnSource> sources;
  for (const PlacedColumn& column : placed) {
    count[static_cast<size_t>(column.position)] = 0;
    known.columns.push_back(codebook.columns[static_cast<size_t>(column.position)]);
    sources.push_back(column.source);
  }
  Codes codes = code_block(known, sources, matrix.n_rows, run);
  const std::vector<CodeColumn> dense = std::move(codes.columns);
  codes.columns.assign(codebook.columns.begin(), codebook.columns.end());
  const auto n_columns = static_cast<size_t>(matrix.n_columns);
  codes.mark_storage.reserve(codes.mark_storage.size() + n_columns);  // vectors that move keep what they hold
  for (CodeColumn& column : codes.columns) {
    codes.mark_storage.emplace_back(column.marks.begin(), column.marks.end());
    column.marks = codes.mark_storage.back();
  }
  const std::vector<ColumnRange> ranges = group_columns(count, run.n_threads());
  codes.groups.resize(ranges.size());
  parallel_for(run, static_cast<int64_t>(ranges.size()), [&](int64_t g, int) {
    const ColumnRange& range = ranges[static_cast<size_t>(g)];
    const auto first = static_cast<size_t>(range.first), n = static_cast<size_t>(range.last) - first;
    code_group(matrix, range, std::span(count).subspan(first, n), std::span(codes.columns).subspan(first, n),
               codes.groups[static_cast<size_t>(g)], run);
  });
  for (size_t c = 0; c < placed.size(); ++c) codes.columns[static_cast<size_t>(placed[c].position)] = dense[c];
  return codes;
}

}  // namespace weald
