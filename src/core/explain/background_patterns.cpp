#include "core/explain/background_patterns.h"

#include <algorithm>
#include <bit>

namespace weald {

BetaTable::BetaTable(size_t size) : size_(size), value_(size * size) {
  for (size_t i = 0; i < size; ++i) {
    double* row = value_.data() + i * size;
    row[0] = 1 / static_cast<double>(i + 1);
    for (size_t j = 1; j < size; ++j) row[j] = row[j - 1] * static_cast<double>(j) / static_cast<double>(i + j + 1);
  }
}

void BackgroundPatterns::close() {
  std::ranges::stable_sort(rows_, {}, &Row::pattern);
  size_t n = 0;
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (n > 0 && rows_[n - 1].pattern == rows_[i].pattern) {
      rows_[n - 1].weight += rows_[i].weight;
    } else {
      rows_[n++] = rows_[i];
    }
  }
  rows_.resize(n);
  rows_.shrink_to_fit();
}

struct BackgroundPatterns::Asked {
  uint64_t pattern, lacking;  // the row's bits; those that the background must have
  size_t d;
  bool pairs;
  const BetaTable& beta;
  std::span<double> out;
  double of_lacking = 0, of_lacking_pairs = 0;  // the same for every column that the row lacks

  void meet(const Row& row) {
    const uint64_t own = pattern & ~row.pattern;  // only the row does so
    const auto a = static_cast<size_t>(std::popcount(own)), b = static_cast<size_t>(std::popcount(lacking));
    if (a > 0) {
      const double added = row.weight * beta(a - 1, b);
      for (uint64_t left = own; left != 0; left &= left - 1) out[static_cast<size_t>(std::countr_zero(left))] += added;
    }
    if (b > 0) of_lacking -= row.weight * beta(a, b - 1);
    if (!pairs) return;
    if (b > 1) of_lacking_pairs += row.weight * beta(a, b - 2);
    for (uint64_t first = own; first != 0; first &= first - 1) {
      const auto w = static_cast<size_t>(std::countr_zero(first));
      for (uint64_t left = own & ((uint64_t{1} << w) - 1); left != 0; left &= left - 1) {
        out[place(static_cast<size_t>(std::countr_zero(left)), w)] += row.weight * beta(a - 2, b);
      }
      for (uint64_t left = lacking; left != 0; left &= left - 1) {
        const auto u = static_cast<size_t>(std::countr_zero(left));
        out[place(std::min(u, w), std::max(u, w))] -= row.weight * beta(a - 1, b - 1);
      }
    }
  }
  size_t place(size_t u, size_t w) const { return d + w * (w - 1) / 2 + u; }
};

// Rows begin … end agree in all bits above `bit`. A row of the background must have what the row lacks.
void BackgroundPatterns::descend(size_t begin, size_t end, int bit, Asked& asked) const {
  constexpr size_t few = 16;
  if (begin == end) return;
  if (bit < 0 || end - begin <= few) {
    for (size_t i = begin; i < end; ++i) {
      if ((asked.lacking & ~rows_[i].pattern) == 0) asked.meet(rows_[i]);
    }
    return;
  }
  const auto one = uint64_t{1} << static_cast<uint32_t>(bit);
  const auto first = rows_.begin() + static_cast<int64_t>(begin), last = rows_.begin() + static_cast<int64_t>(end);
  const auto set = std::partition_point(first, last, [&](const Row& row) { return (row.pattern & one) == 0; });
  const auto middle = static_cast<size_t>(set - rows_.begin());
  if ((asked.lacking & one) == 0) descend(begin, middle, bit - 1, asked);
  descend(middle, end, bit - 1, asked);
}

void BackgroundPatterns::explain(uint64_t pattern, size_t d, bool pairs, const BetaTable& beta,
                                 std::span<double> out) const {
  const uint64_t all = d == 64 ? ~uint64_t{0} : (uint64_t{1} << d) - 1;
  Asked asked{pattern, all & ~pattern, d, pairs, beta, out};
  descend(0, rows_.size(), static_cast<int>(d) - 1, asked);
  for (uint64_t first = asked.lacking; first != 0; first &= first - 1) {
    const auto w = static_cast<size_t>(std::countr_zero(first));
    out[w] += asked.of_lacking;
    if (!pairs) continue;
    for (uint64_t left = asked.lacking & ((uint64_t{1} << w) - 1); left != 0; left &= left - 1) {
      out[asked.place(static_cast<size_t>(std::countr_zero(left)), w)] += asked.of_lacking_pairs;
    }
  }
}

}  // namespace weald
