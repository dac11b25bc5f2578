// The codes present in a node, ascending, and what the rows of each add up to: what a search for the best threshold
// reads. Three ways to list them, by the size of the node; each the same list.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/mathematics.h"
#include "core/tree/rows/order.h"
#include "core/tree/statistics/statistics.h"

namespace weald {

// A set of codes that is listed in ascending order, and is empty afterwards.
class CodeBits {
 public:
  void make_room(uint32_t largest) { words_.resize(std::max(words_.size(), (size_t{largest} >> 6) + 1), 0); }
  void add(uint32_t code) { words_[code >> 6] |= uint64_t{1} << (code & 63); }
  template <class Take>
  void drain(uint32_t largest, Take take) {
    for (uint32_t w = 0; w <= largest >> 6; ++w) {
      uint64_t left = words_[w];
      if (left == 0) continue;
      words_[w] = 0;
      for (; left != 0; left &= left - 1) take(64 * w + static_cast<uint32_t>(std::countr_zero(left)));
    }
  }

 private:
  std::vector<uint64_t> words_;
};

// Two wide lanes that are added together.
struct LanePair {
  int64_t first = 0, second = 0;
  LanePair& operator+=(const LanePair& other) {
    first += other.first;
    second += other.second;
    return *this;
  }
  bool operator==(const LanePair&) const = default;
};

// What one row brings, as one value: two counts in one word, or two lanes.
template <class Rows>
using RowSum = std::conditional_t<Rows::packed, uint64_t, LanePair>;

template <class Rows>
RowSum<Rows> row_sum(const Rows& rows, uint32_t row) {
  if constexpr (Rows::packed) {
    return rows.pack(row);
  } else {
    LanePair sum;
    int64_t lanes[2] = {0, 0};
    rows.add(row, lanes);
    sum.first = lanes[0];
    sum.second = lanes[1];
    return sum;
  }
}

// The sum, or nothing.
inline uint64_t masked(uint64_t sum, bool keep) {
  return sum & (uint64_t{0} - static_cast<uint64_t>(keep));
}
inline uint32_t masked(uint32_t sum, bool keep) {
  return sum & (uint32_t{0} - static_cast<uint32_t>(keep));
}
inline LanePair masked(const LanePair& sum, bool keep) {
  const int64_t mask = -static_cast<int64_t>(keep);
  return {sum.first & mask, sum.second & mask};
}

// A value no larger than `threshold` in the numbers of the column: the same rows are below both.
inline double rounded_down(double threshold, double) {
  return threshold;
}
inline float rounded_down(double threshold, float) {
  const auto near = static_cast<float>(threshold);
  if (static_cast<double>(near) <= threshold) return near;
  return next_below(near);
}

// Σ of those whose value is at most `most`.
template <class Value, class Sum>
Sum sum_up_to(Value most, std::span<const Value> values, const Sum* of_row) {
  Sum sum{};
  for (size_t i = 0; i < values.size(); ++i) sum += masked(of_row[i], values[i] <= most);
  return sum;
}

// The same, four at a time.
inline uint32_t sum_up_to(float most, std::span<const float> values, const uint32_t* of_row) {
  using Floats = float __attribute__((vector_size(16)));
  using Words = uint32_t __attribute__((vector_size(16)));
  Words sums = {0, 0, 0, 0};
  size_t i = 0;
  for (; i + 4 <= values.size(); i += 4) {
    Floats value;
    Words word;
    std::memcpy(&value, values.data() + i, sizeof value);
    std::memcpy(&word, of_row + i, sizeof word);
    sums += word & static_cast<Words>(value <= most);
  }
  uint32_t sum = sums[0] + sums[1] + sums[2] + sums[3];
  for (; i < values.size(); ++i) sum += masked(of_row[i], values[i] <= most);
  return sum;
}

// Copies the values of some rows, which are `stride` apart, to `own`, and tells the least and the largest of them.
// In lanes by name: what compilers make of one value after another differs by their options, by a factor of two.
template <class Value>
std::pair<Value, Value> gather_range(const Value* values, size_t stride, std::span<const uint32_t> ids, Value* own) {
  constexpr size_t n_lanes = 16 / sizeof(Value);
  typedef Value Some __attribute__((vector_size(16)));  // `using` would drop the attribute of a parameter
  Value low = values[ids[0] * stride], high = low;
  Some lows, highs;
  for (size_t k = 0; k < n_lanes; ++k) lows[k] = highs[k] = low;
  size_t i = 0;
  for (; i + n_lanes <= ids.size(); i += n_lanes) {
    Some some;
    for (size_t k = 0; k < n_lanes; ++k) some[k] = values[ids[i + k] * stride];
    std::memcpy(own + i, &some, sizeof(some));
    lows = some < lows ? some : lows;
    highs = some > highs ? some : highs;
  }
  for (size_t k = 0; k < n_lanes; ++k) low = std::min(low, lows[k]), high = std::max(high, highs[k]);
  for (; i < ids.size(); ++i) {
    own[i] = values[ids[i] * stride];
    low = std::min(low, own[i]), high = std::max(high, own[i]);
  }
  return {low, high};
}

// Counts up to `most_halved` of so many rows add up within half a word.
inline constexpr uint32_t most_halved = 15;
inline constexpr size_t halved_rows = 4096;
inline uint64_t widened(uint32_t sum) {
  return (uint64_t{sum} & 0xffff) | (uint64_t{sum} >> 16 << 32);
}

inline void to_lanes(uint64_t sum, int64_t* lanes) {
  lanes[0] = static_cast<int64_t>(sum & 0xffffffffU);
  lanes[1] = static_cast<int64_t>(sum >> 32);
}
inline void to_lanes(const LanePair& sum, int64_t* lanes) {
  lanes[0] = sum.first;
  lanes[1] = sum.second;
}

// Cells 0 … n − 1 of `block` rows to the places from `first` on of n columns.
template <size_t block, class Cell>
void transpose(const Cell* const* row, size_t n, Cell* const* to, size_t first) {
  size_t c = 0;
  if constexpr (sizeof(Cell) == 4) {
    using Four = uint32_t __attribute__((vector_size(16)));
    for (; c + 4 <= n; c += 4) {
      for (size_t i = 0; i < block; i += 4) {
        Four r[4];
        for (size_t k = 0; k < 4; ++k) std::memcpy(&r[k], row[i + k] + c, sizeof(Four));
        const Four a = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5),
                   b = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5);
        const Four d = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7),
                   e = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
        const Four out[4] = {__builtin_shufflevector(a, b, 0, 1, 4, 5), __builtin_shufflevector(a, b, 2, 3, 6, 7),
                             __builtin_shufflevector(d, e, 0, 1, 4, 5), __builtin_shufflevector(d, e, 2, 3, 6, 7)};
        for (size_t k = 0; k < 4; ++k) std::memcpy(to[c + k] + first + i, &out[k], sizeof(Four));
      }
    }
  }
  for (; c < n; ++c) {
    for (size_t i = 0; i < block; ++i) to[c][first + i] = row[i][c];
  }
}

