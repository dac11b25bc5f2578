#include "core/tree/grow/input.h"
#include "core/tree/grow/tree.h"
#include "core/tree/split/newton_gain.h"

namespace weald {

TreeArrays grow_newton_tree(const Codes& codes, std::span<const int64_t> pairs, double lambda,
                            const GrowOptions& options, Run& run) {
  require(pairs.size() == 2 * static_cast<size_t>(codes.n_rows), "one pair a row");
  return grow_flat(codes, present_rows(codes.n_rows, {}), PairRows{pairs.data()}, Newton{lambda}, Spread{}, options,
                   run);
}

TreeArrays grow_narrow_tree(const Codes& codes, std::span<const NarrowRows::Value> values, double lambda,
                            const GrowOptions& options, Run& run) {
  require(values.size() == static_cast<size_t>(codes.n_rows), "one value a row");
  GrowOptions histograms = options;
  histograms.search = Search::histogram;
  return grow_flat(codes, present_rows(codes.n_rows, {}), NarrowRows{values.data()}, Newton{lambda}, Spread{},
                   histograms, run);
}

}  // namespace weald
