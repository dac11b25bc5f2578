#include "core/tree/split/words.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/base/simd.h"

namespace weald {

namespace {

using Four = double __attribute__((vector_size(32)));
using Halves = int32_t __attribute__((vector_size(32)));
using FourInts = int64_t __attribute__((vector_size(32)));

constexpr uint32_t block = 256;    // codes whose sums stand side by side
constexpr uint32_t together = 16;  // candidates that are dismissed at once

// With l = Hl + λ, r = Hr + λ and R = l + r,
//
//   Gl²/l + Gr²/r = G²/R + (Gl·R − G·l)² / (l·r·R)
//
// which α and max_step can only lower. So a candidate is hopeless against a score s where
//
//   (Gl·R − G·l)² < (s − G²/R)·R · l·r
//
// without a division or the right side. Rounding: a candidate worth s has Gl² ≤ s·l and Gr² ≤ s·r, so the left side
// errs by less than 2^-48 · s·R·√(R/r) · l·r; sums are integers below 2^31, so √(R/r) < 2^16, and `slack` covers that.
struct Filter {
  double g, all, level = 0;

  Filter(const int64_t* total, const Newton& criterion, double score)
      : g(static_cast<double>(total[0])), all(static_cast<double>(total[1]) + 2 * criterion.lambda) {
    set_score(score);
  }

