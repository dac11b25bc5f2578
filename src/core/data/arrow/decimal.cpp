#include "core/data/arrow/decimal.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

namespace weald {
namespace {

// Powers of ten that a double holds exactly: a quotient of two exact doubles is correctly rounded.
constexpr std::array<double, 23> kTens = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                          1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr std::uint64_t kExact = std::uint64_t{1} << 53;
constexpr std::uint32_t kBillion = 1'000'000'000;

using Words = std::array<std::uint32_t, 8>;  // the magnitude, least significant word first

bool read_magnitude(std::span<const std::byte> value, Words& words) {
  std::memcpy(words.data(), value.data(), value.size());
  const std::size_t n = value.size() / sizeof(std::uint32_t);
  const bool negative = (words[n - 1] >> 31) != 0;
  if (!negative) return false;
  std::uint64_t carry = 1;
  for (std::size_t i = 0; i < n; ++i) {
    carry += static_cast<std::uint32_t>(~words[i]);
    words[i] = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  return true;
}

std::string digits_of(Words words) {
  std::string digits;  // least significant first
  bool left = true;
  while (left) {
    std::uint64_t rest = 0;
    left = false;
    for (std::size_t i = words.size(); i-- > 0;) {
      const std::uint64_t part = (rest << 32) | words[i];
      words[i] = static_cast<std::uint32_t>(part / kBillion);
      rest = part % kBillion;
      left = left || words[i] != 0;
    }
    for (int k = 0; k < 9; ++k, rest /= 10) digits.push_back(static_cast<char>('0' + rest % 10));
  }
  return {digits.rbegin(), digits.rend()};
}

}  // namespace

double decimal_to_double(std::span<const std::byte> value, int scale) {
  Words words{};
  const bool negative = read_magnitude(value, words);
  std::uint32_t high = 0;
  for (std::size_t i = 2; i < words.size(); ++i) high |= words[i];
  const std::uint64_t low = (std::uint64_t{words[1]} << 32) | words[0];
  double magnitude = 0.0;
  if (high == 0 && low <= kExact && scale >= 0 && scale < static_cast<int>(kTens.size())) {
    magnitude = static_cast<double>(low) / kTens[static_cast<std::size_t>(scale)];
  } else {
    const std::string text = digits_of(words) + "e" + std::to_string(-scale);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), magnitude);
    if (error == std::errc::result_out_of_range) {
      magnitude = scale > 0 ? 0.0 : std::numeric_limits<double>::infinity();
    }
  }
  return negative ? -magnitude : magnitude;
}

}  // namespace weald
