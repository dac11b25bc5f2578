// The body of the filter: float sums of a group of queries with panels of fitted rows, against the level of each query.
// Always inlined, so that panels.cpp can build it once for every instruction set. Its sums need not agree between
// instruction sets: whatever they let pass is decided in float64 (filter.h has the bound on their error).
#pragma once

#include <cstdint>
#include <cstring>

#include "core/base/fused.h"

namespace weald::neighbors::body {

// Queries of a group: 6 by 2 vectors of sums are what 16 registers hold. Fitted rows of a panel: a cache line.
constexpr int64_t group = 6;
constexpr int64_t panel = 16;

enum class Sum : int { dot, absolute, largest };

template <class T, int Bytes>
struct Vector {
  typedef T type [[gnu::vector_size(Bytes)]];
};

struct Panels {
  int64_t n_columns, n_categorical;
  const float* values;   // [panel][column][lane]
  const float* start;    // [panel][lane]: what a sum starts with, or for the largest what is added to it
  const int32_t* codes;  // [panel][category][lane]
  const float* against;  // [panel][category][lane]: what a missing code adds
};

// Where rows are queries of each other, a sum speaks for both.
struct Mirror {
  const float* add;    // [query]: what makes of a sum with a row that of the row with the query
  const float* level;  // [panel][lane]: above it the query is no neighbour of the row
  int32_t* open;       // [query][lane], out: 1 if the row may be a neighbour of the query, 2 if the query of the row
};

struct Group {
  const float* values;   // [column][query]
  const float* level;    // [query]: sums above it are out
  const int32_t* codes;  // [category][query]
  const float* cost;     // [category]
  const float* against;  // [category][query]: what a missing code adds
};

template <Sum sum, int Bytes, class V>
[[gnu::always_inline]] inline V plus(V total, V x, V z) {
  if constexpr (sum == Sum::dot) {
    if constexpr (Bytes == 32) return fused<float>(x, z, total);
    return total + x * z;
  } else {
    const V d = x - z;
    const V size = d < 0 ? -d : d;
    if constexpr (sum == Sum::absolute) return total + size;
    return total < size ? size : total;
  }
}

template <int Bytes, class V>
[[gnu::always_inline]] inline void add_categories(const Panels& panels, const Group& queries, int64_t at, int64_t half,
                                                  V* sums) {
  using Ints = typename Vector<int32_t, Bytes>::type;
  for (int64_t c = 0; c < panels.n_categorical; ++c) {
    const int64_t from = (at * panels.n_categorical + c) * panel + half;
    Ints b;
    V missing;
    std::memcpy(&b, panels.codes + from, Bytes);
    std::memcpy(&missing, panels.against + from, Bytes);
    const V cost = queries.cost[c] - V{};
#pragma GCC unroll 6
    for (int64_t r = 0; r < group; ++r) {
      const int32_t a = queries.codes[c * group + r];
      const V other = a == 0 ? missing : (b == 0 ? queries.against[c * group + r] - V{} : cost);
      sums[r] += b == a - Ints{} ? V{} : other;
    }
  }
}

// Which sums of a vector of fitted rows, from lane `first` on, are open, and which way.
template <int Bytes, class V>
[[gnu::always_inline]] inline void tell_open(const Group& queries, const Mirror& mirror, const V* sums, V row_level,
                                             int64_t first) {
  using Ints = typename Vector<int32_t, Bytes>::type;
#pragma GCC unroll 6
  for (int64_t r = 0; r < group; ++r) {
    const V level = queries.level[r] - V{}, add = mirror.add[r] - V{};
    const Ints open = (~(sums[r] > level) & 1) | (~(sums[r] + add > row_level) & 2);
    std::memcpy(mirror.open + r * panel + first, &open, Bytes);
  }
}

// The sums of two vectors of fitted rows, from lane `first` of panel `at` on; out [query][lane]. Returns whether any is
// not above its level, or with `mirror` above neither. Every loop over queries is unrolled, so that the sums never
// leave their registers.
template <Sum sum, int Bytes, bool categories, bool both>
[[gnu::always_inline]] inline bool panel_open(const Panels& panels, const Group& queries, const Mirror& mirror,
                                              int64_t at, int64_t first, float* out) {
  using V = typename Vector<float, Bytes>::type;
  using Ints = typename Vector<int32_t, Bytes>::type;
  using Longs = typename Vector<int64_t, Bytes>::type;
  constexpr int64_t lanes = Bytes / 4;
  const float* values = panels.values + at * panels.n_columns * panel + first;
  V low_start, high_start, low[group], high[group];
  std::memcpy(&low_start, panels.start + at * panel + first, Bytes);
  std::memcpy(&high_start, panels.start + at * panel + first + lanes, Bytes);
#pragma GCC unroll 6
  for (int64_t r = 0; r < group; ++r) {
    low[r] = sum == Sum::largest ? V{} : low_start;
    high[r] = sum == Sum::largest ? V{} : high_start;
  }
  for (int64_t k = 0; k < panels.n_columns; ++k) {
    V z0, z1;
    std::memcpy(&z0, values + k * panel, Bytes);
    std::memcpy(&z1, values + k * panel + lanes, Bytes);
#pragma GCC unroll 6
    for (int64_t r = 0; r < group; ++r) {
      const V x = queries.values[k * group + r] - V{};  // in every lane
      low[r] = plus<sum, Bytes>(low[r], x, z0);
      high[r] = plus<sum, Bytes>(high[r], x, z1);
    }
  }
  if constexpr (sum == Sum::largest) {
#pragma GCC unroll 6
    for (int64_t r = 0; r < group; ++r) {
      low[r] += low_start;
      high[r] += high_start;
    }
  }
  if constexpr (categories) {
    add_categories<Bytes>(panels, queries, at, first, low);
    add_categories<Bytes>(panels, queries, at, first + lanes, high);
  }
  Ints shut = Ints{} - 1;  // NaN is not above anything
#pragma GCC unroll 6
  for (int64_t r = 0; r < group; ++r) {
    const V level = queries.level[r] - V{};
    shut &= (low[r] > level) & (high[r] > level);
  }
  V low_level{}, high_level{};
  if constexpr (both) {
    std::memcpy(&low_level, mirror.level + at * panel + first, Bytes);
    std::memcpy(&high_level, mirror.level + at * panel + first + lanes, Bytes);
#pragma GCC unroll 6
    for (int64_t r = 0; r < group; ++r) {
      const V add = mirror.add[r] - V{};
      shut &= (low[r] + add > low_level) & (high[r] + add > high_level);
    }
  }
  Longs wide;
  std::memcpy(&wide, &shut, Bytes);
  int64_t all = -1;
#pragma GCC unroll 4
  for (int64_t l = 0; l < Bytes / 8; ++l) all &= wide[l];
  if (all == -1) return false;
  if constexpr (both) {
    tell_open<Bytes>(queries, mirror, low, low_level, first);
    tell_open<Bytes>(queries, mirror, high, high_level, first + lanes);
    return true;
  }
#pragma GCC unroll 6
  for (int64_t r = 0; r < group; ++r) {
    std::memcpy(out + r * panel + first, &low[r], Bytes);
    std::memcpy(out + r * panel + first + lanes, &high[r], Bytes);
  }
  return true;
}

// The next panel from `at` on, before `end`, that has a sum not above the level of its query; its sums are in `out`,
// [query][lane]; `end` if there is none. With `both` it is `mirror.open` that is filled.
template <Sum sum, int Bytes, bool categories, bool both>
[[gnu::always_inline]] inline int64_t next_open(const Panels& panels, const Group& queries, const Mirror& mirror,
                                                int64_t at, int64_t end, float* out) {
  constexpr int64_t pair = 2 * Bytes / 4;
  for (; at < end; ++at) {
    bool open = false;
    for (int64_t first = 0; first < panel; first += pair) {
      if (panel_open<sum, Bytes, categories, both>(panels, queries, mirror, at, first, out)) {
        open = true;
      } else if constexpr (pair < panel) {
        for (int64_t r = 0; r < group; ++r) {
          for (int64_t l = first; l < first + pair; ++l) {
            if constexpr (both) {
              mirror.open[r * panel + l] = 0;
            } else {
              out[r * panel + l] = __builtin_huge_valf();
            }
          }
        }
      }
    }
    if (open) return at;
  }
  return end;
}

}  // namespace weald::neighbors::body
