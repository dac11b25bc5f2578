// Grower: small nodes put aside and grown afterwards, one thread each.
#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>

#include "core/tree/grow/grower.h"

namespace weald {

void Grower::put_aside(GrowNode&& child) {
  Aside part{std::move(child), {}, nullptr, {}};
  if (items_ == nullptr) {
    const auto ids = ids_of(part.node);
    part.ids.assign(ids.begin(), ids.end());
  } else {
    part.statistic = items_->take(part.node, part.ids);
    if (kept_.squares.known()) part.squares = items_->list_squares(part.node);
  }
  aside_.push_back(std::move(part));
}

void Grower::grow_aside() {
  std::vector<GrownTree> parts(aside_.size());
  std::vector<size_t> by_size(aside_.size());
  std::iota(by_size.begin(), by_size.end(), size_t{0});
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](size_t a, size_t b) { return aside_[a].ids.size() > aside_[b].ids.size(); });
  parallel_for(workers_.run(), static_cast<int64_t>(aside_.size()), [&](int64_t i, int) {
    const size_t part = by_size[static_cast<size_t>(i)];
    parts[part] = grow_part(aside_[part]);
  });
  for (size_t i = 0; i < parts.size(); ++i) tree_.graft(aside_[i].node.record, std::move(parts[i]));
}

// One subtree on its own compact copy: rows renumbered from 0, so that everything it touches is close together.
GrownTree Grower::grow_part(Aside& part) {
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
  Run run(&workers_.run());
  Place place{part.node.path,
              part.node.depth,
              place_.tree_weight,
              part.node.lower,
              part.node.upper,
              part.node.used,
              number_of_.empty() ? RankedWhole{} : RankedWhole{&orders_.ranks(), part.ids, number_of_.data()},
              place_.orders,
              {}};
  std::unique_ptr<Statistic> statistic = std::move(part.statistic);
  if (statistic == nullptr) statistic = statistic_->gather(part.ids, place.lanes);
  for (int32_t& lane : place.lanes) lane = place_.lanes.empty() ? lane : place_.lanes[static_cast<size_t>(lane)];
  if (items_ == nullptr && kept_.squares.known()) {
    for (const uint32_t row : part.ids) part.squares.push_back(kept_.squares.of_row[row]);
  }
  Grower grower(std::move(columns), n, std::move(ids), std::move(statistic), options_, run,
                {nullptr, nullptr, nullptr, kept_.scales, {part.squares, kept_.squares.unit}}, std::move(place));
  return grower.grow();
}

}  // namespace weald
