// Trees of Poisson deviance, in a file of their own beside moments.cpp: each criterion takes its time to compile.
#pragma once

#include "core/tree/kinds/input.h"
#include "core/tree/split/gain.h"

namespace weald {

TreeArrays grow_poisson(const TreeCall& call, std::vector<uint32_t> ids, const PairRows& rows, int units,
                        Spread spread);
TreeArrays grow_poisson_many(const TreeCall& call, std::vector<uint32_t> ids, const LaneRows& rows,
                             const PoissonMany& deviance, Spread spread);

}  // namespace weald
