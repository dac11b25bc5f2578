// Coding a block: rows of a table by the codebook of all its rows. Block functions (docs/architecture.md) take any rows
// of any block; what they add up is integers, so that the order of blocks never shows.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/pool.h"
#include "core/data/codes.h"
#include "core/data/encode/encode.h"
#include "core/data/encode/sparse.h"

namespace weald {

// The codes that `encode` gave these rows, if they were among those that made `codebook`. A number of an exact column
// that no row had there has no code: BadInput. Dense columns only.
Codes code_block(const Codes& codebook, std::span<const ColumnSource> columns, int64_t n_rows, Run& run);

// The same for rows of a sparse matrix; `placed`, by ascending position: columns that the caller gives in full.
Codes code_sparse_block(const Codes& codebook, const SparseView& matrix, std::span<const PlacedColumn> placed,
                        Run& run);

}  // namespace weald
