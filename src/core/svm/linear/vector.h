// Four doubles at a time. Sums of products keep to one order whatever the instruction set, so every level of SIMD gives
// the same bits.
#pragma once

#include <cstdint>
#include <cstring>

namespace weald::linear {

using Four = double __attribute__((vector_size(32)));

[[gnu::always_inline]] inline void load_four(const double* from, Four& to) {
  std::memcpy(&to, from, sizeof to);
}
[[gnu::always_inline]] inline void store_four(const Four& from, double* to) {
  std::memcpy(to, &from, sizeof from);
}

// a · b: eight running sums, then the rest.
[[gnu::always_inline]] inline double dot_of(const double* a, const double* b, int64_t n) {
  Four sum = {0, 0, 0, 0}, other = {0, 0, 0, 0}, x, y;
  int64_t j = 0;
  for (; j + 8 <= n; j += 8) {
    load_four(a + j, x);
    load_four(b + j, y);
    sum += x * y;
    load_four(a + j + 4, x);
    load_four(b + j + 4, y);
    other += x * y;
  }
  if (j + 4 <= n) {
    load_four(a + j, x);
    load_four(b + j, y);
    sum += x * y;
    j += 4;
  }
  double rest = 0;
  for (; j < n; ++j) rest += a[j] * b[j];
  sum += other;
  return ((sum[0] + sum[2]) + (sum[1] + sum[3])) + rest;
}

// v += u · x
[[gnu::always_inline]] inline void add_multiple(const double* x, double u, int64_t n, double* v) {
  int64_t j = 0;
  Four a, b;
  for (; j + 4 <= n; j += 4) {
    load_four(x + j, a);
    load_four(v + j, b);
    b += u * a;
    store_four(b, v + j);
  }
  for (; j < n; ++j) v[j] += u * x[j];
}

}  // namespace weald::linear
