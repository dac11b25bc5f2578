#include <algorithm>
#include <cstring>

#include "core/base/simd.h"
#include "core/predict/top_block.h"

namespace weald::top_kernels {

namespace {

// ---- ways out ----------------------------------------------------------------------------------------------------

// Numbers side by side in a register of so many bytes.
template <class T, int Bytes>
struct Vector {
  typedef T type [[gnu::vector_size(Bytes)]];
};

// Every row starts with the leftmost way out. Splits come in preorder; when the turn of one is come, the rows that
// reach it are exactly those whose way out is `first`: who went right before has passed it, who goes elsewhere has not
// come so far. Of those, the ones that go right get `right`.
template <class Code, int Bytes, int Vectors>
[[gnu::always_inline]] inline void pass_rows(const TopSplit* splits, size_t n_splits, const Stored<Code>* codes,
                                             int64_t stride, Code* exits) {
  using Signed = typename Vector<Stored<Code>, Bytes>::type;
  using Unsigned = typename Vector<Code, Bytes>::type;
  Unsigned at[Vectors];
  for (int v = 0; v < Vectors; ++v) at[v] = Unsigned{};
  for (size_t s = 0; s < n_splits; ++s) {
    const TopSplit split = splits[s];
    const auto* row_codes = reinterpret_cast<const Signed*>(codes + split.slot * stride);
    const Signed code = Signed{} + static_cast<Stored<Code>>(split.code + lowest<Code>);
    const Unsigned first = Unsigned{} + static_cast<Code>(split.first);
    const Unsigned right = Unsigned{} + static_cast<Code>(split.right);
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) {
      at[v] = (row_codes[v] > code) & (at[v] == first) ? right : at[v];
    }
  }
  for (int v = 0; v < Vectors; ++v) std::memcpy(exits + v * (Bytes / int{sizeof(Code)}), &at[v], Bytes);
}

template <class Code, int Bytes>
[[gnu::always_inline]] inline void pass_all(const TopSplit* splits, size_t n_splits, const Stored<Code>* codes,
                                            int64_t stride, int64_t n, Code* exits) {
  constexpr int vectors = 4;
  constexpr int64_t lanes = Bytes / int64_t{sizeof(Code)};
  int64_t i = 0;
  for (; i + vectors * lanes <= n; i += vectors * lanes) {
    pass_rows<Code, Bytes, vectors>(splits, n_splits, codes + i, stride, exits + i);
  }
  for (; i < n; i += lanes) pass_rows<Code, Bytes, 1>(splits, n_splits, codes + i, stride, exits + i);
}

template <class Code>
void pass_baseline(const TopSplit* splits, size_t n_splits, const Stored<Code>* codes, int64_t stride, int64_t n,
                   Code* exits) {
  pass_all<Code, 16>(splits, n_splits, codes, stride, n, exits);
}
template <class Code>
WEALD_TARGET_AVX2 void pass_avx2(const TopSplit* splits, size_t n_splits, const Stored<Code>* codes, int64_t stride,
                                 int64_t n, Code* exits) {
  pass_all<Code, 32>(splits, n_splits, codes, stride, n, exits);
}

}  // namespace

// Step after step for all values: without branches, and with nothing for one value to wait for from another.
template <class Code>
void search(const double* values, int64_t n, const CutColumn& column, int32_t* below, Stored<Code>* missing_left,
            Stored<Code>* missing_right) {
  if (column.bucket_start.empty()) {
    std::fill_n(below, n, 0);
  } else {
    const CutBuckets buckets = column.buckets;  // a copy, which writing codes cannot change
    const uint16_t* start = column.bucket_start.data();
    for (int64_t i = 0; i < n; ++i) below[i] = buckets.of(values[i]);
    for (int64_t i = 0; i < n; ++i) below[i] = start[below[i]];
  }
  const double* cuts = column.cuts.data();
  for (int32_t half = int32_t{1} << column.n_steps >> 1; half > 0; half >>= 1) {
    for (int64_t i = 0; i < n; ++i) below[i] += cuts[below[i] + half - 1] < values[i] ? half : 0;
  }
  if (missing_left != nullptr) {
    for (int64_t i = 0; i < n; ++i) missing_left[i] = static_cast<Stored<Code>>(below[i] + lowest<Code>);
  }
  if (missing_right != nullptr) {
    constexpr auto highest = std::numeric_limits<Stored<Code>>::max();
    for (int64_t i = 0; i < n; ++i) {
      const auto code = static_cast<Stored<Code>>(below[i] + lowest<Code>);
      missing_right[i] = values[i] == values[i] ? code : highest;
    }
  }
}

template <class Code>
void pass(const TopSplit* splits, size_t n_splits, const Stored<Code>* codes, int64_t stride, int64_t n, Code* exits) {
  (simd_level() == Simd::avx2 ? pass_avx2<Code> : pass_baseline<Code>)(splits, n_splits, codes, stride, n, exits);
}

template void search<uint8_t>(const double*, int64_t, const CutColumn&, int32_t*, int8_t*, int8_t*);
template void search<uint16_t>(const double*, int64_t, const CutColumn&, int32_t*, int16_t*, int16_t*);
template void pass<uint8_t>(const TopSplit*, size_t, const int8_t*, int64_t, int64_t, uint8_t*);
template void pass<uint16_t>(const TopSplit*, size_t, const int16_t*, int64_t, int64_t, uint16_t*);

}  // namespace weald::top_kernels
