#include "core/resampling/plan.h"

#include <algorithm>

#include "core/base/random.h"

namespace weald {

namespace {

// ⌊word · n / 2^64⌋ for n below 2^32.
uint64_t below(uint64_t word, uint64_t n) {
  return ((word >> 32) * n + (((word & 0xffffffffULL) * n) >> 32)) >> 32;
}

// Up to so many rows the halves of a word are two draws: no row is likelier than another by more than 2^-16 of its
// share.
constexpr uint64_t rows_of_halves = uint64_t{1} << 16;

void draw_single(const Draws& draws, uint64_t n, std::span<int32_t> out) {
  const size_t size = out.size();
  if (n > rows_of_halves) {
    for (size_t j = 0; j < size; ++j) out[j] = static_cast<int32_t>(below(draws(j), n));
    return;
  }
  for (size_t j = 0; j + 1 < size; j += 2) {
    const uint64_t word = draws(j / 2);
    out[j] = static_cast<int32_t>(((word >> 32) * n) >> 32);
    out[j + 1] = static_cast<int32_t>(((word & 0xffffffffULL) * n) >> 32);
  }
  if (size % 2 == 1) out[size - 1] = static_cast<int32_t>(((draws(size / 2) >> 32) * n) >> 32);
}

void draw_within(const ResamplePlan& plan, const Draws& draws, std::span<int32_t> out) {
  for (size_t s = 0; s + 1 < plan.strata.size(); ++s) {
    const auto first = static_cast<size_t>(plan.strata[s]), last = static_cast<size_t>(plan.strata[s + 1]);
    for (size_t k = first; k < last; ++k) {
      out[static_cast<size_t>(plan.members[k])] = plan.members[first + below(draws(k), last - first)];
    }
  }
}

void draw_blocks(const ResamplePlan& plan, const Draws& draws, std::span<int32_t> out) {
  const auto n = static_cast<size_t>(plan.n), length = static_cast<size_t>(plan.block_length);
  const uint64_t n_starts = plan.circular ? n : n - length + 1;
  for (size_t first = 0, block = 0; first < n; first += length, ++block) {
    size_t row = below(draws(block), n_starts);
    for (size_t j = first; j < std::min(n, first + length); ++j) {
      out[j] = static_cast<int32_t>(row);
      row = row + 1 == n ? 0 : row + 1;
    }
  }
}

}  // namespace

void draw_rows(const ResamplePlan& plan, uint64_t seed, uint64_t resample, std::span<int32_t> out) {
  const Draws draws(seed, Purpose::resample, resample);
  if (plan.block_length > 0) {
    draw_blocks(plan, draws, out);
  } else if (!plan.members.empty()) {
    draw_within(plan, draws, out);
  } else {
    draw_single(draws, static_cast<uint64_t>(plan.n), out);
  }
}

uint64_t inner_seed(uint64_t seed, uint64_t resample) {
  return draw(seed, Purpose::inner_resample, resample);
}

}  // namespace weald
