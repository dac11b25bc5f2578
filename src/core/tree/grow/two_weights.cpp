// Two classes, rows have weights.

#include "core/tree/grow/two_classes.h"

namespace weald {

template TreeArrays grow_two<PairRows>(const Codes&, std::vector<uint32_t>, PairRows, int64_t, const Spread&,
                                       ClassCriterion, const GrowOptions&, Run&);

}  // namespace weald
