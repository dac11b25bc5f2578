// Grower: the sides of a node's rows.
#include <algorithm>
#include <cmath>

#include "core/tree/grow/grower.h"

namespace weald {

// Puts the rows of the left child first. Returns how many there are.
size_t Grower::part_rows(GrowNode& node, const Router& router, const NodeRecord& record) {
  if (items_ != nullptr) {
    return items_->part(node, router, node.depth + 1 < options_.max_depth && items_->groups().empty());
  }
  const size_t n_left = node.split.terms.empty() ? mark_rows(node, router) : mark_combined(node, record);
  partition_stable(ids_.data() + node.begin, node.size(), side_.data(), id_scratch_.data(),
                   [](uint32_t row) { return row; });
  statistic_->part(node.begin, node.size(), side_.data());
  return n_left;
}

// Writes which rows of the node go left into side_. Returns how many do.
size_t Grower::mark_rows(GrowNode& node, const Router& router) {
  const int32_t j = node.split.column;
  const GrowColumn& of_split = column(j);
  const auto ids = ids_of(node);
  if (!of_split.sparse) {
    return with_codes(of_split.data, of_split.width,
                      [&](const auto* codes) { return mark_sides(codes, router, ids, side_.data()); });
  }
  std::span<const Entry> listed;
  if (all_) {
    const auto range = std::lower_bound(node.sparse.begin(), node.sparse.end(), j,
                                        [](const SparseRange& r, int32_t wanted) { return r.column < wanted; });
    listed = sparse_columns_.load(*range, workers_.first());
  } else {
    listed = sparse_columns_.collect(of_split, ids, node.record, workers_.first());
  }
  const bool default_left = router.left(of_split.default_code);
  for (const uint32_t row : ids) side_[row] = default_left;
  size_t n_left = default_left ? ids.size() - listed.size() : 0;
  for (const Entry entry : listed) {
    side_[entry_row(entry)] = router.left(entry_code(entry));
    n_left += side_[entry_row(entry)];
  }
  return n_left;
}

size_t Grower::mark_combined(const GrowNode& node, const NodeRecord& record) {
  size_t n_left = 0;
  for (const uint32_t row : ids_of(node)) {
    const double value = combined_value(node.split.terms, row);
    side_[row] = std::isnan(value) ? record.missing_left : value <= record.threshold;
    n_left += side_[row];
  }
  return n_left;
}

}  // namespace weald
