// DrawnGrower, second part: the best split of a node. Included by grower.h.
#pragma once

#include "core/tree/grow_drawn/grower.h"

namespace weald {

template <class Rows, class Criterion>
bool DrawnGrower<Rows, Criterion>::search(Scope& scope, const Node& node) {
  constexpr uint64_t nodes_between_checks = 256;
  if (n_searched_++ % nodes_between_checks == 0 || scope.level == 0) run_.check();
  const auto ids = ids_of(scope, node);
  if constexpr (summed) {
    sum_rows(scope, ids);
  }
  const Draws draws = column_draws(options_, node.path);
  best_.clear(Ties(options_, draws));
  best_together_ = ColumnsTogether::most;
  words_ = Draws(options_.seed, Purpose::random_split, node.path);
  const size_t n_columns = drawn_.size();
  const size_t wanted = options_.max_columns > 0 ? static_cast<size_t>(options_.max_columns) : n_columns;
  const size_t asked = std::min(wanted, n_columns);
  size_t n = together_ && scope.level > 1 ? search_together(draws, asked, scope, node) : 0;
  // After those asked for, one at a time until there is a split.
  for (; n < n_columns && (n < asked || !best_.found()); ++n) {
    const int32_t j = asked < n_columns ? drawn_.draw(draws, n) : drawn_[n];
    if (!unbeatable(node) || wins_ties(j)) search_column(j, scope, node);
  }
  if (asked < n_columns) drawn_.undraw(n);
  if (!best_.found()) return false;
  const double worth = std::max(0.0, best_.gain(node.score));
  return lowers_enough(options_, *scope.spread, worth, tree_weight_);
}

// Whether no other split can beat the best so far: only columns that win ties are then worth a look. Two rows can be
// parted in one way alone.
template <class Rows, class Criterion>
bool DrawnGrower<Rows, Criterion>::unbeatable(const Node& node) const {
  if (!best_.found()) return false;
  if (node.size() == 2) return best_.held_back == 0;
  if constexpr (requires { Criterion::most; }) return best_.score >= Criterion::most;
  return false;
}

// What each row of the node brings, which every column asks for.
template <class Rows, class Criterion>
void DrawnGrower<Rows, Criterion>::sum_rows(const Scope& scope, std::span<const uint32_t> ids) {
  if constexpr (Rows::packed) {
    if (halved_) {
      if (halves_.size() < ids.size()) halves_.resize(ids.size());
      for (size_t i = 0; i < ids.size(); ++i) halves_[i] = rows_of(scope).pack_halved(ids[i]);
      return;
    }
  }
  if (of_row_.size() < ids.size()) of_row_.resize(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) of_row_[i] = row_sum(rows_of(scope), ids[i]);
}

// The first columns of a node whose rows lie whole in memory. Returns how many.
template <class Rows, class Criterion>
size_t DrawnGrower<Rows, Criterion>::search_together(const Draws& draws, size_t asked, const Scope& scope,
                                                     const Node& node) {
  if constexpr (Rows::packed) {
    const auto ids = ids_of(scope, node);
    const size_t n_columns = drawn_.size();
    int32_t columns[ColumnsTogether::most];
    for (size_t k = 0; k < asked; ++k) columns[k] = asked < n_columns ? drawn_.draw(draws, k) : drawn_[k];
    cells_.resize(std::max(cells_.size(), ColumnsTogether::most * ids.size()));
    ColumnsTogether::Values low, high, most{};
    ColumnsTogether::gather(reinterpret_cast<const float*>(scope.cells.data()), n_columns, ids, {columns, asked},
                            cells_.data(), low, high);
    double threshold[ColumnsTogether::most];
    for (size_t k = 0; k < asked; ++k) {
      const uint64_t word = words_(static_cast<uint64_t>(columns[k]));
      threshold[k] = threshold_within(static_cast<double>(low[k]), static_cast<double>(high[k]), word);
      most[k] = rounded_down(threshold[k], 0.0F);
    }
    const auto left = ColumnsTogether::sum_up_to(most, cells_.data(), {halves_.data(), ids.size()});
    for (size_t k = 0; k < asked; ++k) {
      if (!(low[k] < high[k])) continue;
      take_threshold(columns[k], widened(left[k]), threshold[k]);
      if (best_.column == columns[k]) best_together_ = k;
    }
    return asked;
  }
  return 0;
}

template <class Rows, class Criterion>
void DrawnGrower<Rows, Criterion>::take_threshold(int32_t j, const Sum& left, double threshold) {
  BestSum found{bar(), 1};
  attempt(left, 0, found);
  if (found.at != 0 || loses(j, found.score)) return;
  int64_t lanes[2];
  to_lanes(left, lanes);
  offer(j, found.score, lanes);
  best_.next_code = 1;
  best_.drawn = true;
  best_.threshold = threshold;
}

template <class Rows, class Criterion>
void DrawnGrower<Rows, Criterion>::search_column(int32_t j, Scope& scope, const Node& node) {
  const DrawnColumn& column = table_.columns[static_cast<size_t>(j)];
  const View& seen = scopes_.view(j, scope, node.size());
  if (column.kind == ColumnKind::categorical) return search_ordered(j, seen, scope, node);
  if (options_.random) {
    if (seen.narrow != nullptr) return search_values(j, seen.narrow, seen.stride, scope, node);
    if (seen.wide != nullptr) return search_values(j, seen.wide, 1, scope, node);
    return search_drawn(j, seen, scope, node);
  }
  if (!summed || column.missing) return search_ordered(j, seen, scope, node);
  search_sums(j, seen, scope, node);
}

// Rows in code order: categories, missing rows, many lanes.
template <class Rows, class Criterion>
void DrawnGrower<Rows, Criterion>::search_ordered(int32_t j, const View& view, Scope& scope, const Node& node) {
  const auto ids = ids_of(scope, node);
  if (entries_.size() < ids.size()) {
    entries_.resize(ids.size());
    scratch_.resize(ids.size());
  }
  order_rows(view.data, view.width, ids, view.n_codes, entries_.data(), scratch_.data());
  const std::span<const Entry> entries{entries_.data(), ids.size()};
  scan_.begin(lanes_.data(), static_cast<int64_t>(ids.size()));
  if (table_.columns[static_cast<size_t>(j)].kind != ColumnKind::categorical) {
    scan_order(rows_of(scope), entries, scan_);
    scan_.offer(j, best_);
    return;
  }
  collect_order(rows_of(scope), entries, scan_, present_);
  if (options_.random) {
    const uint64_t word = words_(static_cast<uint64_t>(j));
    return scan_random_categories(present_, j, word, scan_, best_);
  }
  const int64_t weight = criterion_.weight(lanes_.data());
  const int64_t n_rows = static_cast<int64_t>(node.size());
  const CategoryRules rules{.chance = category_chance(options_, *scope.spread, node.impurity, weight, n_rows),
                            .within = options_.chance_within ? options_.category_chance : 0,
                            .free = options_.free_categories,
                            .in_tree = in_tree(orders_, j)};
  scan_categories(present_, j, rules, scan_, best_);
}

template <class Rows, class Criterion>
void DrawnGrower<Rows, Criterion>::search_sums(int32_t j, const View& view, Scope& scope, const Node& node) {
  if constexpr (summed) {
    const auto ids = ids_of(scope, node);
    sums_.make_room(ids.size());
    constexpr size_t most_codes = 64;  // per row: beyond, looking through the set of codes costs more than a sort
    with_codes(view.data, view.width, [&](const auto* codes) {
      if (ids.size() <= few_rows_sorted) return sums_.list_few(codes, ids, of_row_.data());
      if (view.n_codes <= most_codes * ids.size()) {
        return sums_.list_many(codes, ids, of_row_.data(), view.n_codes);
      }
      entries_.resize(std::max(entries_.size(), ids.size()));
      scratch_.resize(entries_.size());
      for (uint32_t i = 0; i < ids.size(); ++i) entries_[i] = (static_cast<Entry>(codes[ids[i]]) << 32) | i;
      sort_entries(entries_.data(), scratch_.data(), ids.size(), view.n_codes);
      sums_.take_entries({entries_.data(), ids.size()}, of_row_.data());
    });
    if (counted_) {
      with_codes(view.data, view.width, [&](const auto* codes) { sums_.count_rows(codes, ids, view.n_codes); });
    }
    scan_sums(j, node);
  }
}

// The best threshold between the codes listed; the first of equals.
template <class Rows, class Criterion>
void DrawnGrower<Rows, Criterion>::scan_sums(int32_t j, const Node& node) {
  if constexpr (summed) {
    if (sums_.size < 2) return;
    BestSum found{bar(), sums_.size};
    if constexpr (gini && Rows::packed) {
      if (sums_.size > GiniFilter::together && !limits_.bind()) {
        scan_filtered(found);
        return take_sum(j, found);
      }
    }
    const size_t last = sums_.size - 1;
    Sum left{};
    int64_t n_left = 0;
    for (size_t k = 0; k < last; ++k) {
      left += sums_.sum[k];
      if (limits_.bind()) {
        n_left += counted_ ? sums_.n_rows[k] : weight_of(sums_.sum[k]);
        if (!within_limits(left, n_left, static_cast<int64_t>(node.size()))) continue;
      }
      attempt(left, k, found);
    }
    take_sum(j, found);
  }
}

template <class Rows, class Criterion>
[[gnu::always_inline]] inline void DrawnGrower<Rows, Criterion>::attempt(const Sum& sum, size_t k,
                                                                         BestSum& found) const {
  int64_t left[2], right[2];
  to_lanes(sum, left);
  right[0] = lanes_[0] - left[0];
  right[1] = lanes_[1] - left[1];
  double score;
  if (Rows::unit_weights && lanes_[0] + lanes_[1] <= few_rows) {
    score = score_of_few_[static_cast<size_t>(left[0] * (few_rows + 1) + left[1])] +
            score_of_few_[static_cast<size_t>(right[0] * (few_rows + 1) + right[1])];
  } else {
    if (criterion_.hopeless(left, right, found.score)) return;
    score = criterion_.score(left) + criterion_.score(right);
  }
  if (score > found.score) found = {score, k, sum};
}

// Gini: sixteen candidates at a time, most of which are dismissed together.
template <class Rows, class Criterion>
void DrawnGrower<Rows, Criterion>::scan_filtered(BestSum& found) {
  constexpr size_t together = GiniFilter::together;
  const size_t last = sums_.size - 1, n_blocks = (last + together - 1) / together;
  if (left_.size() < n_blocks * together) left_.resize(n_blocks * together);
  Sum left{};
  for (size_t k = 0; k < last; ++k) left_[k] = left += sums_.sum[k];
  std::fill(left_.begin() + static_cast<std::ptrdiff_t>(last),
            left_.begin() + static_cast<std::ptrdiff_t>(n_blocks * together), Sum{});
  GiniFilter filter(lanes_.data());
  filter.raise(found.score);
  if constexpr (std::is_same_v<Sum, uint64_t>) {
    for (size_t b = filter.next_open(left_.data(), 0, n_blocks); b < n_blocks;
         b = filter.next_open(left_.data(), b + 1, n_blocks)) {
      for (size_t k = b * together; k < std::min(last, (b + 1) * together); ++k) attempt(left_[k], k, found);
      filter.raise(found.score);
    }
  }
}

template <class Rows, class Criterion>
void DrawnGrower<Rows, Criterion>::take_sum(int32_t j, const BestSum& found) {
  if (found.at == sums_.size || loses(j, found.score)) return;
  int64_t left[2];
  to_lanes(found.left, left);
  offer(j, found.score, left);
  best_.code = sums_.code[found.at];
  best_.next_code = sums_.code[found.at + 1];
}

template <class Rows, class Criterion>
int64_t DrawnGrower<Rows, Criterion>::weight_of(const Sum& sum) const {
  int64_t lanes[2];
  to_lanes(sum, lanes);
  return criterion_.weight(lanes);
}

template <class Rows, class Criterion>
bool DrawnGrower<Rows, Criterion>::within_limits(const Sum& left, int64_t n_left, int64_t n) const {
  const int64_t weight = weight_of(left);
  return limits_.allow(n_left, n - n_left, weight, criterion_.weight(lanes_.data()) - weight);
}

// Makes the candidate the best so far. It has passed the bar.
template <class Rows, class Criterion>
void DrawnGrower<Rows, Criterion>::offer(int32_t j, double score, const int64_t* left) {
  best_.score = score;
  best_.held_back = 0;
  best_.column = j;
  best_.missing_left = best_.saw_missing = best_.drawn = false;
  best_.left_codes.clear();
  best_.right_codes.clear();
  best_.left.assign(left, left + n_lanes_);
}

// A threshold drawn in value, where no row is missing.
template <class Rows, class Criterion>
template <class Value>
void DrawnGrower<Rows, Criterion>::search_values(int32_t j, const Value* values, size_t stride, Scope& scope,
                                                 const Node& node) {
  const auto ids = ids_of(scope, node);
  auto& own = std::get<std::vector<Value>>(values_);
  if (own.size() < ids.size()) own.resize(ids.size());
  const auto [low, high] = gather_range(values, stride, ids, own.data());
  if (!(low < high)) return;
  const uint64_t word = words_(static_cast<uint64_t>(j));
  const double threshold = threshold_within(static_cast<double>(low), static_cast<double>(high), word);
  const Value most = rounded_down(threshold, Value{});
  if constexpr (summed) {
    const std::span<const Value> of_node{own.data(), ids.size()};
    const Sum left = left_sum(most, of_node);
    if (limits_.bind()) {
      int64_t n_left = 0;
      for (size_t i = 0; i < ids.size(); ++i) n_left += own[i] <= most;
      if (!within_limits(left, n_left, static_cast<int64_t>(ids.size()))) return;
    }
    take_threshold(j, left, threshold);
  } else {
    scan_.begin(lanes_.data(), static_cast<int64_t>(ids.size()));
    int64_t n_left = 0;
    for (size_t i = 0; i < ids.size(); ++i) {
      if (!(own[i] <= most)) continue;
      rows_of(scope).add(ids[i], scan_.left.data());
      ++n_left;
    }
    scan_.consider(1, 2, n_left);
    if (!scan_.offer(j, best_)) return;
    best_.drawn = true;
    best_.threshold = threshold;
  }
}

// What the rows of the node add up to whose value is at most `most`.
template <class Rows, class Criterion>
template <class Value>
auto DrawnGrower<Rows, Criterion>::left_sum(Value most, std::span<const Value> values) const -> Sum {
  if constexpr (Rows::packed) {
    if (halved_) {
      Sum sum = 0;
      for (size_t first = 0; first < values.size(); first += halved_rows) {
        const auto some = values.subspan(first, std::min(halved_rows, values.size() - first));
        sum += widened(sum_up_to(most, some, halves_.data() + first));
      }
      return sum;
    }
  }
  return sum_up_to(most, values, of_row_.data());
}

// A threshold drawn among codes: bins, levels, missing rows.
template <class Rows, class Criterion>
void DrawnGrower<Rows, Criterion>::search_drawn(int32_t j, const View& view, Scope& scope, const Node& node) {
  const DrawnColumn& column = table_.columns[static_cast<size_t>(j)];
  const uint64_t word = words_(static_cast<uint64_t>(j));
  scan_.begin(lanes_.data(), static_cast<int64_t>(node.size()));
  const DrawnCut cut = with_codes(view.data, view.width, [&](const auto* codes) {
    return scan_random(rows_of(scope), codes, ids_of(std::as_const(scope), node), column.kind, column.marks, word,
                       scan_);
  });
  if (!scan_.offer(j, best_)) return;
  best_.drawn = column.kind == ColumnKind::exact && cut.next != 0;
  best_.threshold = cut.threshold;
}

}  // namespace weald
