// Quantile bins: the cuts of numeric columns, then the code of every row, 1 + the number of cuts below its value.
// What `encode` says of the sample of rows holds here.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/pool.h"
#include "core/data/codes.h"
#include "core/data/encode/encode.h"

namespace weald {

// Gives the columns `chosen` their marks, codes and memory; `weights` and `limit` as in `encode`.
void encode_binned(std::span<const ColumnSource> columns, std::span<const size_t> chosen,
                   std::span<const int64_t> weights, uint32_t max_bins, Codes& codes, Run& run, int64_t limit);

}  // namespace weald
