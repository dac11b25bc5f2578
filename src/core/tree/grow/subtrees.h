// Grower, fifth part: small nodes put aside and grown afterwards, one thread each. Included by grow.h.
#pragma once

#include <numeric>

#include "core/tree/grow/grower.h"

namespace weald {

template <class Rows, class Criterion>
void Grower<Rows, Criterion>::grow_aside() {
  std::vector<GrownTree> parts(aside_.size());
  std::vector<size_t> by_size(aside_.size());
  std::iota(by_size.begin(), by_size.end(), size_t{0});
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](size_t a, size_t b) { return aside_[a].ids.size() > aside_[b].ids.size(); });
  parallel_for(run_, static_cast<int64_t>(aside_.size()), [&](int64_t i, int) {
    const size_t part = by_size[static_cast<size_t>(i)];
    parts[part] = grow_part(aside_[part]);
  });
  for (size_t i = 0; i < parts.size(); ++i) tree_.graft(aside_[i].record, std::move(parts[i]));
}

template <class Rows, class Criterion>
void Grower<Rows, Criterion>::put_aside(const Node& child) {
  Aside part{child.record, {}, child.depth, child.path, child.lower, child.upper, child.used, {}};
  if (tiles_ == nullptr) {
    const auto ids = ids_of(child);
    part.ids.assign(ids.begin(), ids.end());
  } else {
    for (const Item item : items(child.begin, child.end, child.in_second)) {
      part.ids.push_back(item.row);
      part.values.push_back(item.value);
    }
  }
  aside_.push_back(std::move(part));
}

// One subtree on its own compact copy: rows renumbered from 0, so that everything it touches is close together.
template <class Rows, class Criterion>
GrownTree Grower<Rows, Criterion>::grow_part(const Aside& part) {
  const size_t n = part.ids.size();
  // Parts have no row in common.
  for (uint32_t i = 0; !number_of_.empty() && i < n; ++i) number_of_[part.ids[i]] = i;
  std::vector<GrowColumn> columns(columns_);
  std::vector<std::unique_ptr<unsigned char[]>> storage(columns_.size());
  for (size_t j = 0; j < columns_.size(); ++j) {
    storage[j] = std::make_unique_for_overwrite<unsigned char[]>(n * static_cast<size_t>(columns_[j].width));
    columns[j].data = storage[j].get();
    with_codes(columns_[j].data, columns_[j].width, [&](const auto* from) {
      auto* to = reinterpret_cast<std::remove_const_t<std::remove_pointer_t<decltype(from)>>*>(storage[j].get());
      for (size_t i = 0; i < n; ++i) to[i] = from[part.ids[i]];
    });
  }
  std::vector<uint32_t> ids(n);
  std::iota(ids.begin(), ids.end(), 0U);
  Run run(&run_);
  Place place{part.path,
              part.depth,
              place_.tree_weight,
              part.lower,
              part.upper,
              part.used,
              number_of_.empty() ? RankedWhole{} : RankedWhole{&ranks_, part.ids, number_of_.data()},
              place_.orders};
  if constexpr (compacts) {
    if (options_.compact_lanes) {
      Rows rows = rows_.gather_compact(part.ids, place.lanes);
      const Criterion criterion = compacted(criterion_, place.lanes);
      for (int32_t& lane : place.lanes) lane = place_.lanes.empty() ? lane : place_.lanes[static_cast<size_t>(lane)];
      Grower grower(std::move(columns), n, std::move(ids), std::move(rows), criterion, spread_.gather(part.ids),
                    options_, run, std::move(place));
      return grower.grow();
    }
  }
  const auto gathered = [&] {
    if constexpr (packable) {
      if (tiles_ != nullptr) return Rows{Buffer<typename Rows::Value>::owned(part.values)};
    }
    return rows_.gather(part.ids);
  };
  Grower grower(std::move(columns), n, std::move(ids), gathered(), criterion_, spread_.gather(part.ids), options_, run,
                std::move(place));
  return grower.grow();
}

}  // namespace weald