  void set_score(double score) {
    constexpr double slack = 0x1p-30, nobody = -0x1p900;
    if (!(all > 0)) {
      level = nobody;
      return;
    }
    const double own = g * g / all;
    level = std::max(nobody, (score - own - slack * (std::abs(score) + own)) * all);
  }
};

// A whole number of less than 2^51 as a double, in steps that vector units have.
[[gnu::always_inline]] inline double in_double(int64_t x) {
  constexpr double magic = 0x1.8p52;
  return std::bit_cast<double>(std::bit_cast<int64_t>(magic) + x) - magic;
}

[[gnu::always_inline]] inline void weigh(const WordColumn& column, const Newton& criterion, uint64_t word,
                                         uint32_t code, BestWord& best) {
  const int64_t left[] = {static_cast<int64_t>(word) >> 32, static_cast<int64_t>(word & 0xffffffffU)};
  const int64_t right[] = {column.total[0] - left[0], column.total[1] - left[1]};
  if (left[1] < column.min_weight || right[1] < column.min_weight) return;
  if (criterion.hopeless(left, right, best.score)) return;
  const double score = criterion.score(left) + criterion.score(right);
  if (score > best.score) best.score = score, best.code = code, best.left = word;
}

[[gnu::always_inline]] inline void search_block(const WordColumn& column, const Newton& criterion, const uint64_t* sums,
                                                uint32_t first, uint32_t n, BestWord& best) {
  Filter filter(column.total, criterion, best.score);
  const double lambda = criterion.lambda;
  for (uint32_t i = 0; i < n; i += together) {
    FourInts open = {0, 0, 0, 0};
    for (uint32_t k = i; k < i + together; k += 4) {
      Halves both;  // h, g, h, g …: the low half of a word comes first
      std::memcpy(&both, sums + k, sizeof both);
      const Four lg = __builtin_convertvector(__builtin_shufflevector(both, both, 1, 3, 5, 7), Four);
      const Four l = __builtin_convertvector(__builtin_shufflevector(both, both, 0, 2, 4, 6), Four) + lambda;
      const Four apart = lg * filter.all - filter.g * l;
      open |= apart * apart >= filter.level * (l * (filter.all - l));
    }
    if ((open[0] | open[1] | open[2] | open[3]) == 0) continue;
    const double before = best.score;
    const uint32_t end = std::min(i + together, n);
    for (uint32_t k = i; k < end; ++k) weigh(column, criterion, sums[k], first + k, best);
    if (best.score > before) filter.set_score(best.score);
  }
}

[[gnu::always_inline]] inline BestWord search(const WordColumn& column, const Newton& criterion, double to_beat) {
  BestWord best{to_beat};
  uint64_t so_far = 0;
  alignas(32) uint64_t sums[block];
  // The last code is no candidate: nothing is right of it.
  for (uint32_t first = 1; first < column.n_codes; first += block) {
    const uint32_t n = std::min(block, column.n_codes - first);
#pragma GCC unroll 8
    for (uint32_t i = 0; i < n; ++i) sums[i] = so_far += column.cells[first + i];
    for (uint32_t i = n; i < (n + together - 1) / together * together; ++i) sums[i] = so_far;
    search_block(column, criterion, sums, first, n, best);
  }
  return best;
}

BestWord search_baseline(const WordColumn& column, const Newton& criterion, double to_beat) {
  return search(column, criterion, to_beat);
}
WEALD_TARGET_AVX2 BestWord search_avx2(const WordColumn& column, const Newton& criterion, double to_beat) {
  return search(column, criterion, to_beat);
}

struct Pair {
  int64_t g, h;
};

[[gnu::always_inline]] inline Pair flag_rows(const FlagColumns& columns, size_t i) {
  if (!columns.packed) return {columns.cells[2 * i], columns.cells[2 * i + 1]};
  const auto word = static_cast<uint64_t>(columns.cells[i]);
  return {static_cast<int64_t>(word) >> 32, static_cast<int64_t>(word & 0xffffffffU)};
}

[[gnu::always_inline]] inline void weigh_flag(const FlagColumns& columns, const Newton& criterion, size_t i,
                                              BestFlag& best) {
  const Pair rows = flag_rows(columns, i);
  const int64_t one[] = {rows.g, rows.h}, rest[] = {columns.total[0] - rows.g, columns.total[1] - rows.h};
  if ((one[0] | one[1]) == 0 || (rest[0] | rest[1]) == 0) return;  // nothing on one side
  if (one[1] < columns.min_weight || rest[1] < columns.min_weight) return;
  if ((columns.usable != nullptr && columns.usable[i] == 0) || criterion.hopeless(one, rest, best.score)) return;
  const double score = criterion.score(one) + criterion.score(rest);
  if (score > best.score) best = {score, i, {one[0], one[1]}, true};
}

[[gnu::always_inline]] inline BestFlag search_flags(const FlagColumns& columns, const Newton& criterion,
                                                    double to_beat) {
  BestFlag best{to_beat};
  Filter filter(columns.total, criterion, to_beat);
  for (size_t i = 0; i < columns.n; i += together) {
    const size_t end = std::min<size_t>(i + together, columns.n);
    double g[together] = {}, h[together] = {};
    for (size_t k = i; k < end; ++k) {
      const Pair rows = flag_rows(columns, k);
      g[k - i] = in_double(rows.g);
      h[k - i] = in_double(rows.h);
    }
    int64_t open = 0;
    for (size_t k = 0; k < together; ++k) {
      const double l = h[k] + criterion.lambda, apart = g[k] * filter.all - filter.g * l;
      open |= apart * apart >= filter.level * (l * (filter.all - l)) ? 1 : 0;
    }
    if (open == 0) continue;
    const double before = best.score;
    for (size_t k = i; k < end; ++k) weigh_flag(columns, criterion, k, best);
    if (best.score > before) filter.set_score(best.score);
  }
  return best;
}

BestFlag search_flags_baseline(const FlagColumns& columns, const Newton& criterion, double to_beat) {
  return search_flags(columns, criterion, to_beat);
}
WEALD_TARGET_AVX2 BestFlag search_flags_avx2(const FlagColumns& columns, const Newton& criterion, double to_beat) {
  return search_flags(columns, criterion, to_beat);
}

}  // namespace

BestFlag best_flag(const FlagColumns& columns, const Newton& criterion, double to_beat) {
  const auto search = simd_level() == Simd::avx2 ? search_flags_avx2 : search_flags_baseline;
  return search(columns, criterion, to_beat);
}

bool constant_words(const WordColumn& column) {
  int n_present = 0;
  for (uint32_t code = 1; code <= column.n_codes && n_present < 2; ++code) n_present += column.cells[code] != 0;
  return n_present < 2;
}

BestWord best_word(const WordColumn& column, const Newton& criterion, double to_beat) {
  const auto search = simd_level() == Simd::avx2 ? search_avx2 : search_baseline;
  return search(column, criterion, to_beat);
}

}  // namespace weald
