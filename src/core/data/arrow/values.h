// One column's pieces → one array of numbers, mask or levels. Shared by the parts of the Arrow reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "core/data/arrow/abi.h"
#include "core/data/arrow/reader.h"
#include "core/data/arrow/text_levels.h"
#include "core/data/arrow/type.h"

namespace weald::arrow {

// Rows [first, first + length) of one chunk, counted from the start of its buffers.
struct Piece {
  const ArrowArray* array = nullptr;
  std::int64_t first = 0;
  std::int64_t length = 0;
  std::shared_ptr<const void> owner;
};

// Throws BadInput unless `array` has the buffers its storage needs and they are not null.
void check_buffers(const ArrowArray& array, const Type& type, std::int64_t length);

// The pieces as one array of numbers: the Arrow buffer itself when there is one aligned piece of plain
// numbers.
Values read_numbers(std::span<const Piece> pieces, const Type& type);

// Which rows are null, or n == 0 when none is, or when read_numbers has put NaN there (all that it converts
// to floats: half floats, times, decimals, the null type).
Values read_missing(std::span<const Piece> pieces, const Type& type);

// Times in nanoseconds, 0 where null, if some have parts of microseconds: float64 does not tell those apart.
Values read_nanoseconds(std::span<const Piece> pieces, const Type& type);

// Level numbers of text, new texts added to `levels`; null rows get -1. `out` has piece.length elements.
void read_text(const Piece& piece, const Type& type, TextLevels& levels, std::int32_t* out);

// True where `row` (counted from the start of the buffers) holds a value.
bool is_valid(const ArrowArray& array, std::int64_t row);

// Whether the array may hold nulls at all.
bool may_have_nulls(const ArrowArray& array);

std::size_t total_rows(std::span<const Piece> pieces);

// Element i of a foreign buffer, which may be aligned to less than its element.
template <class T>
T load(const void* data, std::int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(data) + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}

// Fresh memory for n elements, and a way to fill it.
template <class T>
struct Fresh {
  explicit Fresh(std::size_t n) : memory(new_memory(n)), data(static_cast<T*>(memory.get())) {}
  static std::shared_ptr<void> new_memory(std::size_t n) {
    const std::size_t bytes = n * sizeof(T) > 0 ? n * sizeof(T) : 1;
    std::shared_ptr<std::byte[]> bytes_owner = std::make_shared_for_overwrite<std::byte[]>(bytes);
    return {bytes_owner, bytes_owner.get()};
  }
  std::shared_ptr<void> memory;
  T* data;
};

}  // namespace weald::arrow
