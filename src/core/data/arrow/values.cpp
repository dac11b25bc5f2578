#include "core/data/arrow/values.h"

#include <bit>
#include <cstring>
#include <limits>
#include <string_view>

#include "core/base/check.h"
#include "core/data/arrow/decimal.h"

namespace weald::arrow {
namespace {

template <class T>
const T* buffer(const ArrowArray& array, std::int64_t i) {
  return static_cast<const T*>(array.buffers[i]);
}

bool bit_at(const std::uint8_t* bits, std::int64_t i) {
  return ((bits[i >> 3] >> (i & 7)) & 1) != 0;
}

float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1fu;
  const std::uint32_t fraction = half & 0x3ffu;
  if (exponent == 0) {  // zero and subnormal numbers: fraction * 2^-24
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t wide = exponent == 31 ? 255u : exponent + 112u;
  return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
}

double tick_to_microseconds(std::int64_t tick, const Type& type) {
  if (type.divide == 0) return static_cast<double>(tick) * type.multiply;
  // Split before rounding, so that a whole number of microseconds is the same float from any resolution.
  std::int64_t whole = tick / type.divide;
  std::int64_t rest = tick % type.divide;
  if (rest < 0) {
    rest += type.divide;
    --whole;
  }
  return static_cast<double>(whole) + static_cast<double>(rest) / static_cast<double>(type.divide);
}

void convert_ticks(const Piece& piece, const Type& type, double* out) {
  const void* data = piece.array->buffers[1];
  for (std::int64_t i = 0; i < piece.length; ++i) {
    const std::int64_t row = piece.first + i;
    const std::int64_t tick = type.width == 4 ? load<std::int32_t>(data, row) : load<std::int64_t>(data, row);
    out[i] = tick_to_microseconds(tick, type);
  }
}

void convert_decimals(const Piece& piece, const Type& type, double* out) {
  const auto* data = static_cast<const std::byte*>(piece.array->buffers[1]);
  const bool nulls = may_have_nulls(*piece.array);
  for (std::int64_t i = 0; i < piece.length; ++i) {
    const std::int64_t row = piece.first + i;
    if (nulls && !is_valid(*piece.array, row)) continue;  // blank_nulls comes after
    out[i] = decimal_to_double({data + row * type.width, static_cast<std::size_t>(type.width)}, type.scale);
  }
}

// Numbers of our own memory say "missing" themselves: NaN, no mask.
template <class Float>
void blank_nulls(const Piece& piece, Float* out) {
  if (!may_have_nulls(*piece.array)) return;
  for (std::int64_t i = 0; i < piece.length; ++i) {
    if (!is_valid(*piece.array, piece.first + i)) out[i] = std::numeric_limits<Float>::quiet_NaN();
  }
}

template <class T, class Convert>
Values converted(std::span<const Piece> pieces, Number number, Convert convert) {
  const std::size_t n = total_rows(pieces);
  Fresh<T> fresh(n);
  T* out = fresh.data;
  for (const Piece& piece : pieces) {
    convert(piece, out);
    out += piece.length;
  }
  return {number, n, fresh.data, fresh.memory};
}

Values plain_numbers(std::span<const Piece> pieces, const Type& type) {
  if (pieces.size() == 1 && pieces[0].length > 0) {
    const auto* data = buffer<std::byte>(*pieces[0].array, 1) + pieces[0].first * type.width;
    if (std::bit_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(type.width) == 0) {
      return {type.number, static_cast<std::size_t>(pieces[0].length), data, pieces[0].owner};
    }
  }
  const std::size_t width = static_cast<std::size_t>(type.width);
  Fresh<std::byte> fresh(total_rows(pieces) * width);
  std::byte* out = fresh.data;
  for (const Piece& piece : pieces) {
    const std::size_t bytes = static_cast<std::size_t>(piece.length) * width;
    if (bytes == 0) continue;
    std::memcpy(out, buffer<std::byte>(*piece.array, 1) + piece.first * type.width, bytes);
    out += bytes;
  }
  return {type.number, total_rows(pieces), fresh.data, fresh.memory};
}

void unpack_bits(const std::uint8_t* bits, std::int64_t first, std::int64_t length, std::uint8_t flip,
                 std::uint8_t* out) {
  for (std::int64_t i = 0; i < length; ++i) {
    const std::int64_t at = first + i;
    out[i] = static_cast<std::uint8_t>(((bits[at >> 3] >> (at & 7)) & 1u) ^ flip);
  }
}

// The text of one row: a view of 16 bytes holds its length, then either the text or (prefix, buffer, offset).
std::string_view text_of_view(const ArrowArray& array, std::int64_t row) {
  const auto* view = buffer<char>(array, 1) + row * 16;
  const auto length = load<std::int32_t>(view, 0);
  if (length < 0) throw BadInput("a string view has a negative length");
  if (length <= 12) return {view + 4, static_cast<std::size_t>(length)};
  const auto which = load<std::int32_t>(view, 2);
  const auto offset = load<std::int32_t>(view, 3);
  const std::int64_t n_variadic = array.n_buffers - 3;  // after validity and views; the last holds lengths
  if (which < 0 || which >= n_variadic) throw BadInput("a string view points to a buffer that is not there");
  const auto size = load<std::int64_t>(array.buffers[array.n_buffers - 1], which);
  const auto* data = buffer<char>(array, 2 + which);
  if (data == nullptr || offset < 0 || offset + std::int64_t{length} > size) {
    throw BadInput("a string view points beyond its buffer");
  }
  return {data + offset, static_cast<std::size_t>(length)};
}

template <class Offset>
std::string_view text_of_offsets(const ArrowArray& array, std::int64_t row) {
  const std::int64_t begin = load<Offset>(array.buffers[1], row);
  const std::int64_t end = load<Offset>(array.buffers[1], row + 1);
  if (begin < 0 || end < begin) throw BadInput("the offsets of a text column do not ascend");
  if (begin == end) return {};
  const auto* data = buffer<char>(array, 2);
  if (data == nullptr) throw BadInput("a text column has no bytes");
  return {data + begin, static_cast<std::size_t>(end - begin)};
}

template <class TextOf>
void encode_text(const Piece& piece, TextLevels& levels, std::int32_t* out, TextOf text_of) {
  const ArrowArray& array = *piece.array;
  const bool nulls = may_have_nulls(array);
  for (std::int64_t i = 0; i < piece.length; ++i) {
    const std::int64_t row = piece.first + i;
    out[i] = nulls && !is_valid(array, row) ? -1 : levels.add(text_of(array, row));
  }
}

}  // namespace

bool may_have_nulls(const ArrowArray& array) {
  return array.null_count != 0 && array.n_buffers > 0 && array.buffers[0] != nullptr;
}

bool is_valid(const ArrowArray& array, std::int64_t row) {
  return bit_at(buffer<std::uint8_t>(array, 0), row);
}

std::size_t total_rows(std::span<const Piece> pieces) {
  std::int64_t n = 0;
  for (const Piece& piece : pieces) n += piece.length;
  return static_cast<std::size_t>(n);
}

void check_buffers(const ArrowArray& array, const Type& type, std::int64_t length) {
  if (type.storage == Storage::nothing || type.storage == Storage::none) return;
  const bool offsets = type.storage == Storage::text32 || type.storage == Storage::text64;
  const std::int64_t least = offsets || type.storage == Storage::view ? 3 : 2;
  if (array.n_buffers < least || array.buffers == nullptr) throw BadInput("an Arrow array lacks buffers");
  if (length > 0 && array.buffers[1] == nullptr) throw BadInput("an Arrow array has no values");
  if (length > 0 && type.storage == Storage::view && array.n_buffers > 3 &&
      array.buffers[array.n_buffers - 1] == nullptr) {
    throw BadInput("an Arrow array of string views has no buffer lengths");
  }
  if (length > 0 && array.null_count > 0 && array.buffers[0] == nullptr) {
    throw BadInput("an Arrow array counts nulls but has no validity bitmap");
  }
}

Values read_numbers(std::span<const Piece> pieces, const Type& type) {
  switch (type.storage) {
    case Storage::plain:
      return plain_numbers(pieces, type);
    case Storage::bits:
      return converted<std::uint8_t>(pieces, Number::boolean, [](const Piece& piece, std::uint8_t* out) {
        if (piece.length > 0) {
          unpack_bits(buffer<std::uint8_t>(*piece.array, 1), piece.first, piece.length, 0, out);
        }
      });
    case Storage::half:
      return converted<float>(pieces, Number::f32, [](const Piece& piece, float* out) {
        for (std::int64_t i = 0; i < piece.length; ++i) {
          out[i] = half_to_float(load<std::uint16_t>(piece.array->buffers[1], piece.first + i));
        }
        blank_nulls(piece, out);
      });
    case Storage::ticks:
      return converted<double>(pieces, Number::f64, [&](const Piece& piece, double* out) {
        convert_ticks(piece, type, out);
        blank_nulls(piece, out);
      });
    case Storage::decimal:
      return converted<double>(pieces, Number::f64, [&](const Piece& piece, double* out) {
        convert_decimals(piece, type, out);
        blank_nulls(piece, out);
      });
    case Storage::nothing:
      return converted<double>(pieces, Number::f64, [](const Piece& piece, double* out) {
        std::fill_n(out, piece.length, std::numeric_limits<double>::quiet_NaN());
      });
    default:
      throw BrokenInvariant("read_numbers was asked for text");
  }
}

Values read_missing(std::span<const Piece> pieces, const Type& type) {
  if (type.storage != Storage::plain && type.storage != Storage::bits) return {};  // NaN says it
  bool any = false;
  for (const Piece& piece : pieces) any = any || (piece.length > 0 && may_have_nulls(*piece.array));
  if (!any) return {};
  Values missing = converted<std::uint8_t>(pieces, Number::boolean, [](const Piece& piece, std::uint8_t* out) {
    if (piece.length > 0 && may_have_nulls(*piece.array)) {
      unpack_bits(buffer<std::uint8_t>(*piece.array, 0), piece.first, piece.length, 1, out);
    } else {
      std::fill_n(out, piece.length, std::uint8_t{0});
    }
  });
  // A slice may have left every null outside; then there is no mask to carry.
  const bool found = std::memchr(missing.data, 1, missing.n) != nullptr;
  return found ? missing : Values{};
}

Values read_nanoseconds(std::span<const Piece> pieces, const Type& type) {
  if (type.storage != Storage::ticks || type.divide != 1000) return {};
  bool parts = false;
  Values ticks = converted<std::int64_t>(pieces, Number::i64, [&](const Piece& piece, std::int64_t* out) {
    const bool nulls = piece.length > 0 && may_have_nulls(*piece.array);
    for (std::int64_t i = 0; i < piece.length; ++i) {
      const std::int64_t row = piece.first + i;
      const bool valid = !nulls || is_valid(*piece.array, row);
      out[i] = valid ? load<std::int64_t>(piece.array->buffers[1], row) : 0;
      parts = parts || out[i] % type.divide != 0;
    }
  });
  return parts ? ticks : Values{};
}

void read_text(const Piece& piece, const Type& type, TextLevels& levels, std::int32_t* out) {
  switch (type.storage) {
    case Storage::text32:
      return encode_text(piece, levels, out, text_of_offsets<std::int32_t>);
    case Storage::text64:
      return encode_text(piece, levels, out, text_of_offsets<std::int64_t>);
    case Storage::view:
      return encode_text(piece, levels, out, text_of_view);
    default:
      throw BrokenInvariant("read_text was asked for numbers");
  }
}

}  // namespace weald::arrow
