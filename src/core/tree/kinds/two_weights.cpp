// Two classes, rows have weights.

#include "core/tree/kinds/two_classes.h"

namespace weald {

template TreeArrays grow_two<PairRows>(const TreeCall&, std::vector<uint32_t>, PairRows, int64_t, const Spread&,
                                       ClassCriterion);

}  // namespace weald
