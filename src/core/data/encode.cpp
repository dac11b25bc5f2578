#include "core/data/encode.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "core/base/radix_sort.h"
#include "core/base/random.h"
#include "core/base/simd.h"
#include "core/data/cuts.h"
#include "core/data/order_key.h"

namespace weald {

namespace {

constexpr int64_t row_block = 2048;      // rows a block: a few columns of float64 stay in the first-level cache
constexpr size_t columns_together = 16;  // columns sorted at a time: bounds the memory for keys

struct KeyedRow {
  uint64_t key;
  uint32_t row;
};

bool fits_float(DType dtype) {
  return dtype == DType::f32 || dtype == DType::i8 || dtype == DType::u8 || dtype == DType::i16 ||
         dtype == DType::u16 || dtype == DType::boolean;
}

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
// row-major table is read once, not once a column.
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

// The same for the rows rows[i] only.
void gather_group(std::span<const ColumnSource> columns, std::span<const size_t> group, std::span<const uint32_t> rows,
                  Run& run, std::vector<std::vector<double>>& values) {
  values.resize(group.size());
  for (auto& column : values) column.resize(rows.size());
  const auto n_rows = static_cast<int64_t>(rows.size());
  parallel_for(run, (n_rows + row_block - 1) / row_block, [&](int64_t block, int) {
    const int64_t first = block * row_block, last = std::min(n_rows, first + row_block);
    for (size_t c = 0; c < group.size(); ++c) {
      const RawColumn& raw = columns[group[c]].raw;
      with_dtype(raw.dtype, [&](auto type) {
        for (int64_t i = first; i < last; ++i) {
          values[c][static_cast<size_t>(i)] = load_row<decltype(type)>(raw, rows[static_cast<size_t>(i)]);
        }
      });
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

// ---- quantile bins -----------------------------------------------------------------------------------------------

std::vector<double> find_cuts(std::vector<KeyedRow>& items, std::span<const int64_t> weights, bool short_keys,
                              uint32_t max_bins) {
  std::vector<KeyedRow> scratch(items.size());
  radix_sort(items.data(), scratch.data(), items.size(), 0, short_keys ? 32 : 64,
             [](const KeyedRow& item) { return item.key; });
  std::vector<WeightedValue> values;
  for (size_t i = 0; i < items.size(); ++i) {
    const int64_t weight = weights.empty() ? 1 : weights[items[i].row];
    if (i > 0 && items[i].key == items[i - 1].key) {
      values.back().weight += weight;
    } else {
      const double value = short_keys ? from_short_key(static_cast<uint32_t>(items[i].key)) : from_key(items[i].key);
      values.push_back({value, weight});
    }
  }
  return choose_cuts(values, max_bins);
}

void fit_cuts(std::span<const ColumnSource> columns, std::span<const size_t> chosen, std::span<const int64_t> weights,
              uint32_t max_bins, Codes& codes, Run& run) {
  const std::vector<uint32_t> rows = sample_rows(codes.n_rows, weights);
  std::vector<std::vector<double>> values;
  for (size_t at = 0; at < chosen.size(); at += columns_together) {
    const auto group = chosen.subspan(at, std::min(columns_together, chosen.size() - at));
    gather_group(columns, group, rows, run, values);
    parallel_for(run, static_cast<int64_t>(group.size()), [&](int64_t c, int) {
      const size_t j = group[static_cast<size_t>(c)];
      const bool short_keys = fits_float(columns[j].raw.dtype);
      std::vector<KeyedRow> items;
      items.reserve(rows.size());
      for (size_t i = 0; i < rows.size(); ++i) {
        const double value = values[static_cast<size_t>(c)][i];
        if (value != value) continue;
        items.push_back({short_keys ? to_short_key(static_cast<float>(value)) : to_key(value), rows[i]});
      }
      codes.set_marks(j, find_cuts(items, weights, short_keys, max_bins));
      codes.allocate(j, static_cast<uint32_t>(codes.columns[j].marks.size()) + 1);
    });
  }
}

// code = 1 + number of cuts below the value, by a search of fixed length without branches; NaN gives 0.
// `padded` holds 2^n_steps − 1 entries: the cuts, then +inf.
template <class Code>
[[gnu::always_inline]] inline void search_cuts(const double* values, int64_t n, const double* padded, int n_steps,
                                               Code* out) {
  constexpr int64_t lanes = 8;
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    int64_t below[lanes] = {};
    for (int64_t half = int64_t{1} << n_steps >> 1; half > 0; half >>= 1) {
      for (int64_t lane = 0; lane < lanes; ++lane) {
        below[lane] += padded[below[lane] + half - 1] < values[i + lane] ? half : 0;
      }
    }
    for (int64_t lane = 0; lane < lanes; ++lane) {
      out[i + lane] = static_cast<Code>(values[i + lane] == values[i + lane] ? below[lane] + 1 : 0);
    }
  }
  for (; i < n; ++i) {
    int64_t below = 0;
    for (int64_t half = int64_t{1} << n_steps >> 1; half > 0; half >>= 1) {
      below += padded[below + half - 1] < values[i] ? half : 0;
    }
    out[i] = static_cast<Code>(values[i] == values[i] ? below + 1 : 0);
  }
}

template <class Code>
void search_cuts_baseline(const double* values, int64_t n, const double* padded, int n_steps, Code* out) {
  search_cuts(values, n, padded, n_steps, out);
}
template <class Code>
WEALD_TARGET_AVX2 void search_cuts_avx2(const double* values, int64_t n, const double* padded, int n_steps, Code* out) {
  search_cuts(values, n, padded, n_steps, out);
}

struct PaddedCuts {
  std::vector<double> cuts;
  int n_steps;
  explicit PaddedCuts(std::span<const double> marks)
      : cuts(marks.begin(), marks.end()), n_steps(static_cast<int>(std::bit_width(marks.size()))) {
    cuts.resize((size_t{1} << n_steps) - 1, std::numeric_limits<double>::infinity());
  }
};

void encode_binned(std::span<const ColumnSource> columns, std::span<const size_t> chosen, Codes& codes, Run& run) {
  std::vector<PaddedCuts> padded;
  padded.reserve(chosen.size());
  for (const size_t j : chosen) padded.emplace_back(codes.columns[j].marks);
  const bool avx2 = simd_level() == Simd::avx2;
  parallel_for(run, (codes.n_rows + row_block - 1) / row_block, [&](int64_t block, int) {
    const int64_t first = block * row_block;
    const int64_t n = std::min(row_block, codes.n_rows - first);
    double values[row_block];
    for (size_t c = 0; c < chosen.size(); ++c) {
      const size_t j = chosen[c];
      load_rows(columns[j].raw, first, n, values);
      const double* cuts = padded[c].cuts.data();
      with_code_type(codes.columns[j].width, [&](auto type) {
        using Code = decltype(type);
        auto* out = reinterpret_cast<Code*>(codes.storage[j].get()) + first;
        (avx2 ? search_cuts_avx2<Code> : search_cuts_baseline<Code>)(values, n, cuts, padded[c].n_steps, out);
      });
    }
  });
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

std::vector<uint32_t> sample_rows(int64_t n_rows, std::span<const int64_t> weights) {
  const int64_t n_present =
      weights.empty() ? n_rows : std::count_if(weights.begin(), weights.end(), [](int64_t w) { return w != 0; });
  const bool all = n_present <= sample_limit;
  const double share = static_cast<double>(sample_limit) / static_cast<double>(std::max<int64_t>(n_present, 1));
  const auto below = all ? ~uint64_t{0} : static_cast<uint64_t>(share * 0x1p64);
  std::vector<uint32_t> rows;
  rows.reserve(static_cast<size_t>(all ? n_present : sample_limit + sample_limit / 8));
  for (int64_t row = 0; row < n_rows; ++row) {
    if (!weights.empty() && weights[static_cast<size_t>(row)] == 0) continue;
    if (all || draw(0, Purpose::cut_sample, static_cast<uint64_t>(row)) < below) {
      rows.push_back(static_cast<uint32_t>(row));
    }
  }
  return rows;
}

Codes encode(std::span<const ColumnSource> columns, int64_t n_rows, std::span<const int64_t> weights, uint32_t max_bins,
             Run& run) {
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
  if (!binned.empty()) {
    fit_cuts(columns, binned, weights, max_bins, codes, run);
    encode_binned(columns, binned, codes, run);
  }
  parallel_for(run, static_cast<int64_t>(levels.size()), [&](int64_t c, int) {
    const size_t j = levels[static_cast<size_t>(c)];
    encode_levels(columns[j], codes, j);
  });
  return codes;
}

}  // namespace weald
