// The bodies of tiles: sums over the columns of the table for a group of left rows and some columns, and the program on
// them. Always inlined, so that tiles.cpp can build each once for every instruction set.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>

#include "core/base/fused.h"
#include "core/base/mathematics.h"
#include "core/svm/kernel/points.h"
#include "core/svm/kernel/program.h"
#include "core/svm/kernel/tiles.h"

namespace weald::svm::body {

// Left rows of a group of dense ones: 6 by 2 vectors of sums are what 16 registers hold.
constexpr int64_t dense_rows = 6;

// Numbers side by side in a register of so many bytes.
template <class T, int Bytes>
struct Vector {
  typedef T type [[gnu::vector_size(Bytes)]];
};

template <Sum sum, class T>
[[gnu::always_inline]] inline T term(T x, T z) {
  if constexpr (sum == Sum::dot) {
    return x * z;
  } else if constexpr (sum == Sum::squares) {
    const T d = x - z;
    return d * d;
  } else if constexpr (sum == Sum::absolute) {
    const T d = x - z;
    return d < 0 ? -d : d;
  } else if constexpr (sum == Sum::chi) {
    const T d = x - z;
    const T s = x + z;
    return s == 0 ? s : d * d / s;
  } else {
    return x < z ? x : z;
  }
}

// total + term(x, z) for vectors of Float; products with one rounding.
template <Sum sum, class Float, class V>
[[gnu::always_inline]] inline V plus_term(V total, V x, V z) {
  if constexpr (sum == Sum::dot) {
    return fused<Float>(x, z, total);
  } else if constexpr (sum == Sum::squares) {
    return fused<Float>(x - z, x - z, total);
  } else {
    return total + term<sum>(x, z);
  }
}

// ---- dense ---------------------------------------------------------------------------------------------------------

// 6 left rows, [k][row], with two vectors of columns that stand `step` apart from k to k + 1.
template <Sum sum, class Float, int Bytes>
[[gnu::always_inline]] inline void dense_pair(const Float* left, const Float* columns, int64_t step, int64_t n_columns,
                                              Float* out) {
  using V = typename Vector<Float, Bytes>::type;
  constexpr int64_t lanes = Bytes / static_cast<int64_t>(sizeof(Float));
  V sums[dense_rows][2];
#pragma GCC unroll 6
  for (int64_t r = 0; r < dense_rows; ++r) sums[r][0] = sums[r][1] = V{};
  for (int64_t k = 0; k < n_columns; ++k) {
    V z0, z1;
    std::memcpy(&z0, columns + k * step, Bytes);
    std::memcpy(&z1, columns + k * step + lanes, Bytes);
#pragma GCC unroll 6
    for (int64_t r = 0; r < dense_rows; ++r) {
      const V x = left[k * dense_rows + r] - V{};  // in every lane: x − 0 is x, x + 0 is not always
      sums[r][0] = plus_term<sum, Float>(sums[r][0], x, z0);
      sums[r][1] = plus_term<sum, Float>(sums[r][1], x, z1);
    }
  }
#pragma GCC unroll 6
  for (int64_t r = 0; r < dense_rows; ++r) {
    std::memcpy(out + r * tile_columns, &sums[r][0], Bytes);
    std::memcpy(out + r * tile_columns + lanes, &sums[r][1], Bytes);
  }
}

// out: [row][column] of a tile.
template <Sum sum, class Float, int Bytes>
[[gnu::always_inline]] inline void dense_sums(const Float* left, const Float* panels, int64_t n_panels,
                                              int64_t n_columns, Float* out) {
  constexpr int64_t pair = 2 * Bytes / static_cast<int64_t>(sizeof(Float));
  for (int64_t p = 0; p < n_panels; ++p) {
    for (int64_t at = 0; at < panel_size<Float>; at += pair) {
      const Float* columns = panels + p * n_columns * panel_size<Float> + at;
      dense_pair<sum, Float, Bytes>(left, columns, panel_size<Float>, n_columns, out + p * panel_size<Float> + at);
    }
  }
}

// ---- compressed ----------------------------------------------------------------------------------------------------

// The left rows z of a group are spread out, [k][lane]; each column x is a compressed row. What x does not store is 0:
// Σ t(x, z) = Σ t(0, z) + Σ over the entries of x of t(x, z) − t(0, z). For products the first sum is 0, and the rest
// adds up in the order of dense rows, without their zeros: the same bits.
template <Sum sum, class Float, int Bytes>
[[gnu::always_inline]] inline void sparse_sums(const Float* spread, const Points<Float>& points, const int32_t* ids,
                                               int64_t n, const Float* start, Float* out) {
  using V = typename Vector<Float, Bytes>::type;
  constexpr int64_t lanes = Bytes / static_cast<int64_t>(sizeof(Float));
  constexpr int64_t vectors = panel_size<Float> / lanes;
  for (int64_t j = 0; j < n; ++j) {
    const auto row = points.entries(ids[j]);
    V sums[vectors];
    std::memcpy(sums, start, sizeof sums);
    for (int64_t e = 0; e < row.n; ++e) {
      const Float* at = spread + int64_t{row.column[e]} * panel_size<Float>;
      const V x = row.value[e] - V{};
#pragma GCC unroll 4
      for (int64_t v = 0; v < vectors; ++v) {
        V z;
        std::memcpy(&z, at + v * lanes, Bytes);
        if constexpr (sum == Sum::dot) {
          sums[v] = plus_term<sum, Float>(sums[v], x, z);
        } else {
          sums[v] += term<sum>(x, z) - term<sum>(V{}, z);
        }
      }
    }
    Float found[panel_size<Float>];
    std::memcpy(found, sums, sizeof found);
    for (int64_t r = 0; r < panel_size<Float>; ++r) out[r * tile_columns + j] = found[r];
  }
}

// ---- the program ---------------------------------------------------------------------------------------------------

// The sums of one left row with n columns, and the norms.
template <class Float>
struct Segment {
  const Float* sums[n_sums];
  const Float* norms;  // of the columns
  Float norm;          // of the left row
  bool finite;         // all norms
  int64_t n;
};

// x^degree by squaring, each x alone; what is squared once more than needed may overflow, and is not used.
template <class Float>
[[gnu::always_inline]] inline void raise(Float* x, int64_t n, int degree) {
  for (int64_t j = 0; j < n; ++j) {
    Float power = x[j], result = 1;
    for (int rest = degree; rest > 0; rest >>= 1) {
      if ((rest & 1) != 0) result *= power;
      power *= power;
    }
    x[j] = result;
  }
}

constexpr double log2_of_e = 0x1.71547652b82fep+0;

// e^(−factor · sum) of sums that are not negative; a negative factor makes no kernel, but has a value.
template <class Float>
[[gnu::always_inline]] inline void exp_of(const Float* __restrict sum, double factor, int64_t n,
                                          Float* __restrict out) {
  const auto in_twos = static_cast<Float>(-factor * log2_of_e);
  if (factor >= 0) {
    for (int64_t j = 0; j < n; ++j) out[j] = exp2_of_negative(in_twos * sum[j]);
  } else {
    for (int64_t j = 0; j < n; ++j) out[j] = static_cast<Float>(weald::exp(-factor * double{sum[j]}));
  }
}

// ‖x − z‖² = ‖x‖² + ‖z‖² − 2 x·z.
template <class Float>
[[gnu::always_inline]] inline void rbf(const Segment<Float>& s, double factor, Float* __restrict out) {
  constexpr Float infinity = std::numeric_limits<Float>::infinity();
  const Float* __restrict dot = s.sums[static_cast<int>(Sum::dot)];
  const Float* __restrict norms = s.norms;
  const Float norm = s.norm;
  const auto in_twos = static_cast<Float>(-factor * log2_of_e);
  if (factor >= 0 && s.finite) {
    for (int64_t j = 0; j < s.n; ++j) {
      const Float d = std::fma(Float{-2}, dot[j], norm + norms[j]);
      out[j] = exp2_of_negative(in_twos * (Float{0} > d ? Float{0} : d));
    }
    return;
  }
  Float distance[tile_columns];
  for (int64_t j = 0; j < s.n; ++j) {
    const Float d = std::fma(Float{-2}, dot[j], norm + norms[j]);
    const Float positive = d < 0 ? Float{0} : d;
    distance[j] = d == d ? positive : infinity;  // ∞ − ∞: farther than can be told
  }
  exp_of(distance, factor, s.n, out);
}

template <class Float>
[[gnu::always_inline]] inline void leaf(const Step& step, const Segment<Float>& s, bool squares, Float* out) {
  const auto a = static_cast<Float>(step.a), b = static_cast<Float>(step.b), c = static_cast<Float>(step.c);
  const Float* dot = s.sums[static_cast<int>(Sum::dot)];
  switch (step.op) {
    case Op::linear:
      std::memcpy(out, dot, static_cast<size_t>(s.n) * sizeof(Float));
      break;
    case Op::polynomial:
      for (int64_t j = 0; j < s.n; ++j) out[j] = b * dot[j] + c;
      raise(out, s.n, static_cast<int>(step.a));
      break;
    case Op::rbf:
      if (squares) {
        exp_of(s.sums[static_cast<int>(Sum::squares)], step.a, s.n, out);
      } else {
        rbf(s, step.a, out);
      }
      break;
    case Op::sigmoid:
      for (int64_t j = 0; j < s.n; ++j) out[j] = weald::tanh(b * dot[j] + c);
      break;
    case Op::laplacian:
      exp_of(s.sums[static_cast<int>(Sum::absolute)], step.a, s.n, out);
      break;
    case Op::chi_squared:
      exp_of(s.sums[static_cast<int>(Sum::chi)], step.a, s.n, out);
      break;
    case Op::intersection:
      std::memcpy(out, s.sums[static_cast<int>(Sum::minimum)], static_cast<size_t>(s.n) * sizeof(Float));
      break;
    default:
      for (int64_t j = 0; j < s.n; ++j) out[j] = a;
  }
}

// The lowest place of the stack is `out`, the others lie in `stack`, a tile's columns apart.
template <class Float>
[[gnu::always_inline]] inline void evaluate(const Program& program, const Segment<Float>& s, bool squares, Float* stack,
                                            Float* out) {
  const auto place = [&](int64_t at) { return at == 0 ? out : stack + (at - 1) * tile_columns; };
  int64_t height = 0;
  for (const Step& step : program.steps()) {
    if (step.op == Op::add || step.op == Op::multiply) {
      --height;
      const Float* top = place(height);
      Float* under = place(height - 1);
      if (step.op == Op::add) {
        for (int64_t j = 0; j < s.n; ++j) under[j] += top[j];
      } else {
        for (int64_t j = 0; j < s.n; ++j) under[j] *= top[j];
      }
    } else if (step.op == Op::scale) {
      const auto factor = static_cast<Float>(step.a);
      Float* top = place(height - 1);
      for (int64_t j = 0; j < s.n; ++j) top[j] *= factor;
    } else {
      leaf(step, s, squares, place(height++));
    }
  }
}

}  // namespace weald::svm::body
