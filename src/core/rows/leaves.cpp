#include "core/rows/leaves.h"

#include <algorithm>
#include <cmath>

#include "core/data/encode/order_key.h"

namespace weald {

void add_leaf_sums(std::span<const int64_t> pairs, std::span<const int32_t> leaf, std::span<int64_t> sums) {
  require(pairs.size() == 2 * leaf.size(), "one pair per row");
  for (size_t row = 0; row < leaf.size(); ++row) {
    if (leaf[row] < 0) continue;
    const size_t at = 2 * static_cast<size_t>(leaf[row]);
    require(at < sums.size(), "a row is in a leaf that is not there");
    sums[at] += pairs[2 * row];
    sums[at + 1] += pairs[2 * row + 1];
  }
}

void count_digits(const LeafValues& rows, std::span<const uint64_t> found, int pass, std::span<int64_t> counts) {
  require(counts.size() == n_digits * found.size() && pass >= 0 && pass < n_digit_passes, "256 counts per leaf");
  require(rows.leaf.size() == rows.value.size() && (rows.weight.empty() || rows.weight.size() == rows.value.size()),
          "one leaf and one weight per row");
  const int shift = 64 - leaf_digit_bits * (pass + 1);
  for (size_t row = 0; row < rows.leaf.size(); ++row) {
    if (rows.leaf[row] < 0) continue;
    const auto leaf = static_cast<size_t>(rows.leaf[row]);
    require(leaf < found.size(), "a row is in a leaf that is not there");
    // + 0.0 turns −0 into 0: the two are equal, so which one is taken must not show
    const uint64_t key = to_key(rows.value[row] + 0.0);
    if (pass > 0 && (key ^ found[leaf]) >> (shift + leaf_digit_bits) != 0) continue;
    counts[n_digits * leaf + ((key >> shift) & (n_digits - 1))] += rows.weight.empty() ? 1 : rows.weight[row];
  }
}

void take_digits(std::span<const int64_t> counts, int pass, std::span<uint64_t> found, std::span<int64_t> rank) {
  require(counts.size() == n_digits * found.size() && rank.size() == found.size(), "256 counts per leaf");
  const int shift = 64 - leaf_digit_bits * (pass + 1);
  for (size_t leaf = 0; leaf < found.size(); ++leaf) {
    const auto of_leaf = counts.subspan(n_digits * leaf, n_digits);
    uint64_t digit = 0, last = n_digits;
    for (; digit < n_digits; ++digit) {
      if (of_leaf[digit] == 0) continue;
      last = digit;
      if (rank[leaf] <= of_leaf[digit]) break;
      rank[leaf] -= of_leaf[digit];
    }
    if (last < n_digits) found[leaf] |= last << shift;
  }
}

double value_of_digits(uint64_t found) {
  return from_key(found);
}

template <class Number>
Number largest_of(std::span<const Number> number) {
  Number largest = 0;
  for (const Number each : number) largest = std::max(largest, each);
  return largest;
}

template uint16_t largest_of(std::span<const uint16_t>);
template uint32_t largest_of(std::span<const uint32_t>);

int64_t rank_of_share(double alpha, int64_t total) {
  const double wanted = alpha * static_cast<double>(total);
  auto rank = static_cast<int64_t>(std::min(std::ceil(wanted), static_cast<double>(total)));
  while (rank > 1 && static_cast<double>(rank - 1) >= wanted) --rank;
  return std::max<int64_t>(rank, 1);
}

}  // namespace weald
