// A block of a coded table in memory: the codes of neighbouring rows, which stay the table's.
#pragma once

#include <cstdint>

#include "core/data/codes.h"

namespace weald {

// Rows first … first + n_rows − 1, numbered from 0. Dense columns point into `table`, which outlives the block; the
// entries of sparse ones are copied.
Codes block_of(const Codes& table, int64_t first, int64_t n_rows);

}  // namespace weald
