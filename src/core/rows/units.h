// Gradients of a block as integers: their exponents are counted, the counts of all blocks added, and one power of two
// chosen from those (quantise.h); then each block has its units. The gradients themselves are boosting/losses, which
// reads rows one by one.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/pool.h"
#include "core/tree/newton/rows.h"
#include "core/tree/statistics/newton_units.h"

namespace weald {

// Of all rows of a block whose weight is not 0.
Exponents block_exponents(const Gradients& given, Run& run);

// pairs[2 i], pairs[2 i + 1]: g and h of row i, times its weight, in units of 2^-power. Rows of weight 0 have zeros.
void block_units(const Gradients& given, Powers powers, std::span<int64_t> pairs, Run& run);

}  // namespace weald
