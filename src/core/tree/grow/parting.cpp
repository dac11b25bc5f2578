// Grower: the split of a node as the model keeps it, and the sides of its rows.
#include <algorithm>
#include <cmath>

#include "core/tree/grow/grower.h"

namespace weald {

namespace {

double threshold_of(const GrowColumn& column, const Split& split) {
  if (split.next_code != 0 && split.drawn) return split.threshold;
  return threshold_between(column.kind, column.marks, split.code, split.next_code);
}

// The largest code that goes left. Between the neighbouring values of a node there may be values of rows elsewhere.
uint32_t last_code(const GrowColumn& column, const Split& split, double threshold) {
  if (split.next_code == 0) return column.n_codes;
  if (column.kind != ColumnKind::exact) return split.code;
  const double* first = column.marks + split.code - 1;
  const double* last = column.marks + split.next_code - 1;
  return split.code + static_cast<uint32_t>(std::upper_bound(first, last, threshold) - first) - 1;
}

}  // namespace

// Rows the node did not see (missing, absent categories) follow the heavier child, so that a set lists the categories
// of the lighter one. They stay in the table `listed_` until expand() clears them.
Router Grower::write_split(const GrowNode& node, NodeRecord& record) {
  const Split& split = node.split;
  const GrowColumn& of_split = column(split.column);
  const int64_t left_weight = statistic_->weight(split.left.data());
  const bool heavier_left = left_weight >= record.weight - left_weight;
  record.column = split.column;
  record.gain = std::ldexp(node.worth, statistic_->spread().score_power) * statistic_->spread().factor;
  record.missing_left = split.saw_missing ? split.missing_left : heavier_left;
  if (!split.terms.empty()) {
    record.kind = SplitKind::combination;
    record.column = -1;
    record.threshold = split.threshold;
    record.terms = split.terms;
    return {};
  }
  if (of_split.kind != ColumnKind::categorical) {
    record.threshold = threshold_of(of_split, split);
    record.code = last_code(of_split, split, record.threshold);
    // Rows that add nothing to the sums are not seen by these: they too go where their values go.
    return {record.missing_left, record.code};
  }
  record.kind = SplitKind::categories;
  record.set_left = !heavier_left;
  record.set = heavier_left ? split.right_codes : split.left_codes;
  std::sort(record.set.begin(), record.set.end());
  listed_.resize(std::max(listed_.size(), (size_t{of_split.n_codes} >> 6) + 1), 0);
  flip_listed(record.set);
  return {record.missing_left, 0, listed_.data(), record.set_left};
}

// Sets codes in the table, or clears them again: work for the codes named, not for all of the column.
void Grower::flip_listed(std::span<const uint32_t> codes) {
  for (const uint32_t code : codes) listed_[code >> 6] ^= uint64_t{1} << (code & 63);
}

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
