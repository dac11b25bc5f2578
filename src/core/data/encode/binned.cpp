#include "core/data/encode/binned.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/base/radix_sort.h"
#include "core/data/encode/bin_search.h"
#include "core/data/encode/cuts.h"
#include "core/data/encode/order_key.h"

namespace weald {

namespace {

constexpr int64_t gather_block = 256;  // rows of the sample a block: what a row-major table has between them stays near
constexpr size_t bytes_a_row = 128;    // keys held at a time: bounds the memory for the sample
// Rows coded at a time: what a row-major table has of them stays near. Columns of many bins take more, because then it
// is the cuts that should stay.
constexpr int64_t code_block = 1024, large_block = 16384;
constexpr size_t many_cuts = 4096;

// ---- cuts --------------------------------------------------------------------------------------------------------

// Float32 keys where float32 holds the values: half the memory and half the passes of the sort.
uint32_t key_of(double value, uint32_t) {
  return to_short_key(static_cast<float>(value));
}
uint64_t key_of(double value, uint64_t) {
  return to_key(value);
}
double value_of(uint32_t key) {
  return from_short_key(key);
}
double value_of(uint64_t key) {
  return from_key(key);
}

// Missing: the key of no number, above all that are.
template <class Key>
constexpr Key no_key = std::numeric_limits<Key>::max();

template <class Key>
struct KeyedWeight {
  Key key;
  uint32_t at;  // place in the sample
};

// keys[c][i] = key of row rows[i] of the c-th column of the group. Row blocks outside, columns inside: a row-major
// table is read once, not once per column.
template <class Key>
void gather_keys(std::span<const ColumnSource> columns, std::span<const size_t> group, std::span<const uint32_t> rows,
                 Run& run, std::vector<std::vector<Key>>& keys) {
  const auto n_rows = static_cast<int64_t>(rows.size());
  parallel_for(run, (n_rows + gather_block - 1) / gather_block, [&](int64_t block, int) {
    const int64_t first = block * gather_block, last = std::min(n_rows, first + gather_block);
    for (size_t c = 0; c < group.size(); ++c) {
      const RawColumn& raw = columns[group[c]].raw;
      Key* out = keys[c].data();
      with_dtype(raw.dtype, [&](auto type) {
        for (int64_t i = first; i < last; ++i) {
          const double value = load_row<decltype(type)>(raw, rows[static_cast<size_t>(i)]);
          out[i] = value == value ? key_of(value, Key{}) : no_key<Key>;
        }
      });
    }
  });
}

// `key(i)`: ascending, without missing; `weight(i)`: positive.
template <class KeyAt, class WeightAt>
std::vector<double> cuts_of_sorted(size_t n, KeyAt key, WeightAt weight, uint32_t max_bins) {
  std::vector<double> cuts;
  if (n == 0) return cuts;
  size_t n_distinct = 1;
  for (size_t i = 1; i < n && n_distinct <= max_bins; ++i) n_distinct += key(i) != key(i - 1);
  int64_t total = 0;
  for (size_t i = 0; i < n; ++i) total += weight(i);
  BinCloser closer(n_distinct, total, max_bins);
  for (size_t i = 0, end; i < n; i = end) {
    int64_t weight_of_value = weight(i);
    for (end = i + 1; end < n && key(end) == key(i); ++end) weight_of_value += weight(end);
    if (closer.ends_before(weight_of_value)) cuts.push_back(midpoint_below(value_of(key(i - 1)), value_of(key(i))));
  }
  return cuts;
}

// The cuts of one column of the sample; `keys` and `scratch` are used up.
template <class Key>
std::vector<double> find_cuts(std::vector<Key>& keys, std::vector<Key>& scratch, uint32_t max_bins) {
  const auto last = std::remove(keys.begin(), keys.end(), no_key<Key>);
  const auto n = static_cast<size_t>(last - keys.begin());
  scratch.resize(keys.size());
  radix_sort(keys.data(), scratch.data(), n, 0, 8 * sizeof(Key), [](Key key) { return key; });
  return cuts_of_sorted(n, [&](size_t i) { return keys[i]; }, [](size_t) { return int64_t{1}; }, max_bins);
}

template <class Key>
std::vector<double> find_weighted_cuts(std::span<const Key> keys, std::span<const uint32_t> rows,
                                       std::span<const int64_t> weights, uint32_t max_bins) {
  std::vector<KeyedWeight<Key>> items, scratch;
  items.reserve(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] != no_key<Key>) items.push_back({keys[i], rows[i]});
  }
  scratch.resize(items.size());
  radix_sort(items.data(), scratch.data(), items.size(), 0, 8 * sizeof(Key),
             [](const KeyedWeight<Key>& item) { return item.key; });
  return cuts_of_sorted(
      items.size(), [&](size_t i) { return items[i].key; }, [&](size_t i) { return weights[items[i].at]; }, max_bins);
}

