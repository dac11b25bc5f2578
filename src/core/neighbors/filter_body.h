// The body of the filter: float sums of a group of queries with panels of fitted rows, against the level of each query.
// Always inlined, so that panels.cpp can build it once for every instruction set. Its sums need not agree between
// instruction sets: whatever they let pass is decided in float64 (filter.h has the bound on their error).
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define WEALD_MASKS
#include <immintrin.h>
#endif

#include "core/base/fused.h"

namespace weald::neighbors::body {

// Queries of a group: 6 by 2 vectors of sums are what 16 registers hold. Fitted rows of a panel: two of the longest
// vectors, which are two cache lines.
constexpr int64_t group = 6;
constexpr int64_t panel = 32;

enum class Sum : int { dot, absolute, largest };

template <class T, int Bytes>
struct Vector {
  typedef T type [[gnu::vector_size(Bytes)]];
};

// Bytes of the longest vectors that masks are made of here.
#ifdef WEALD_MASKS
inline constexpr int longest_vector = 64;
#else
inline constexpr int longest_vector = 32;
#endif

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
};

// What is told of a panel: a bit for each lane.
struct Open {
  uint32_t near[group];       // the row may be a neighbour of the query
  uint32_t back[group];       // the query may be one of the row; 0 without a mirror
  float sums[group * panel];  // [query][lane]; without a mirror, of lanes that are open
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
    if constexpr (Bytes >= 32) return fused<float>(x, z, total);
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

// A bit for each lane whose sum is not above its level; NaN is not above anything.
template <int Bytes, class V>
[[gnu::always_inline]] inline uint32_t open_lanes(V sums, V level) {
#ifdef WEALD_MASKS
  if constexpr (Bytes == 64) {
    constexpr int not_above = 0x1A, as_rounding_is = 4;
    return __builtin_ia32_cmpps512_mask(sums, level, not_above, static_cast<short>(-1), as_rounding_is);
  } else {
    const auto shut = sums > level;
    V flags;
    std::memcpy(&flags, &shut, Bytes);
    if constexpr (Bytes == 32) {
      return ~static_cast<uint32_t>(__builtin_ia32_movmskps256(flags)) & 0xFFU;
    } else {
      return ~static_cast<uint32_t>(__builtin_ia32_movmskps(flags)) & 0xFU;
    }
  }
#else
  uint32_t open = 0;
  for (int l = 0; l < Bytes / 4; ++l) open |= (sums[l] > level[l] ? 0U : 1U) << l;
  return open;
#endif
}

// Whether some sum of two vectors is open, of any query, either way.
template <int Bytes, bool both, class V>
[[gnu::always_inline]] inline bool any_open(const Group& queries, const Mirror& mirror, const V* low, const V* high,
                                            V low_level, V high_level) {
  if constexpr (Bytes == 64) {
    uint32_t open = 0;
#pragma GCC unroll 6
    for (int64_t r = 0; r < group; ++r) {
      const V level = queries.level[r] - V{};
      open |= open_lanes<Bytes>(low[r], level) | open_lanes<Bytes>(high[r], level);
      if constexpr (both) {
        const V add = mirror.add[r] - V{};
        open |= open_lanes<Bytes>(low[r] + add, low_level) | open_lanes<Bytes>(high[r] + add, high_level);
      }
    }
    return open != 0;
  }
  using Ints = typename Vector<int32_t, Bytes>::type;
  Ints shut = Ints{} - 1;  // NaN is not above anything
#pragma GCC unroll 6
  for (int64_t r = 0; r < group; ++r) {
    const V level = queries.level[r] - V{};
    shut &= (low[r] > level) & (high[r] > level);
    if constexpr (both) {
      const V add = mirror.add[r] - V{};
      shut &= (low[r] + add > low_level) & (high[r] + add > high_level);
    }
  }
  typename Vector<int64_t, Bytes>::type wide;
  std::memcpy(&wide, &shut, Bytes);
  int64_t all = -1;
#pragma GCC unroll 4
  for (int64_t l = 0; l < Bytes / 8; ++l) all &= wide[l];
  return all != -1;
}

// The sums of two vectors of fitted rows, from lane `first` of panel `at` on. Returns whether any is not above its
// level, or with `both` above that of the mirror; then they are in `out`. Every loop over queries is unrolled, so that
// the sums never leave their registers.
template <Sum sum, int Bytes, bool categories, bool both>
[[gnu::always_inline]] inline bool panel_open(const Panels& panels, const Group& queries, const Mirror& mirror,
                                              int64_t at, int64_t first, Open& out) {
  using V = typename Vector<float, Bytes>::type;
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
  V low_level{}, high_level{};
  if constexpr (both) {
    std::memcpy(&low_level, mirror.level + at * panel + first, Bytes);
    std::memcpy(&high_level, mirror.level + at * panel + first + lanes, Bytes);
  }
  if (!any_open<Bytes, both>(queries, mirror, low, high, low_level, high_level)) return false;
#pragma GCC unroll 6
  for (int64_t r = 0; r < group; ++r) {
    const V level = queries.level[r] - V{}, add = (both ? mirror.add[r] : 0.0F) - V{};
    out.near[r] |= (open_lanes<Bytes>(low[r], level) | open_lanes<Bytes>(high[r], level) << lanes) << first;
    if constexpr (both) {
      const uint32_t upper = open_lanes<Bytes>(high[r] + add, high_level) << lanes;
      out.back[r] |= (open_lanes<Bytes>(low[r] + add, low_level) | upper) << first;
    } else {
      std::memcpy(out.sums + r * panel + first, &low[r], Bytes);
      std::memcpy(out.sums + r * panel + first + lanes, &high[r], Bytes);
    }
  }
  return true;
}

// The next panel from `at` on, before `end`, that has a sum not above the level of its query, or with `both` not above
// that of its row; `out` tells which. `end` if there is none.
template <Sum sum, int Bytes, bool categories, bool both>
[[gnu::always_inline]] inline int64_t next_open(const Panels& panels, const Group& queries, const Mirror& mirror,
                                                int64_t at, int64_t end, Open& out) {
  std::memset(out.near, 0, sizeof(out.near));
  std::memset(out.back, 0, sizeof(out.back));
  for (; at < end; ++at) {
    bool open = false;
    for (int64_t first = 0; first < panel; first += 2 * Bytes / 4) {
      open |= panel_open<sum, Bytes, categories, both>(panels, queries, mirror, at, first, out);
    }
    if (open) return at;
  }
  return end;
}

}  // namespace weald::neighbors::body
