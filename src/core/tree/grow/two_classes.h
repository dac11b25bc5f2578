// grow_two of class_growers.h. Included by the files that make it for one kind of rows.
#pragma once

#include "core/tree/grow/class_growers.h"
#include "core/tree/grow/input.h"
#include "core/tree/split/gain.h"

namespace weald {

template <class Rows>
TreeArrays grow_two(const Codes& codes, std::vector<uint32_t> ids, Rows rows, int64_t total, const Spread& spread,
                    ClassCriterion criterion, const GrowOptions& options, Run& run) {
  if (criterion == ClassCriterion::gini) {
    return grow_flat(codes, std::move(ids), std::move(rows), GiniTwo{}, spread, options, run);
  }
  if (criterion == ClassCriterion::errors) {
    return grow_flat(codes, std::move(ids), std::move(rows), ErrorsTwo{}, spread, options, run);
  }
  const EntropyTerms terms(total);
  return grow_flat(codes, std::move(ids), std::move(rows), EntropyTwo(&terms), spread, options, run);
}

}  // namespace weald