template <class Key>
void fit_cuts(std::span<const ColumnSource> columns, std::span<const size_t> chosen, std::span<const uint32_t> rows,
              std::span<const int64_t> weights, uint32_t max_bins, Codes& codes, Run& run) {
  constexpr size_t together = bytes_a_row / sizeof(Key);
  std::vector<std::vector<Key>> keys(std::min(together, chosen.size()), std::vector<Key>(rows.size()));
  std::vector<std::vector<Key>> scratch(static_cast<size_t>(run.n_threads()));
  for (size_t at = 0; at < chosen.size(); at += together) {
    const auto group = chosen.subspan(at, std::min(together, chosen.size() - at));
    gather_keys(columns, group, rows, run, keys);
    parallel_for(run, static_cast<int64_t>(group.size()), [&](int64_t c, int worker) {
      const size_t j = group[static_cast<size_t>(c)];
      std::vector<Key>& column = keys[static_cast<size_t>(c)];
      codes.set_marks(j, weights.empty() ? find_cuts(column, scratch[static_cast<size_t>(worker)], max_bins)
                                         : find_weighted_cuts<Key>(column, rows, weights, max_bins));
      codes.allocate(j, static_cast<uint32_t>(codes.columns[j].marks.size()) + 1);
    });
  }
}

// ---- codes -------------------------------------------------------------------------------------------------------

template <class Float>
void code_rows(std::span<const ColumnSource> columns, std::span<const size_t> chosen, Codes& codes, Run& run) {
  std::vector<BinSearch<Float>> cuts;
  cuts.reserve(chosen.size());
  size_t most_cuts = 0;
  for (const size_t j : chosen) {
    cuts.emplace_back(codes.columns[j].marks);
    most_cuts = std::max(most_cuts, codes.columns[j].marks.size());
  }
  const int64_t rows_a_block = most_cuts < many_cuts ? code_block : large_block;
  std::vector<std::vector<Float>> scratch(static_cast<size_t>(run.n_threads()));
  parallel_for(run, (codes.n_rows + rows_a_block - 1) / rows_a_block, [&](int64_t block, int worker) {
    const int64_t first = block * rows_a_block;
    const int64_t n = std::min(rows_a_block, codes.n_rows - first);
    scratch[static_cast<size_t>(worker)].resize(static_cast<size_t>(rows_a_block));
    Float* values = scratch[static_cast<size_t>(worker)].data();
    for (size_t c = 0; c < chosen.size(); ++c) {
      const size_t j = chosen[c];
      load_rows(columns[j].raw, first, n, values);
      with_code_type(codes.columns[j].width, [&](auto type) {
        using Code = decltype(type);
        cuts[c].search(values, n, reinterpret_cast<Code*>(codes.storage[j].get()) + first);
      });
    }
  });
}

}  // namespace

void encode_binned(std::span<const ColumnSource> columns, std::span<const size_t> chosen,
                   std::span<const int64_t> weights, uint32_t max_bins, Codes& codes, Run& run, int64_t limit) {
  const std::vector<uint32_t> rows = sample_rows(codes.n_rows, weights, limit);
  std::vector<size_t> narrow, wide;
  for (const size_t j : chosen) (fits_float(columns[j].raw.dtype) ? narrow : wide).push_back(j);
  fit_cuts<uint32_t>(columns, narrow, rows, weights, max_bins, codes, run);
  fit_cuts<uint64_t>(columns, wide, rows, weights, max_bins, codes, run);
  code_rows<float>(columns, narrow, codes, run);
  code_rows<double>(columns, wide, codes, run);
}

}  // namespace weald