inline constexpr size_t few_rows_sorted = 16;  // at most, by insertion

template <class Sum>
class CodeSums {
 public:
  std::vector<uint32_t> code;
  std::vector<Sum> sum;
  std::vector<uint32_t> n_rows;  // of each, after count_rows
  size_t size = 0;

  // Room for lists of nodes of n rows.
  void make_room(size_t n) {
    if (code.size() >= n) return;
    code.resize(n);
    sum.resize(n);
    n_rows.resize(n);
  }

  // Few rows: sorted by insertion.
  template <class Code>
  void list_few(const Code* codes, std::span<const uint32_t> ids, const Sum* of_row) {
    Entry entries[few_rows_sorted];
    for (uint32_t i = 0; i < ids.size(); ++i) {
      const Entry entry = (static_cast<Entry>(codes[ids[i]]) << 32) | i;
      size_t at = i;
      for (; at > 0 && entries[at - 1] > entry; --at) entries[at] = entries[at - 1];
      entries[at] = entry;
    }
    take_entries({entries, ids.size()}, of_row);
  }

  // Rows sorted already; an entry holds the position of the row in the node.
  void take_entries(std::span<const Entry> entries, const Sum* of_row) {
    size = 0;
    for (const Entry entry : entries) {
      const uint32_t of = entry_code(entry);
      if (size == 0 || code[size - 1] != of) {
        code[size] = of;
        sum[size++] = of_row[entry_row(entry)];
      } else {
        sum[size - 1] += of_row[entry_row(entry)];
      }
    }
  }

  // Many rows: a histogram, and the set of codes where most cells would be empty.
  template <class Code>
  void list_many(const Code* codes, std::span<const uint32_t> ids, const Sum* of_row, uint32_t n_codes) {
    const size_t n_cells = size_t{n_codes} + 1;
    if (cells_.size() < n_cells) cells_.resize(n_cells);
    Sum* const cells = cells_.data();
    uint32_t* const code_at = code.data();
    Sum* const sum_at = sum.data();
    size_t n = 0;
    const auto take = [&](uint32_t of) {
      code_at[n] = of;
      sum_at[n++] = cells[of];
      cells[of] = {};
    };
    if (ids.size() >= n_cells / 2) {
      for (size_t i = 0; i < ids.size(); ++i) cells[codes[ids[i]]] += of_row[i];
      for (uint32_t of = 0; of <= n_codes; ++of) {
        if (!(cells[of] == Sum{})) take(of);  // rows that take part have a weight
      }
    } else {
      bits_.make_room(n_codes);
      for (size_t i = 0; i < ids.size(); ++i) {
        const uint32_t of = codes[ids[i]];
        cells[of] += of_row[i];
        bits_.add(of);
      }
      bits_.drain(n_codes, take);
    }
    size = n;
  }

  // Fills in `n_rows` of a list.
  template <class Code>
  void count_rows(const Code* codes, std::span<const uint32_t> ids, uint32_t n_codes) {
    if (counts_.size() <= n_codes) counts_.resize(size_t{n_codes} + 1);
    for (const uint32_t row : ids) ++counts_[codes[row]];
    for (size_t k = 0; k < size; ++k) n_rows[k] = std::exchange(counts_[code[k]], 0);
  }

 private:
  std::vector<Sum> cells_;        // per code, all 0 between calls
  std::vector<uint32_t> counts_;  // likewise
  CodeBits bits_;
};

}  // namespace weald
