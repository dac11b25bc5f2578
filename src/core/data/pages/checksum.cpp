#include "core/data/pages/checksum.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/base/random.h"

namespace weald {

namespace {

constexpr size_t lanes = 8, word = sizeof(uint64_t);
constexpr uint64_t factor = 0x9e3779b97f4a7c15ULL;

uint64_t step(uint64_t state, uint64_t value) {
  return std::rotl(state ^ value, 29) * factor;
}

}  // namespace

uint64_t checksum(std::span<const unsigned char> bytes) {
  uint64_t state[lanes];
  for (size_t lane = 0; lane < lanes; ++lane) state[lane] = scramble(lane + 1);
  const unsigned char* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= lanes * word; at += lanes * word, left -= lanes * word) {
    // Word by word: eight at once would go over the stack.
    for (size_t lane = 0; lane < lanes; ++lane) {
      uint64_t value;
      std::memcpy(&value, at + lane * word, word);
      state[lane] = step(state[lane], value);
    }
  }
  for (size_t lane = 0; left > 0; ++lane) {
    uint64_t value = 0;
    const size_t n = std::min(left, word);
    std::memcpy(&value, at, n);
    state[lane] = step(state[lane], value);
    at += n;
    left -= n;
  }
  uint64_t all = bytes.size();
  for (const uint64_t each : state) all = scramble(step(all, each));
  return all;
}

}  // namespace weald
