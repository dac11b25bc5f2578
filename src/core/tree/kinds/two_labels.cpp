// Two classes, every row counts once.

#include "core/tree/kinds/two_classes.h"

namespace weald {

template TreeArrays grow_two<LabelRows>(const TreeCall&, std::vector<uint32_t>, LabelRows, int64_t, const Spread&,
                                        ClassCriterion);

}  // namespace weald
