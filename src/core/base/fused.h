// Arithmetic with fused multiply-add, for the few loops that gain much by it. It is used by name
// alone: a · b + c with one rounding is the same number on every machine, by an instruction or, on processors without
// one, by the C library, slowly. (Contraction, which leaves the choice to the compiler, is off everywhere.)
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace weald {

// a · b + c of each lane of vectors of T; the compiler makes one instruction of the loop where there is one.
template <class T, class V>
[[gnu::always_inline]] inline V fused(V a, V b, V c) {
  constexpr int lanes = static_cast<int>(sizeof(V) / sizeof(T));
  V out;
#pragma GCC unroll 16
  for (int lane = 0; lane < lanes; ++lane) out[lane] = std::fma(a[lane], b[lane], c[lane]);
  return out;
}

// 2^u for u ≤ 0, −∞ included: u = k + f with k whole and |f| ≤ ½, and 2^f = 1 + f · a polynomial. 1 at 0; 0 below −126
// (float; double: −1022). Error below 1.5 ulp, but 2^-126 (2^-1022) is taken off every value, so that 0 is reached.
[[gnu::always_inline]] inline float exp2_of_negative(float u) {
  const float limited = u > -126.0f ? u : -126.0f;
  const float shifted = limited + 0x1.8p23f;  // k stands in its low bits
  const float f = limited - (shifted - 0x1.8p23f);
  const float square = f * f;  // pairs of terms side by side: less to wait for than term after term
  const float high = std::fma(0x1.44138ap-13f, f, 0x1.5f0890p-10f);
  const float middle = std::fma(0x1.3b2a54p-7f, f, 0x1.c6af6cp-5f);
  const float low = std::fma(0x1.ebfbe0p-3f, f, 0x1.62e430p-1f);
  const float p = std::fma(std::fma(high, square, middle), square, low);
  const uint32_t bits = std::bit_cast<uint32_t>(std::fma(p, f, 1.0f)) + (std::bit_cast<uint32_t>(shifted) << 23);
  return std::bit_cast<float>(bits) - 0x1p-126f;
}
[[gnu::always_inline]] inline double exp2_of_negative(double u) {
  const double limited = u > -1022.0 ? u : -1022.0;
  const double shifted = limited + 0x1.8p52;
  const double f = limited - (shifted - 0x1.8p52);
  const double square = f * f;
  const double p10 = 0x1.e9d3fe3952179p-32;
  const double p8 = std::fma(0x1.e6063f7217bc6p-28, f, 0x1.b524fae627834p-24);
  const double p6 = std::fma(0x1.62bfd47773353p-20, f, 0x1.ffcbfc670dcd4p-17);
  const double p4 = std::fma(0x1.430913096fd9fp-13, f, 0x1.5d87fe78a5276p-10);
  const double p2 = std::fma(0x1.3b2ab6fba1ddap-7, f, 0x1.c6b08d704a0c2p-5);
  const double p0 = std::fma(0x1.ebfbdff82c598p-3, f, 0x1.62e42fefa39efp-1);
  const double high = std::fma(std::fma(p10, square, p8), square, p6);
  const double p = std::fma(std::fma(std::fma(high, square, p4), square, p2), square, p0);
  const uint64_t bits = std::bit_cast<uint64_t>(std::fma(p, f, 1.0)) + (std::bit_cast<uint64_t>(shifted) << 52);
  return std::bit_cast<double>(bits) - 0x1p-1022;
}

}  // namespace weald
