// What an Arrow format string means to a table.
#pragma once

#include <string_view>

namespace weald::arrow {

// What a column is to the rest of weald.
enum class Unit { number, boolean, datetime, instant, duration, text, dictionary, unsupported };

// The element type of an array of numbers.
enum class Number { i8, u8, i16, u16, i32, u32, i64, u64, f32, f64, boolean };

// How the values lie in memory.
enum class Storage {
  plain,    // numbers that are used as they are
  bits,     // bools, eight per byte
  half,     // 16-bit floats → f32
  ticks,    // i32 or i64 counts of time → f64 microseconds
  decimal,  // little-endian two's complement of `width` bytes, times 10^-scale → f64
  text32,   // bytes and 32-bit offsets
  text64,   // bytes and 64-bit offsets
  view,     // 16-byte views: short text inline, long text in variadic buffers
  nothing,  // the null type: no values at all
  none,     // nothing a table can hold
};

struct Type {
  Unit unit = Unit::unsupported;
  Storage storage = Storage::none;
  Number number = Number::f64;  // element type in memory (plain, ticks)
  int width = 0;                // bytes of an element in memory (plain, half, ticks, decimal)
  double multiply = 1.0;        // ticks: microseconds in one tick
  int divide = 0;               // ticks: ticks in one microsecond, when they are finer than that
  int scale = 0;                // decimal: digits after the point
};

// The type of a format string such as "g", "tsu:UTC" or "d:10,2".
Type parse_type(std::string_view format);

// A word for a message: "list", "struct", "binary", ...
std::string_view type_word(std::string_view format);

int width_of(Number number);

}  // namespace weald::arrow
