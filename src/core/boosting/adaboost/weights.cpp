#include "core/boosting/adaboost/weights.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "core/base/check.h"

namespace weald {

namespace {

constexpr int64_t weight_block = 16384;

// Calls body(first, last) for blocks of rows and adds up what it returns.
template <class Body>
int64_t sum_blocks(size_t n_rows, Run& run, Body body) {
  const auto n = static_cast<int64_t>(n_rows);
  const int64_t n_blocks = (n + weight_block - 1) / weight_block;
  std::vector<int64_t> sums(static_cast<size_t>(n_blocks), 0);
  parallel_for(run, n_blocks, [&](int64_t block, int) {
    const int64_t first = block * weight_block;
    sums[static_cast<size_t>(block)] =
        body(static_cast<size_t>(first), static_cast<size_t>(std::min(n, first + weight_block)));
  });
  int64_t total = 0;
  for (const int64_t sum : sums) total += sum;
  return total;
}

// The nearest whole number, half to even, of 0 … 2^52: adding 2^52 leaves no bits for fractions, and the bits of the
// sum count on from those of 2^52.
int64_t nearest(double value) {
  return std::bit_cast<int64_t>(value + 0x1p52) - std::bit_cast<int64_t>(0x1p52);
}

// The number if the flag is set, else 0. Which rows are wrong cannot be predicted, so nothing may branch on it.
int64_t only_if(bool flag, int64_t number) {
  return number & -static_cast<int64_t>(flag);
}

// Votes of two classes; as add_votes.
int64_t add_two(double* votes, const int32_t* predicted, double weight, const int32_t* label, const int64_t* units,
                size_t n) {
  int64_t sum = 0;
  const double for_class[2][2] = {{weight, 0.0}, {0.0, weight}};
  for (size_t i = 0; i < n; ++i) {
    const double zero = votes[2 * i] += for_class[predicted[i]][0],
                 one = votes[2 * i + 1] += for_class[predicted[i]][1];
    sum += only_if(static_cast<int32_t>(one > zero) != label[i], units[i]);
  }
  return sum;
}

}  // namespace

int64_t wrong_units(std::span<const uint8_t> wrong, std::span<const int64_t> units, Run& run) {
  require(wrong.size() == units.size(), "one flag per row");
  return sum_blocks(units.size(), run, [&](size_t first, size_t last) {
    int64_t sum = 0;
    for (size_t i = first; i < last; ++i) sum += only_if(wrong[i] != 0, units[i]);
    return sum;
  });
}

void reweigh(std::span<const double> values, std::span<const uint8_t> wrong, double for_right, double for_wrong,
             double total, Run& run, std::span<double> new_values, std::span<int64_t> units) {
  const size_t n = values.size();
  require(wrong.size() == n && new_values.size() == n && units.size() == n, "one flag and weight per row");
  std::vector<int64_t> of_wrong(n / static_cast<size_t>(weight_block) + 1, 0);
  const int64_t all = sum_blocks(n, run, [&](size_t first, size_t last) {
    int64_t sum = 0, wrong_sum = 0;
    for (size_t i = first; i < last; ++i) {
      const int64_t each = nearest(values[i]);
      sum += each;
      wrong_sum += only_if(wrong[i] != 0, each);
    }
    of_wrong[first / static_cast<size_t>(weight_block)] = wrong_sum;
    return sum;
  });
  int64_t n_wrong = 0;
  for (const int64_t sum : of_wrong) n_wrong += sum;
  require(all > 0, "some row weighs more than nothing");
  // If all rows with weight are of one kind, their factor cancels; it may be 0, by which nothing can be divided.
  if (n_wrong == 0 || n_wrong == all) for_right = for_wrong = 1.0;
  const double scale =
      total / (static_cast<double>(all - n_wrong) * for_right + static_cast<double>(n_wrong) * for_wrong);
  const double factors[2] = {for_right * scale, for_wrong * scale};
  sum_blocks(n, run, [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
      const double value = values[i] * factors[wrong[i] != 0 ? 1 : 0];
      new_values[i] = std::max(value, values[i] > 0 ? 1.0 : 0.0);
      units[i] = nearest(new_values[i]);
    }
    return int64_t{0};
  });
}

int64_t add_votes(std::span<double> votes, std::span<const int32_t> predicted, double weight,
                  std::span<const int32_t> label, std::span<const int64_t> units, Run& run) {
  const size_t n = predicted.size();
  require(n > 0 && label.size() == n && units.size() == n && votes.size() % n == 0, "one answer and label per row");
  const size_t n_classes = votes.size() / n;
  for (const int32_t each : predicted)
    require(each >= 0 && static_cast<size_t>(each) < n_classes, "class out of range");
  return sum_blocks(n, run, [&](size_t first, size_t last) {
    if (n_classes == 2) {
      return add_two(votes.data() + 2 * first, predicted.data() + first, weight, label.data() + first,
                     units.data() + first, last - first);
    }
    int64_t sum = 0;
    for (size_t i = first; i < last; ++i) {
      double* mine = votes.data() + i * n_classes;
      mine[predicted[i]] += weight;
      const auto best = static_cast<int32_t>(std::max_element(mine, mine + n_classes) - mine);
      sum += only_if(best != label[i], units[i]);
    }
    return sum;
  });
}

}  // namespace weald
