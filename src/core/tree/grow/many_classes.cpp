#include "core/tree/grow/class_growers.h"
#include "core/tree/grow/input.h"
#include "core/tree/split/gain.h"

namespace weald {

TreeArrays grow_many(const Codes& codes, std::vector<uint32_t> ids, ClassRows rows, int64_t total, const Spread& spread,
                     const std::vector<int>& output_start, ClassCriterion criterion, const GrowOptions& options,
                     Run& run) {
  if (criterion == ClassCriterion::gini) {
    GiniMany gini(output_start);
    gini.by_inner = options.compact_lanes;
    return grow_flat(codes, std::move(ids), std::move(rows), gini, spread, options, run);
  }
  if (criterion == ClassCriterion::errors) {
    return grow_flat(codes, std::move(ids), std::move(rows), ErrorsMany(output_start), spread, options, run);
  }
  const EntropyTerms terms(total);
  EntropyMany entropy(output_start, &terms);
  entropy.by_inner = options.compact_lanes;
  return grow_flat(codes, std::move(ids), std::move(rows), entropy, spread, options, run);
}

}  // namespace weald
