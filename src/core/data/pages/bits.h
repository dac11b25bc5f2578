// Codes of a few bits each, one after another, least significant bit first: eight codes take as many bytes as one code
// takes bits. Reading looks up to 16 bytes beyond the last, which must be there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weald {

inline constexpr int most_packed_bits = 15;
inline constexpr size_t beyond_bits = 16;  // bytes

inline int64_t packed_bytes(int64_t n, int bits) {
  return (n * bits + 7) / 8;
}

// `codes`: n of `width` bytes each, all below 2^bits. Appends packed_bytes(n, bits).
void pack_bits(const void* codes, int width, int64_t n, int bits, std::vector<unsigned char>& out);
// The other way; width 1 asks for bits ≤ 8, width 2 for bits ≤ 15.
void unpack_bits(const unsigned char* packed, int bits, int64_t n, int width, void* out);

}  // namespace weald
