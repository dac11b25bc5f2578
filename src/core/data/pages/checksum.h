// A checksum of 64 bits. Every step is a bijection of the word that goes in and of what came before, so that no change
// within one word of 8 bytes goes unseen; others go unseen with a chance of 2^-64 or so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace weald {

uint64_t checksum(std::span<const unsigned char> bytes);

}  // namespace weald
