// Decimals as Arrow stores them → the nearest double.
#pragma once

#include <cstddef>
#include <span>

namespace weald {

// value * 10^-scale, correctly rounded, of a little-endian two's complement integer of 4, 8, 16 or 32 bytes.
double decimal_to_double(std::span<const std::byte> value, int scale);

}  // namespace weald
