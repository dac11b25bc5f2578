// Least-significant-digit radix sort: stable, no comparisons, time proportional to n × digits that vary.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace weald {

// Sorts keys[0, n) ascending by the bits [low_bit, low_bit + n_bits) of key(item); scratch must hold n items.
template <class Item, class Key>
void radix_sort(Item* items, Item* scratch, size_t n, int low_bit, int n_bits, Key key) {
  if (n < 2 || n_bits <= 0) return;
  const int digit_bits_wanted = n < 4096 ? 8 : 11;
  const int passes = (n_bits + digit_bits_wanted - 1) / digit_bits_wanted;
  const int digit_bits = (n_bits + passes - 1) / passes;
  const uint64_t mask = (uint64_t{1} << digit_bits) - 1;
  std::array<uint32_t, 2049> start;
  Item* from = items;
  Item* to = scratch;
  for (int pass = 0; pass < passes; ++pass) {
    const int shift = low_bit + pass * digit_bits;
    std::memset(start.data(), 0, (static_cast<size_t>(mask) + 2) * sizeof(uint32_t));
    for (size_t i = 0; i < n; ++i) ++start[((key(from[i]) >> shift) & mask) + 1];
    if (start[((key(from[0]) >> shift) & mask) + 1] == n) continue;  // all alike in this digit
    for (size_t d = 1; d <= mask; ++d) start[d] += start[d - 1];
    for (size_t i = 0; i < n; ++i) to[start[(key(from[i]) >> shift) & mask]++] = from[i];
    std::swap(from, to);
  }
  if (from != items) std::memcpy(items, from, n * sizeof(Item));
}

}  // namespace weald
