// grow_two of class_growers.h. Included by the files that make it for one kind of rows.
#pragma once

#include "core/tree/kinds/class_growers.h"
#include "core/tree/split/gain.h"

namespace weald {

template <class Rows>
TreeArrays grow_two(const TreeCall& call, std::vector<uint32_t> ids, Rows rows, int64_t total, const Spread& spread,
                    ClassCriterion criterion) {
  if (criterion == ClassCriterion::gini) return grow_flat(call, std::move(ids), std::move(rows), GiniTwo{}, spread);
  const bool errors = criterion == ClassCriterion::errors;
  const auto terms = std::make_shared<const EntropyTerms>(errors ? 0 : total);
  if (call.made != nullptr) call.made->terms = terms;
  return grow_flat(call, std::move(ids), std::move(rows), EntropyOrErrorsTwo(errors ? nullptr : terms.get()), spread);
}

}  // namespace weald
