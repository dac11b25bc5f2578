#include "core/data/ascending.h"

#include <algorithm>

namespace weald {

// Places differ, so that a plain sort is a stable one.
void sort_ascending(std::vector<PlacedIndex>& entries) {
  std::sort(entries.begin(), entries.end());
}

}  // namespace weald
