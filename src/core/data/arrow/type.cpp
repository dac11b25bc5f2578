#include "core/data/arrow/type.h"

#include <charconv>

namespace weald::arrow {
namespace {

Type plain(Number number) {
  return {Unit::number, Storage::plain, number, width_of(number)};
}

Type text(Storage storage) {
  return {Unit::text, storage};
}

// Times of width 4 or 8 counted in seconds, milli-, micro- or nanoseconds.
Type ticks(Unit unit, Number number, char resolution) {
  Type type{unit, Storage::ticks, number, width_of(number)};
  switch (resolution) {
    case 's':
      type.multiply = 1e6;
      break;
    case 'm':
      type.multiply = 1e3;
      break;
    case 'u':
      break;
    case 'n':
      type.divide = 1000;
      break;
    default:
      return {};
  }
  return type;
}

Type time_type(std::string_view format) {
  if (format == "tdD") {
    Type days{Unit::datetime, Storage::ticks, Number::i32, 4};
    days.multiply = 86400e6;
    return days;
  }
  if (format == "tdm") return ticks(Unit::datetime, Number::i64, 'm');
  if (format.size() < 3) return {};
  const char resolution = format[2];
  switch (format[1]) {
    case 's':  // "ts" + resolution + ":" + time zone, which may be empty
      return ticks(format.size() > 4 ? Unit::instant : Unit::datetime, Number::i64, resolution);
    case 'D':
      return ticks(Unit::duration, Number::i64, resolution);
    case 't': {
      const bool narrow = resolution == 's' || resolution == 'm';
      return ticks(Unit::duration, narrow ? Number::i32 : Number::i64, resolution);
    }
    default:
      return {};
  }
}

// "d:precision,scale" or "d:precision,scale,bits".
Type decimal_type(std::string_view format) {
  int numbers[3] = {0, 0, 128};
  std::size_t n = 0;
  const char* at = format.data() + 2;
  const char* end = format.data() + format.size();
  while (at < end && n < 3) {
    const auto [next, error] = std::from_chars(at, end, numbers[n]);
    if (error != std::errc{}) return {};
    ++n;
    at = next;
    if (at < end && *at++ != ',') return {};
  }
  const int bits = numbers[2];
  if (n < 2 || (bits != 32 && bits != 64 && bits != 128 && bits != 256)) return {};
  Type type{Unit::number, Storage::decimal, Number::f64, bits / 8};
  type.scale = numbers[1];
  return type;
}

}  // namespace

int width_of(Number number) {
  switch (number) {
    case Number::i8:
    case Number::u8:
    case Number::boolean:
      return 1;
    case Number::i16:
    case Number::u16:
      return 2;
    case Number::i32:
    case Number::u32:
    case Number::f32:
      return 4;
    default:
      return 8;
  }
}

Type parse_type(std::string_view format) {
  if (format == "vu") return text(Storage::view);
  if (format == "_pli128") return {Unit::number, Storage::decimal, Number::f64, 16};  // polars' Int128
  if (format.starts_with("d:")) return decimal_type(format);
  if (format.starts_with("t")) return time_type(format);
  if (format.size() != 1) return {};
  switch (format[0]) {
    case 'n':
      return {Unit::number, Storage::nothing};
    case 'b':
      return {Unit::boolean, Storage::bits, Number::boolean, 1};
    case 'c':
      return plain(Number::i8);
    case 'C':
      return plain(Number::u8);
    case 's':
      return plain(Number::i16);
    case 'S':
      return plain(Number::u16);
    case 'i':
      return plain(Number::i32);
    case 'I':
      return plain(Number::u32);
    case 'l':
      return plain(Number::i64);
    case 'L':
      return plain(Number::u64);
    case 'e':
      return {Unit::number, Storage::half, Number::f32, 2};
    case 'f':
      return plain(Number::f32);
    case 'g':
      return plain(Number::f64);
    case 'u':
      return text(Storage::text32);
    case 'U':
      return text(Storage::text64);
    default:
      return {};
  }
}

std::string_view type_word(std::string_view format) {
  if (format.starts_with("+s")) return "struct";
  if (format.starts_with("+m")) return "map";
  if (format.starts_with("+u")) return "union";
  if (format.starts_with("+r")) return "run-end encoded";
  if (format.starts_with("+")) return "list";
  if (format == "z" || format == "Z" || format == "vz" || format.starts_with("w:")) return "binary";
  if (format.starts_with("ti")) return "interval";
  return format;
}

}  // namespace weald::arrow
