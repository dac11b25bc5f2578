// Leaves of a block: what their rows add up to, order statistics of what their rows hold, and what they add to scores.
//
// An order statistic is found digit by digit, from the highest: all blocks count, per leaf, the next digit of those
// values that share the digits found so far; the counts of all blocks tell the digit. No value is moved or sorted, and
// counts are integers: median, quantile and Huber's δ are the same from any blocks in any order.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/check.h"

namespace weald {

// sums[2 leaf + lane] += the row's pair; rows of leaf −1 are in none.
void add_leaf_sums(std::span<const int64_t> pairs, std::span<const int32_t> leaf, std::span<int64_t> sums);

inline constexpr int leaf_digit_bits = 8, n_digit_passes = 8;
inline constexpr size_t n_digits = size_t{1} << leaf_digit_bits;

struct LeafValues {
  std::span<const double> value;    // (n)
  std::span<const int64_t> weight;  // (n) at least 0; empty: all 1
  std::span<const int32_t> leaf;    // (n); −1: in none
};

// counts[256 leaf + digit] += the weight of the leaf's rows with that digit and the digits found before.
void count_digits(const LeafValues& rows, std::span<const uint64_t> found, int pass, std::span<int64_t> counts);
// Adds to `found` the digit of the value at which the weight, from the smallest value up, reaches `rank` (from 1);
// `rank` becomes what is left of it among the values that share the digits. A leaf without rows stays as it is.
void take_digits(std::span<const int64_t> counts, int pass, std::span<uint64_t> found, std::span<int64_t> rank);
// The value of all digits.
double value_of_digits(uint64_t found);
// The least weight, at least 1, that is the share α of `total` or more: the rank of a quantile.
int64_t rank_of_share(double alpha, int64_t total);

// The largest of some numbers of nodes; 0 of none. For uint16_t and uint32_t.
template <class Number>
Number largest_of(std::span<const Number> number);

// scores[i] += values[leaf[i]] for n rows. Inline: the trees of memory call it with leaves of two widths.
template <class Leaf>
void add_leaf_values(const double* values, const Leaf* leaf, size_t n, double* scores) {
  for (size_t i = 0; i < n; ++i) scores[i] += values[leaf[i]];
}

}  // namespace weald
