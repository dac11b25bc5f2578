// Several columns of a small node at once: its rows lie whole in memory, so that the drawn cells of one row come
// together into one vector, and what every column needs of a row is one instruction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace weald {

class ColumnsTogether {
 public:
  static constexpr size_t most = 8;  // columns
  using Values = std::array<float, most>;
  using Sums = std::array<uint32_t, most>;

  // The rows `ids` of `cells`, which has `stride` cells per row, and the columns asked for; the least and the largest
  // value of each. Room for `most` values per row in `own`.
  static void gather(const float* cells, size_t stride, std::span<const uint32_t> ids, std::span<const int32_t> columns,
                     float* own, Values& low, Values& high);
  // Σ of_row over the rows whose value is at most `bounds`, for each column.
  static Sums sum_up_to(const Values& bounds, const float* own, std::span<const uint32_t> of_row);
};

}  // namespace weald
