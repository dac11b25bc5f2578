#include "core/tree/kinds/class_growers.h"
#include "core/tree/split/gain.h"

namespace weald {

TreeArrays grow_many(const TreeCall& call, std::vector<uint32_t> ids, ClassRows rows, int64_t total,
                     const Spread& spread, const std::vector<int>& output_start, ClassCriterion criterion) {
  if (criterion == ClassCriterion::gini) {
    GiniMany gini(output_start);
    gini.by_inner = rows.compact;
    return grow_flat(call, std::move(ids), std::move(rows), gini, spread);
  }
  const bool errors = criterion == ClassCriterion::errors;
  const auto terms = std::make_shared<const EntropyTerms>(errors ? 0 : total);
  if (call.made != nullptr) call.made->terms = terms;
  EntropyOrErrorsMany judge(output_start, errors ? nullptr : terms.get());
  judge.by_inner = !errors && rows.compact;
  return grow_flat(call, std::move(ids), std::move(rows), judge, spread);
}

}  // namespace weald
