#include "core/data/encode/encode.h"

#include <algorithm>

#include "core/base/radix_sort.h"
#include "core/data/encode/binned.h"
#include "core/data/encode/order_key.h"

namespace weald {

namespace {

constexpr int64_t row_block = 2048;      // rows per block: a few columns of float64 stay in the first-level cache
constexpr size_t columns_together = 16;  // columns sorted at a time: bounds the memory for keys

struct KeyedRow {
  uint64_t key;
  uint32_t row;
};

// ---- exact ranks -------------------------------------------------------------------------------------------------

// Codes from (key, row) sorted by key. Rows absent from `sorted` are missing. Returns the distinct values.
template <class Item, class Value>
std::vector<double> rank(const std::vector<Item>& sorted, int64_t n_rows, Codes& codes, size_t column, Value value_of) {
  std::vector<double> values;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const double value = value_of(sorted[i]);
    if (i == 0 || value != values.back()) values.push_back(value);
  }
  void* out = codes.allocate(column, static_cast<uint32_t>(values.size()));
  with_code_type(codes.columns[column].width, [&](auto type) {
    using Code = decltype(type);
    auto* code = static_cast<Code*>(out);
    if (static_cast<int64_t>(sorted.size()) < n_rows) std::fill_n(code, n_rows, Code{0});
    uint32_t current = 0;
    for (size_t i = 0; i < sorted.size(); ++i) {
      if (i == 0 || value_of(sorted[i]) != values[current - 1]) ++current;
      code[sorted[i].row] = static_cast<Code>(current);
    }
  });
  return values;
}

struct ShortKeyedRow {
  uint32_t key;
  uint32_t row;
};

void code_exactly(const std::vector<double>& values, DType dtype, Codes& codes, size_t column) {
  const int64_t n_rows = codes.n_rows;
  if (fits_float(dtype)) {
    std::vector<ShortKeyedRow> items, scratch;
    items.reserve(values.size());
    for (size_t row = 0; row < values.size(); ++row) {
      if (values[row] == values[row]) {
        items.push_back({to_short_key(static_cast<float>(values[row])), static_cast<uint32_t>(row)});
      }
    }
    scratch.resize(items.size());
    radix_sort(items.data(), scratch.data(), items.size(), 0, 32, [](const ShortKeyedRow& item) { return item.key; });
    codes.set_marks(
        column, rank(items, n_rows, codes, column, [](const ShortKeyedRow& item) { return from_short_key(item.key); }));
    return;
  }
  std::vector<KeyedRow> items, scratch;
  items.reserve(values.size());
  for (size_t row = 0; row < values.size(); ++row) {
    if (values[row] == values[row]) items.push_back({to_key(values[row]), static_cast<uint32_t>(row)});
  }
  scratch.resize(items.size());
  radix_sort(items.data(), scratch.data(), items.size(), 0, 64, [](const KeyedRow& item) { return item.key; });
  codes.set_marks(column, rank(items, n_rows, codes, column, [](const KeyedRow& item) { return from_key(item.key); }));
}

// values[c][i] = float64 value of row i of the c-th column of the group. Row blocks outside, columns inside: a
// row-major table is read once, not once per column.
void load_group(std::span<const ColumnSource> columns, std::span<const size_t> group, int64_t n_rows, Run& run,
                std::vector<std::vector<double>>& values) {
  values.resize(group.size());
  for (auto& column : values) column.resize(static_cast<size_t>(n_rows));
  parallel_for(run, (n_rows + row_block - 1) / row_block, [&](int64_t block, int) {
    const int64_t first = block * row_block;
    const int64_t n = std::min(row_block, n_rows - first);
    for (size_t c = 0; c < group.size(); ++c) {
      load_rows(columns[group[c]].raw, first, n, values[c].data() + first);
    }
  });
}

void encode_exact(std::span<const ColumnSource> columns, std::span<const size_t> chosen, Codes& codes, Run& run) {
  std::vector<std::vector<double>> values;
  for (size_t at = 0; at < chosen.size(); at += columns_together) {
    const auto group = chosen.subspan(at, std::min(columns_together, chosen.size() - at));
    load_group(columns, group, codes.n_rows, run, values);
    parallel_for(run, static_cast<int64_t>(group.size()), [&](int64_t c, int) {
      const size_t j = group[static_cast<size_t>(c)];
      code_exactly(values[static_cast<size_t>(c)], columns[j].raw.dtype, codes, j);
    });
  }
}

// ---- levels ------------------------------------------------------------------------------------------------------

void encode_levels(const ColumnSource& source, Codes& codes, size_t j) {
  void* out = codes.allocate(j, source.n_levels);
  require(source.raw.dtype == DType::i32, "level indices must be int32");
  with_code_type(codes.columns[j].width, [&](auto type) {
    using Code = decltype(type);
    const char* at = source.raw.data;
    auto* code = static_cast<Code*>(out);
    for (int64_t row = 0; row < codes.n_rows; ++row, at += source.raw.stride) {
      const int32_t index = *reinterpret_cast<const int32_t*>(at);
      require(index >= -1 && index < static_cast<int64_t>(source.n_levels), "level index out of range");
      code[row] = static_cast<Code>(index + 1);
    }
  });
}

}  // namespace

uint64_t sample_bound(int64_t n_present, int64_t limit) {
  if (n_present <= limit) return ~uint64_t{0};
  return static_cast<uint64_t>(static_cast<double>(limit) / static_cast<double>(n_present) * 0x1p64);
}

std::vector<uint32_t> sample_rows(int64_t n_rows, std::span<const int64_t> weights, int64_t limit) {
  const int64_t n_present =
      weights.empty() ? n_rows : std::count_if(weights.begin(), weights.end(), [](int64_t w) { return w != 0; });
  const bool all = n_present <= limit;
  const uint64_t below = sample_bound(n_present, limit);
  std::vector<uint32_t> rows;
  rows.reserve(static_cast<size_t>(all ? n_present : limit + limit / 8));
  for (int64_t row = 0; row < n_rows; ++row) {
    if (!weights.empty() && weights[static_cast<size_t>(row)] == 0) continue;
    if (all || sample_draw(static_cast<uint64_t>(row)) < below) {
      rows.push_back(static_cast<uint32_t>(row));
    }
  }
  return rows;
}

Codes encode(std::span<const ColumnSource> columns, int64_t n_rows, std::span<const int64_t> weights, uint32_t max_bins,
             Run& run, int64_t limit) {
  check_row_count(n_rows);
  Codes codes;
  codes.n_rows = n_rows;
  codes.resize_dense(columns.size());
  std::vector<size_t> exact, binned, levels;
  for (size_t j = 0; j < columns.size(); ++j) {
    codes.columns[j].kind = columns[j].kind;
    const bool numeric = columns[j].kind == ColumnKind::exact || columns[j].kind == ColumnKind::binned;
    (!numeric ? levels : columns[j].kind == ColumnKind::exact ? exact : binned).push_back(j);
  }
  encode_exact(columns, exact, codes, run);
  if (!binned.empty()) encode_binned(columns, binned, weights, max_bins, codes, run, limit);
  parallel_for(run, static_cast<int64_t>(levels.size()), [&](int64_t c, int) {
    const size_t j = levels[static_cast<size_t>(c)];
    encode_levels(columns[j], codes, j);
  });
  return codes;
}

}  // namespace weald
