#include "core/tree/grow_drawn/table.h"

#include <algorithm>
#include <cstring>

namespace weald {

bool DrawnTable::fits(const Codes& codes, const GrowOptions& options) {
  const auto n_columns = static_cast<int64_t>(codes.columns.size());
  const bool draws = options.max_columns > 0 && options.max_columns < n_columns;
  const bool plain = options.combined_columns == 0 && options.monotone.empty() && options.columns.empty() &&
                     options.interactions.empty() && options.level_columns == 0 && options.node_columns == 0;
  const bool alone = options.max_leaves == 0 && !options.must_gain && options.min_gain <= 0;
  const bool dense =
      std::none_of(codes.columns.begin(), codes.columns.end(), [](const CodeColumn& column) { return column.sparse; });
  return (draws || options.random) && plain && alone && dense && options.search == Search::automatic;
}

namespace {

template <class Value>
std::unique_ptr<Value[]> values_of(const DrawnColumn& column, size_t n_rows) {
  auto values = std::make_unique_for_overwrite<Value[]>(n_rows);
  with_codes(column.data, column.width, [&](const auto* codes) {
    for (size_t row = 0; row < n_rows; ++row) values[row] = static_cast<Value>(column.marks[codes[row] - 1]);
  });
  return values;
}

}  // namespace

DrawnTable::DrawnTable(const Codes& codes, const GrowOptions& options, Run& run)
    : columns(codes.columns.size()), n_rows(static_cast<size_t>(codes.n_rows)) {
  parallel_for(run, static_cast<int64_t>(columns.size()), [&](int64_t j, int) {
    const CodeColumn& from = codes.columns[static_cast<size_t>(j)];
    DrawnColumn& column = columns[static_cast<size_t>(j)];
    column = {from.data, from.marks.data(), from.n_codes, from.kind, from.width, false, nullptr, nullptr};
    column.missing = with_codes(from.data, from.width,
                                [&](const auto* code) { return std::find(code, code + n_rows, 0) != code + n_rows; });
    if (!options.random || column.missing || column.kind != ColumnKind::exact) return;
    const bool narrow = std::all_of(from.marks.begin(), from.marks.end(),
                                    [](double mark) { return static_cast<double>(static_cast<float>(mark)) == mark; });
    if (narrow) {
      column.narrow = values_of<float>(column, n_rows);
    } else {
      column.wide = values_of<double>(column, n_rows);
    }
  });
  lay_out<uint8_t>(rows_of_bytes, run);
  lay_out<uint16_t>(rows_of_pairs, run);
  lay_out<uint32_t>(rows_of_words, run);
}

template <class Cell>
void DrawnTable::lay_out(RowMajor& rows, Run& run) {
  constexpr size_t most_columns = 256;  // beyond, a part needs some of them only
  constexpr size_t most_bytes = size_t{1} << 31;
  if (columns.size() > most_columns) return;
  std::vector<const Cell*> from;
  for (size_t j = 0; j < columns.size(); ++j) {
    const DrawnColumn& column = columns[j];
    const size_t width = column.narrow != nullptr ? sizeof(float) : column.width;
    if (column.wide != nullptr || width != sizeof(Cell)) continue;
    rows.columns.push_back(j);
    from.push_back(static_cast<const Cell*>(column.narrow != nullptr ? column.narrow.get() : column.data));
  }
  const size_t n = from.size();
  if (n * n_rows * sizeof(Cell) > most_bytes) rows.columns.clear();
  if (rows.columns.empty()) return;
  rows.cells = std::make_unique_for_overwrite<unsigned char[]>(n * n_rows * sizeof(Cell));
  auto* cells = reinterpret_cast<Cell*>(rows.cells.get());
  constexpr size_t block = 4096;
  parallel_for(run, static_cast<int64_t>((n_rows + block - 1) / block), [&](int64_t b, int) {
    const size_t first = static_cast<size_t>(b) * block, last = std::min(n_rows, first + block);
    for (size_t c = 0; c < n; ++c) {
      for (size_t row = first; row < last; ++row) std::memcpy(&cells[row * n + c], &from[c][row], sizeof(Cell));
    }
  });
}

}  // namespace weald
