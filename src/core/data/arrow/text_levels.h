// Distinct texts in order of appearance: a hash table from bytes to level numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weald {

class TextLevels {
 public:
  TextLevels() : slots_(kFirstSize) {}

  // The level number of `text`, a new one when it was never seen. Throws BadInput beyond 2^31 - 2 levels.
  std::int32_t add(std::string_view text);

  // The texts, level by level; the table is empty afterwards.
  std::deque<std::string> take() { return std::move(texts_); }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::int32_t level = -1;  // -1: empty
  };
  static constexpr std::size_t kFirstSize = 64;  // a power of two, as every size of slots_

  std::int32_t insert(std::size_t at, std::uint64_t hash, std::string_view text);
  void grow();

  std::vector<Slot> slots_;
  std::deque<std::string> texts_;  // a deque, so that growing never moves a text
};

}  // namespace weald
