#include "core/rows/code.h"

#include <algorithm>
#include <vector>

#include "core/data/encode/bin_search.h"

namespace weald {

namespace {

template <class Code>
void code_levels(const ColumnSource& source, int64_t n_rows, uint32_t n_codes, Code* out) {
  require(source.raw.dtype == DType::i32, "level indices must be int32");
  const char* at = source.raw.data;
  for (int64_t row = 0; row < n_rows; ++row, at += source.raw.stride) {
    const int32_t index = *reinterpret_cast<const int32_t*>(at);
    require(index >= -1 && index < static_cast<int64_t>(n_codes), "level index out of range");
    out[row] = static_cast<Code>(index + 1);
  }
}

uint32_t rank_of(double value, std::span<const double> marks) {
  const auto at = std::lower_bound(marks.begin(), marks.end(), value);
  if (at == marks.end() || *at != value) throw BadInput("a number has no code: no row of the codebook has it");
  return static_cast<uint32_t>(at - marks.begin()) + 1;
}

template <class Code>
void code_ranks(std::span<const double> values, std::span<const double> marks, Code* out) {
  for (size_t row = 0; row < values.size(); ++row) {
    out[row] = values[row] == values[row] ? static_cast<Code>(rank_of(values[row], marks)) : Code{0};
  }
}

}  // namespace

Codes code_block(const Codes& codebook, std::span<const ColumnSource> columns, int64_t n_rows, Run& run) {
  check_row_count(n_rows);
  require(columns.size() == codebook.columns.size(), "as many columns as the codebook has");
  Codes codes;
  codes.n_rows = n_rows;
  codes.resize_dense(columns.size());
  parallel_for(run, static_cast<int64_t>(columns.size()), [&](int64_t column, int) {
    const auto j = static_cast<size_t>(column);
    const CodeColumn& known = codebook.columns[j];
    require(!known.sparse, "blocks have dense columns");
    codes.columns[j].kind = known.kind;
    void* const out = codes.allocate(j, known.n_codes);
    codes.set_marks(j, {known.marks.begin(), known.marks.end()});
    with_code_type(known.width, [&](auto type) {
      auto* const code = static_cast<decltype(type)*>(out);
      if (known.kind == ColumnKind::ordinal || known.kind == ColumnKind::categorical) {
        return code_levels(columns[j], n_rows, known.n_codes, code);
      }
      std::vector<double> values(static_cast<size_t>(n_rows));
      load_rows(columns[j].raw, 0, n_rows, values.data());
      if (known.kind == ColumnKind::exact) return code_ranks(std::span<const double>(values), known.marks, code);
      BinSearch<double>(known.marks).search(values.data(), n_rows, code);
    });
  });
  return codes;
}

}  // namespace weald
