// A number for every column that tells its codes and their order, however rows are cut into blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "core/data/codes.h"

namespace weald {

// The sum over rows of (a mark of the row's number) · (its code), modulo 2^64. `first_row` is the number of the first
// row: the sums of the blocks of a table add up to those of the table. Sparse columns have the sums of dense ones.
std::vector<uint64_t> code_sums(const Codes& codes, uint64_t first_row);

}  // namespace weald
