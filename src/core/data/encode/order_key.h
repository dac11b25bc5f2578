// Ascending floats (no NaN) ↔ ascending unsigned integers, for sorting without comparisons.
#pragma once

#include <bit>
#include <cstdint>

namespace weald {

inline uint64_t to_key(double value) {
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  return bits ^ ((bits >> 63) != 0 ? ~uint64_t{0} : uint64_t{1} << 63);
}
inline double from_key(uint64_t key) {
  return std::bit_cast<double>(key ^ ((key >> 63) != 0 ? uint64_t{1} << 63 : ~uint64_t{0}));
}

// The same in 32 bits, for columns whose values are float32 or fit one: half the passes.
inline uint32_t to_short_key(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return bits ^ ((bits >> 31) != 0 ? ~uint32_t{0} : uint32_t{1} << 31);
}
inline double from_short_key(uint32_t key) {
  return static_cast<double>(std::bit_cast<float>(key ^ ((key >> 31) != 0 ? uint32_t{1} << 31 : ~uint32_t{0})));
}

}  // namespace weald
