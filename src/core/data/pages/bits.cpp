#include "core/data/pages/bits.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/check.h"
#include "core/data/codes.h"

namespace weald {

namespace {

constexpr int64_t together = 8;  // codes, which begin and end with a byte

uint64_t load_word(const unsigned char* at) {
  uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// Eight codes. Of up to 8 bits they are in one word; of more, four are in one word and four in another, which begins
// within a byte if the number of bits is odd.
template <int bits, class Code>
void unpack_eight(const unsigned char* in, Code* out) {
  constexpr uint64_t mask = (uint64_t{1} << bits) - 1;
  if constexpr (bits <= 8) {
    const uint64_t all = load_word(in);
    for (int i = 0; i < 8; ++i) out[i] = static_cast<Code>(all >> (bits * i) & mask);
  } else {
    const uint64_t low = load_word(in), high = load_word(in + bits / 2) >> (bits % 2 * 4);
    for (int i = 0; i < 4; ++i) out[i] = static_cast<Code>(low >> (bits * i) & mask);
    for (int i = 0; i < 4; ++i) out[4 + i] = static_cast<Code>(high >> (bits * i) & mask);
  }
}

template <int bits, class Code>
void unpack(const unsigned char* in, int64_t n, Code* out) {
  for (; n >= together; n -= together, in += bits, out += together) unpack_eight<bits>(in, out);
  if (n == 0) return;
  Code rest[together];
  unpack_eight<bits>(in, rest);
  std::copy_n(rest, n, out);
}

template <class Code, int... each>
void unpack_any(const unsigned char* in, int bits, int64_t n, Code* out, std::integer_sequence<int, each...>) {
  ((bits == each + 1 ? unpack<each + 1>(in, n, out) : void()), ...);
}

}  // namespace

void pack_bits(const void* codes, int width, int64_t n, int bits, std::vector<unsigned char>& out) {
  require(bits >= 1 && bits <= most_packed_bits, "codes are packed into 1 to 15 bits");
  const size_t first = out.size();
  out.resize(first + static_cast<size_t>(packed_bytes(n, bits)));
  with_codes(codes, width, [&](const auto* code) {
    uint64_t waiting = 0;
    int n_waiting = 0;
    unsigned char* to = out.data() + first;
    for (int64_t i = 0; i < n; ++i) {
      waiting |= static_cast<uint64_t>(code[i]) << n_waiting;
      for (n_waiting += bits; n_waiting >= 8; n_waiting -= 8, waiting >>= 8) {
        *to++ = static_cast<unsigned char>(waiting & 255U);
      }
    }
    if (n_waiting > 0) *to = static_cast<unsigned char>(waiting & 255U);
  });
}

void unpack_bits(const unsigned char* packed, int bits, int64_t n, int width, void* out) {
  require(bits >= 1 && bits <= (width == 1 ? 8 : most_packed_bits) && width <= 2, "bits that fit the codes");
  if (width == 1) {
    unpack_any(packed, bits, n, static_cast<uint8_t*>(out), std::make_integer_sequence<int, 8>());
  } else {
    unpack_any(packed, bits, n, static_cast<uint16_t*>(out), std::make_integer_sequence<int, most_packed_bits>());
  }
}

}  // namespace weald
