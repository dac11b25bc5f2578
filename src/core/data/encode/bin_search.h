// The search for a value's bin among the cuts of its column, for blocks of values.
//
// Values and cuts are compared as keys (order_key.h), in 32 bits where float32 holds the column's values. The range
// from the first cut to the last is divided into equal buckets of keys; a table says how many cuts lie in buckets
// before that of a value, and a search of fixed length, without branches, passes those in it. Keys are logarithms in
// steps, so that long tails fill buckets about as well as bells do: few cuts share one, two or three steps are usual.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "core/base/simd.h"
#include "core/data/encode/order_key.h"

namespace weald {

// Float is float or double. A float32 value lies above a cut just where it lies above the largest float32 that is not
// above the cut, so that the codes are the same.
template <class Float>
class BinSearch {
 public:
  using Key = std::conditional_t<sizeof(Float) == 4, uint32_t, uint64_t>;

  explicit BinSearch(std::span<const double> marks) {
    if (marks.empty()) return;
    for (const double mark : marks) {
      auto cut = static_cast<Float>(mark);
      if (static_cast<double>(cut) > mark) cut = std::nextafter(cut, -std::numeric_limits<Float>::infinity());
      cuts_.push_back(key_of(cut));
    }
    low_ = cuts_.front();
    high_ = cuts_.back();
    const auto n_buckets = std::min<uint64_t>(std::bit_ceil(16 * marks.size()), most_buckets);
    while ((high_ - low_) >> shift_ >= n_buckets) ++shift_;
    start_.assign(static_cast<size_t>((high_ - low_) >> shift_) + 1, 0);
    for (size_t i = cuts_.size(); i-- > 0;) start_[bucket_of(cuts_[i])] = static_cast<uint32_t>(i);
    size_t most = 1;
    for (size_t b = start_.size(), next = cuts_.size(); b-- > 0; next = start_[b]) {
      if (b > 0 && (start_[b] == 0)) start_[b] = static_cast<uint32_t>(next);
      most = std::max(most, next - start_[b]);
    }
    n_steps_ = static_cast<int>(std::bit_width(most));
    cuts_.resize(cuts_.size() + (size_t{1} << n_steps_), std::numeric_limits<Key>::max());
  }

  // out[i] = 1 + the number of cuts below values[i], 0 for NaN.
  template <class Code>
  void search(const Float* values, int64_t n, Code* out) const {
    (simd_level() == Simd::avx2 ? &BinSearch::search_avx2<Code> : &BinSearch::search_baseline<Code>)(*this, values, n,
                                                                                                     out);
  }

 private:
  static constexpr uint64_t most_buckets = 1 << 16;
  static constexpr int64_t together = 256;  // values whose buckets are found before they are looked up

  [[gnu::always_inline]] static Key key_of(Float value) {
    if constexpr (sizeof(Float) == 4) {
      return to_short_key(value);
    } else {
      return to_key(value);
    }
  }
  [[gnu::always_inline]] uint32_t bucket_of(Key key) const {
    return static_cast<uint32_t>((std::clamp(key, low_, high_) - low_) >> shift_);
  }

  // N: the number of steps, or −1 to read it from the object.
  template <int N, class Code>
  [[gnu::always_inline]] void search_block(const Float* values, int64_t n, Code* out) const {
    // Copies, because a code of one byte may alias anything.
    const uint32_t* start = start_.data();
    const Key* cuts = cuts_.data();
    const Key low = low_, high = high_;
    const int shift = shift_, n_steps = N >= 0 ? N : n_steps_;
    Key keys[together];
    uint32_t buckets[together], present[together];
    for (int64_t i = 0; i < n; ++i) {
      keys[i] = key_of(values[i]);
      buckets[i] = static_cast<uint32_t>((std::clamp(keys[i], low, high) - low) >> shift);
      present[i] = values[i] == values[i] ? ~uint32_t{0} : 0;
    }
    for (int64_t i = 0; i < n; ++i) {
      uint32_t below = start[buckets[i]];
      for (int step = n_steps; step-- > 0;) {
        const uint32_t half = uint32_t{1} << step;
        below += cuts[below + half - 1] < keys[i] ? half : 0;
      }
      out[i] = static_cast<Code>((below + 1) & present[i]);
    }
  }
  template <class Code>
  [[gnu::always_inline]] void search_all(const Float* values, int64_t n, Code* out) const {
    for (int64_t i = 0; i < n; i += together) {
      const int64_t n_values = std::min(together, n - i);
      switch (n_steps_) {
        case 1:
          search_block<1>(values + i, n_values, out + i);
          break;
        case 2:
          search_block<2>(values + i, n_values, out + i);
          break;
        case 3:
          search_block<3>(values + i, n_values, out + i);
          break;
        default:
          search_block<-1>(values + i, n_values, out + i);
      }
    }
  }
  template <class Code>
  static void search_baseline(const BinSearch& search, const Float* values, int64_t n, Code* out) {
    search.search_all(values, n, out);
  }
  template <class Code>
  WEALD_TARGET_AVX2 static void search_avx2(const BinSearch& search, const Float* values, int64_t n, Code* out) {
    search.search_all(values, n, out);
  }

  std::vector<Key> cuts_;
  std::vector<uint32_t> start_ = {0};
  Key low_ = 0, high_ = 0;
  int shift_ = 0;
  int n_steps_ = 0;
};

}  // namespace weald
