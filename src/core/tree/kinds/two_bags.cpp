// Two classes, rows count as often as their bag has them.

#include "core/tree/kinds/two_classes.h"

namespace weald {

template TreeArrays grow_two<BagRows>(const TreeCall&, std::vector<uint32_t>, BagRows, int64_t, const Spread&,
                                      ClassCriterion);

}  // namespace weald
