#include "core/tree/split/gini_filter.h"

#include <cstring>

#include "core/base/simd.h"

namespace weald {

namespace {

using Four = double __attribute__((vector_size(32)));
using Halves = int32_t __attribute__((vector_size(32)));
using FourInts = int64_t __attribute__((vector_size(32)));

[[gnu::always_inline]] inline size_t find_open(const GiniFilter& filter, const uint64_t* left, size_t first,
                                               size_t n_blocks) {
  const double one = filter.one(), all = filter.all(), level = filter.level();
  for (size_t b = first; b < n_blocks; ++b) {
    FourInts open = {0, 0, 0, 0};
    for (size_t k = b * GiniFilter::together; k < (b + 1) * GiniFilter::together; k += 4) {
      Halves both;  // class 0, class 1, …: the low half of a word comes first
      std::memcpy(&both, left + k, sizeof both);
      const Four ones = __builtin_convertvector(__builtin_shufflevector(both, both, 1, 3, 5, 7), Four);
      const Four l = __builtin_convertvector(__builtin_shufflevector(both, both, 0, 2, 4, 6), Four) + ones;
      const Four apart = ones * all - one * l;
      open |= apart * apart > level * (l * (all - l));
    }
    if ((open[0] | open[1] | open[2] | open[3]) != 0) return b;
  }
  return n_blocks;
}

size_t find_open_baseline(const GiniFilter& filter, const uint64_t* left, size_t first, size_t n_blocks) {
  return find_open(filter, left, first, n_blocks);
}
WEALD_TARGET_AVX2 size_t find_open_avx2(const GiniFilter& filter, const uint64_t* left, size_t first, size_t n_blocks) {
  return find_open(filter, left, first, n_blocks);
}

}  // namespace

size_t GiniFilter::next_open(const uint64_t* left, size_t first, size_t n_blocks) const {
  return simd_level() == Simd::avx2 ? find_open_avx2(*this, left, first, n_blocks)
                                    : find_open_baseline(*this, left, first, n_blocks);
}

}  // namespace weald
