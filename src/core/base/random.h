// Counter-based random numbers: a draw is a pure function of (seed, purpose, two counters), so nothing depends on
// which thread asks first.
#pragma once

#include <cstdint>

namespace weald {

enum class Purpose : uint64_t {
  cut_sample = 1,
  node_path = 2,
  node_columns = 3,
  rounding = 4,
  random_split = 5,
  random_category = 6,
  level_columns = 7,
  tree_columns = 8,
  row_sample = 9,
  tree_seed = 10,
  bag = 11,
  combination = 12,
  combined_column = 13,
  coefficient = 14,
  class_bag = 15,
  ranking_pair = 40,
  row_order = 50,
  column_order = 51,
  resample = 60,
  inner_resample = 61
};

// A bijection of 64-bit words whose output bits all depend on all input bits (a multiply-xorshift finaliser).
constexpr uint64_t scramble(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// The draws of all b, for a loop over many.
class Draws {
 public:
  constexpr Draws(uint64_t seed, Purpose purpose, uint64_t a)
      : stem_(scramble(scramble(seed + golden * static_cast<uint64_t>(purpose)) + golden + a) + golden) {}
  constexpr uint64_t operator()(uint64_t b) const { return scramble(stem_ + b); }

 private:
  static constexpr uint64_t golden = 0x9e3779b97f4a7c15ULL;
  uint64_t stem_;
};

constexpr uint64_t draw(uint64_t seed, Purpose purpose, uint64_t a, uint64_t b = 0) {
  return Draws(seed, purpose, a)(b);
}

}  // namespace weald
