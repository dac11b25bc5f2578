#include "core/tree/grow_drawn/together.h"

#include <cstring>
#include <utility>

#include "core/base/simd.h"

namespace weald {

namespace {

using Floats = float __attribute__((vector_size(32)));
using Words = uint32_t __attribute__((vector_size(32)));
using Values = ColumnsTogether::Values;
using Sums = ColumnsTogether::Sums;
using Gather = void (*)(const float*, size_t, std::span<const uint32_t>, const int32_t*, float*, Values&, Values&);

template <size_t... k>
[[gnu::always_inline]] inline void gather_columns(const float* cells, size_t stride, std::span<const uint32_t> ids,
                                                  const int32_t* columns, float* own, Values& low, Values& high,
                                                  std::index_sequence<k...>) {
  const int32_t at[] = {columns[k]...};
  const float* first = cells + ids[0] * stride;
  Floats least = {first[at[k]]...}, largest = least;
  for (size_t i = 0; i < ids.size(); ++i) {
    const float* row = cells + ids[i] * stride;
    const Floats values = {row[at[k]]...};
    std::memcpy(own + i * ColumnsTogether::most, &values, sizeof values);
    least = values < least ? values : least;
    largest = values > largest ? values : largest;
  }
  std::memcpy(low.data(), &least, sizeof least);
  std::memcpy(high.data(), &largest, sizeof largest);
}

template <size_t n>
void gather_baseline(const float* cells, size_t stride, std::span<const uint32_t> ids, const int32_t* columns,
                     float* own, Values& low, Values& high) {
  gather_columns(cells, stride, ids, columns, own, low, high, std::make_index_sequence<n>());
}
template <size_t n>
WEALD_TARGET_AVX2 void gather_avx2(const float* cells, size_t stride, std::span<const uint32_t> ids,
                                   const int32_t* columns, float* own, Values& low, Values& high) {
  gather_columns(cells, stride, ids, columns, own, low, high, std::make_index_sequence<n>());
}

constexpr Gather gathers[2][ColumnsTogether::most] = {
    {gather_baseline<1>, gather_baseline<2>, gather_baseline<3>, gather_baseline<4>, gather_baseline<5>,
     gather_baseline<6>, gather_baseline<7>, gather_baseline<8>},
    {gather_avx2<1>, gather_avx2<2>, gather_avx2<3>, gather_avx2<4>, gather_avx2<5>, gather_avx2<6>, gather_avx2<7>,
     gather_avx2<8>}};

[[gnu::always_inline]] inline void sum_columns(const Values& bounds, const float* own, std::span<const uint32_t> of_row,
                                               Sums& sums) {
  Floats bound;
  std::memcpy(&bound, bounds.data(), sizeof bound);
  Words sum = {};
  for (size_t i = 0; i < of_row.size(); ++i) {
    Floats values;
    std::memcpy(&values, own + i * ColumnsTogether::most, sizeof values);
    sum += of_row[i] & reinterpret_cast<Words>(values <= bound);
  }
  std::memcpy(sums.data(), &sum, sizeof sum);
}

void sum_baseline(const Values& bounds, const float* own, std::span<const uint32_t> of_row, Sums& sums) {
  sum_columns(bounds, own, of_row, sums);
}
WEALD_TARGET_AVX2 void sum_avx2(const Values& bounds, const float* own, std::span<const uint32_t> of_row, Sums& sums) {
  sum_columns(bounds, own, of_row, sums);
}

}  // namespace

void ColumnsTogether::gather(const float* cells, size_t stride, std::span<const uint32_t> ids,
                             std::span<const int32_t> columns, float* own, Values& low, Values& high) {
  gathers[static_cast<size_t>(simd_level())][columns.size() - 1](cells, stride, ids, columns.data(), own, low, high);
}

Sums ColumnsTogether::sum_up_to(const Values& bounds, const float* own, std::span<const uint32_t> of_row) {
  Sums sums;
  (simd_level() == Simd::avx2 ? sum_avx2 : sum_baseline)(bounds, own, of_row, sums);
  return sums;
}

}  // namespace weald
