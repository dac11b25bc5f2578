#include "core/tree/kinds/poisson.h"

namespace weald {

TreeArrays grow_poisson(const TreeCall& call, std::vector<uint32_t> ids, const PairRows& rows, int units,
                        Spread spread) {
  return grow_flat(call, std::move(ids), rows, PoissonDeviance(units), std::move(spread));
}

TreeArrays grow_poisson_many(const TreeCall& call, std::vector<uint32_t> ids, const LaneRows& rows,
                             const PoissonMany& deviance, Spread spread) {
  return grow_flat(call, std::move(ids), rows, deviance, std::move(spread));
}

}  // namespace weald
