#include "core/data/arrow/text_levels.h"

#include <cstring>
#include <limits>

#include "core/base/check.h"

namespace weald {
namespace {

// Spreads every bit of `x` over the whole word: multiply, then fold the better upper half down.
std::uint64_t mix(std::uint64_t x) {
  x *= 0x9e3779b97f4a7c15u;
  return x ^ (x >> 32);
}

// Eight bytes at a time; the last, shorter word carries the length so that trailing zero bytes count.
std::uint64_t hash_bytes(std::string_view text) {
  std::uint64_t hash = mix(text.size() + 1);
  const char* at = text.data();
  std::size_t left = text.size();
  std::uint64_t word = 0;
  for (; left >= sizeof word; left -= sizeof word, at += sizeof word) {
    std::memcpy(&word, at, sizeof word);
    hash = mix(hash ^ word);
  }
  if (left > 0) {
    word = 0;
    std::memcpy(&word, at, left);
    hash = mix(hash ^ word);
  }
  return mix(hash);
}

}  // namespace

std::int32_t TextLevels::add(std::string_view text) {
  const std::uint64_t hash = hash_bytes(text);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.level < 0) return insert(at, hash, text);
    if (slot.hash == hash && texts_[static_cast<std::size_t>(slot.level)] == text) return slot.level;
  }
}

std::int32_t TextLevels::insert(std::size_t at, std::uint64_t hash, std::string_view text) {
  if (texts_.size() >= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()) - 1) {
    throw BadInput("a text column holds more than 2147483646 distinct values");
  }
  const auto level = static_cast<std::int32_t>(texts_.size());
  texts_.emplace_back(text);
  slots_[at] = {hash, level};
  if (texts_.size() * 2 > slots_.size()) grow();
  return level;
}

void TextLevels::grow() {
  std::vector<Slot> larger(slots_.size() * 2);
  const std::size_t mask = larger.size() - 1;
  for (const Slot& slot : slots_) {
    if (slot.level < 0) continue;
    std::size_t at = slot.hash & mask;
    while (larger[at].level >= 0) at = (at + 1) & mask;
    larger[at] = slot;
  }
  slots_ = std::move(larger);
}

}  // namespace weald
