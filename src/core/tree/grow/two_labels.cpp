// Two classes, every row counts once.

#include "core/tree/grow/two_classes.h"

namespace weald {

template TreeArrays grow_two<LabelRows>(const Codes&, std::vector<uint32_t>, LabelRows, int64_t, const Spread&,
                                        ClassCriterion, const GrowOptions&, Run&);

}  // namespace weald
