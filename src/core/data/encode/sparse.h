// From a sparse matrix to sparse codes: the same codes and marks that `encode` gives its dense copy, at a cost of the
// entries present. A column lists the rows whose code is not that of 0 (see codes.h).
#pragma once

#include <cstdint>
#include <span>

#include "core/base/pool.h"
#include "core/data/codes.h"
#include "core/data/encode/encode.h"
#include "core/data/sparse_view.h"

namespace weald {

// A column of the matrix that the caller gives in full (levels): its entries in the matrix are passed over.
struct PlacedColumn {
  int64_t position;
  ColumnSource source;
};

// `kind`: exact or binned, for the columns of the matrix. `placed`: by ascending position. Others as in `encode`.
Codes encode_sparse(const SparseView& matrix, ColumnKind kind, std::span<const PlacedColumn> placed,
                    std::span<const int64_t> weights, uint32_t max_bins, Run& run, int64_t limit = sample_limit);

}  // namespace weald
