// The best two-way partition of the categories present in a node.
//
// Where a category has one mean (two classes, one target, Newton), the best partition is a prefix of the categories in
// order of that mean: the score is convex in the lanes, so its largest value lies on a vertex of the zonotope that the
// categories span, and those vertices are the prefixes (docs/methods/trees.md, 8). Missing rows on either side shift
// the zonotope and change nothing in the argument. Otherwise: every subset up to `subset_limit` categories, above that
// the order along the first principal axis of the categories' profiles.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/base/mathematics.h"
#include "core/tree/grow/histogram.h"
#include "core/tree/split/belief.h"
#include "core/tree/split/present.h"
#include "core/tree/split/split.h"

namespace weald {

inline constexpr size_t subset_limit = 10;

// Fills `present` and the scan's missing side from code order.
template <class Rows, class Criterion, int N>
void collect_order(const Rows& rows, std::span<const Entry> entries, Scan<Criterion, N>& scan,
                   PresentCategories& present) {
  present.clear(rows.lanes());
  int64_t* cell = nullptr;
  for (const Entry entry : entries) {
    const uint32_t code = entry_code(entry);
    if (code == 0) {
      rows.add(entry_row(entry), scan.missing.data());
      ++scan.n_missing;
      continue;
    }
    if (present.size() == 0 || present.code.back() != code) cell = present.append(code);
    rows.add(entry_row(entry), cell);
    ++present.n_rows.back();
  }
  scan.constant = present.size() + (scan.n_missing > 0 ? 1 : 0) < 2;
}

// The same from a histogram.
template <class Criterion, int N>
void collect_histogram(const int64_t* cells, uint32_t n_codes, int lanes, bool counted, Scan<Criterion, N>& scan,
                       PresentCategories& present) {
  const size_t stride = static_cast<size_t>(lanes) + (counted ? 1 : 0);
  const auto rows_of = [&](const int64_t* cell) { return counted ? cell[lanes] : scan.criterion().weight(cell); };
  present.clear(lanes);
  if (has_rows<N>(cells, lanes, counted)) {
    add_lanes(scan.missing, cells);
    scan.n_missing = std::max<int64_t>(1, rows_of(cells));
  }
  present.resize(n_codes);
  size_t n = 0;
  for (uint32_t code = 1; code <= n_codes; ++code) {
    const int64_t* cell = cells + stride * code;
    if (!has_rows<N>(cell, lanes, counted)) continue;
    present.code[n] = code;
    present.n_rows[n] = rows_of(cell);
    std::copy_n(cell, N > 0 ? N : lanes, present.lanes.data() + n * present.n_lanes);
    ++n;
  }
  present.resize(n);
  scan.constant = n + (scan.n_missing > 0 ? 1 : 0) < 2;
}

// Position of each category along the first principal axis of the profiles, (weight.size(), d), weighted. Power
// iteration with a fixed start and length: a heuristic order, but the same one everywhere.
std::vector<double> principal_positions(std::vector<double>& profile, size_t d, std::span<const double> weight);

template <class Criterion>
std::vector<double> positions_of(const Criterion& criterion, const PresentCategories& present) {
  const auto d = static_cast<size_t>(criterion.profile_size());
  std::vector<double> profile(present.size() * d), weight(present.size());
  for (size_t i = 0; i < present.size(); ++i) {
    criterion.profile(present.cell(i), profile.data() + i * d);
    weight[i] = static_cast<double>(criterion.weight(present.cell(i)));
  }
  return principal_positions(profile, d, weight);
}

void sort_by_position(std::span<const double> position, std::vector<size_t>& order);

// Categories in order of their means: by the rounded ones, and by whole numbers where these are too close.
template <class Criterion>
void sort_by_mean(const Criterion& criterion, const PresentCategories& present, std::vector<size_t>& order) {
  std::vector<std::pair<double, size_t>> mean(order.size());
  for (size_t i = 0; i < order.size(); ++i) mean[i] = {criterion.value(present.cell(i)), i};
  std::sort(mean.begin(), mean.end(), [&](const auto& a, const auto& b) {
    constexpr double rounding = 0x1p-50;
    const double by = b.first - a.first;
    if (std::abs(by) > rounding * (std::abs(a.first) + std::abs(b.first))) return by > 0;
    if (criterion.less(present.cell(a.second), present.cell(b.second))) return true;
    return a.second < b.second && !criterion.less(present.cell(b.second), present.cell(a.second));
  });
  for (size_t i = 0; i < order.size(); ++i) order[i] = mean[i].second;
}

template <class Criterion>
std::vector<size_t> category_order(const Criterion& criterion, const PresentCategories& present) {
  std::vector<size_t> order(present.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if constexpr (requires { Criterion::by_value; }) {
    sort_by_mean(criterion, present, order);
  } else if constexpr (Criterion::ordered) {
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return criterion.less(present.cell(a), present.cell(b)); });
  } else {
    sort_by_position(positions_of(criterion, present), order);
  }
  return order;
}

// Candidates are the prefixes of `order`; the tie-break code is the length of the prefix.
// `most`: at least one side has at most that many categories; 0: no limit.
template <class Criterion, int N>
void scan_prefixes(const PresentCategories& present, const std::vector<size_t>& order, size_t most,
                   Scan<Criterion, N>& scan) {
  clear_lanes(scan.left);
  int64_t n_left = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    add_lanes(scan.left, present.cell(order[i]));
    n_left += present.n_rows[order[i]];
    const auto length = static_cast<uint32_t>(i + 1);
    if (most > 0 && std::min(i + 1, order.size() - i - 1) > most) continue;
    scan.consider(length, i + 1 < order.size() ? length + 1 : 0, n_left);
  }
}

// Candidates are the subsets that hold the first category (the others are mirror images); the code is the bit mask.
template <class Criterion, int N>
void scan_subsets(const PresentCategories& present, Scan<Criterion, N>& scan) {
  const size_t m = present.size(), lanes = present.n_lanes;
  const uint32_t all = (uint32_t{1} << m) - 1;
  std::vector<int64_t> sums((size_t{all} + 1) * lanes, 0), n_rows(size_t{all} + 1, 0);
  for (uint32_t mask = 1; mask <= all; ++mask) {
    const uint32_t rest = mask & (mask - 1);
    const auto lowest = static_cast<size_t>(std::countr_zero(mask));
    for (size_t l = 0; l < lanes; ++l) sums[mask * lanes + l] = sums[rest * lanes + l] + present.cell(lowest)[l];
    n_rows[mask] = n_rows[rest] + present.n_rows[lowest];
  }
  for (uint32_t mask = 1; mask <= all; mask += 2) {
    set_lanes(scan.left, sums.data() + mask * lanes);
    scan.consider(mask, mask == all ? 0 : mask + 2, n_rows[mask]);
  }
}

// Candidates are single categories against all others; the code is the category's place.
template <class Criterion, int N>
void scan_one_hot(const PresentCategories& present, Scan<Criterion, N>& scan) {
  for (size_t i = 0; i < present.size(); ++i) {
    set_lanes(scan.left, present.cell(i));
    const auto place = static_cast<uint32_t>(i + 1);
    scan.consider(place, present.size() > 1 ? place + 1 : 0, present.n_rows[i]);
  }
}

// Per code of a column: its place in the order of the whole tree, and its weight there (tree_orders.h).
struct TreeOrder {
  std::vector<uint32_t> place;  // empty: no such order
  std::vector<int64_t> weight;
  std::vector<uint8_t> alone;  // whether the tree has one row of it
  bool rare = false;           // so few rows per category that the column may be an id
};

struct CategoryRules {
  bool one_hot = false;                // one category against the rest
  uint32_t most = 0;                   // see scan_prefixes; boosting: most categories of the listed side
  double rare_rows = 0;                // boosting: a category of fewer rows is never listed
  double group_rows = 0;               // boosting: from one candidate to the next, at least so many rows change sides
  double chance = 0;                   // what each category beyond the free ones gains by chance (boosting: each)
  double rare_weight = 0;              // boosting: as rare_rows, in units of the weight lane
  bool believes = false;               // boosting: the categories are judged by what their spread says of them
  NodeSpread spread = {};              // of the node's rows, if so
  double within = 0;                   // `chance` is so many rows' worth of loss; 0: it is not to be told anew
  double alone = 0;                    // what categories of one row have to gain besides, all together
  size_t free = 1;                     // categories that need not gain anything for being there
  const TreeOrder* in_tree = nullptr;  // forests: a second order to try

  bool may_be_id() const { return within > 0 && in_tree != nullptr && in_tree->rare; }
};

// Boosting holds back from categories: those listed on one side stand in order of smoothed values, few enough, none of
// them rare, and the split is judged by a stricter penalty (docs/methods/boosting.md, 10).
template <class Criterion>
concept CautiousOnCategories = requires(const Criterion& criterion, const int64_t* cell) {
  criterion.place(cell);
  criterion.for_categories();
  criterion.penalises_categories();
};

// Whether a side of categories alone could be refused.
template <class Criterion>
bool any_refused(const PresentCategories& present) {
  if constexpr (requires(const int64_t* cell) { Criterion::refused(cell); }) {
    for (size_t i = 0; i < present.size(); ++i) {
      if (Criterion::refused(present.cell(i))) return true;
    }
  }
  return false;
}

// A category and where it stands among the others.
using PlacedCategory = std::pair<double, size_t>;

// Puts the first n and the last n into their places; the rest stays between them, anyhow.
void sort_ends(std::vector<PlacedCategory>& all, size_t n);

// How many rows of a node some of its weight stands for, and whether these are too few to be listed.
struct Rarity {
  const CategoryRules& rules;
  double rows_a_weight;
  double rows(int64_t weight) const { return static_cast<double>(weight) * rows_a_weight; }
  bool operator()(int64_t weight) const {
    return rows(weight) < rules.rare_rows || static_cast<double>(weight) < rules.rare_weight;
  }
};

// Missing rows against all others, where neither are rare.
template <class Criterion, int N>
void scan_missing(uint32_t code, const Rarity& rare, Scan<Criterion, N>& scan) {
  if (scan.n_missing == 0) return;
  for (int l = 0; l < scan.left.size(); ++l) scan.left.data()[l] = scan.total().data()[l] - scan.missing.data()[l];
  const Criterion& judge = scan.criterion();
  if (rare(judge.weight(scan.missing.data())) || rare(judge.weight(scan.left.data()))) return;
  scan.consider(code, 0, scan.n_total() - scan.n_missing);
}

// Whether k of m categories gain more than by chance: of m numbers the k largest have squares of about 2 ln(m / k).
template <class Criterion, int N>
bool beyond_chance(double chance, size_t k, size_t m, const Scan<Criterion, N>& scan) {
  const Criterion& judge = scan.criterion();
  const Lanes<N>& total = scan.total();
  Lanes<N> right(total);
  for (int l = 0; l < right.size(); ++l) right.data()[l] -= scan.left.data()[l];
  const double gain = judge.score(scan.left.data()) + judge.score(right.data()) - judge.score(total.data());
  const auto n_listed = static_cast<double>(k);
  return gain > chance * n_listed * std::max(1.0, 2 * weald::log(static_cast<double>(m) / n_listed));
}

// The first `most` categories from either end of the order go left, all others right; code: how many, counted on from
// the end of the first series for the second, and after that one for all of them against missing.
template <class Criterion, int N>
void scan_ends(const PresentCategories& present, int32_t column, const CategoryRules& rules, Scan<Criterion, N>& scan,
               Split& split) {
  const Criterion strict = scan.criterion().for_categories();
  const Rarity rare{rules, static_cast<double>(scan.n_total()) /
                               std::max(1.0, static_cast<double>(strict.weight(scan.total().data())))};
  std::vector<PlacedCategory> order;
  for (size_t i = 0; i < present.size(); ++i) {
    if (!rare(strict.weight(present.cell(i)))) order.emplace_back(strict.place(present.cell(i)), i);
  }
  scan.judge_by(strict);
  const size_t m = order.size();
  const size_t n_listed = std::min<size_t>(m == present.size() ? m - 1 : m, rules.most > 0 ? rules.most : m);
  sort_ends(order, n_listed);
  for (size_t end = 0; end < 2; ++end) {
    clear_lanes(scan.left);
    int64_t n_left = 0;
    double n_group = 0;
    for (size_t k = 0; k < n_listed; ++k) {
      const size_t i = order[end == 0 ? k : m - 1 - k].second;
      add_lanes(scan.left, present.cell(i));
      n_left += present.n_rows[i];
      n_group += rare.rows(strict.weight(present.cell(i)));
      if (n_group < rules.group_rows) continue;
      n_group = 0;
      if (rules.chance > 0 && !beyond_chance(rules.chance, k + 1, m, scan)) continue;
      scan.consider(static_cast<uint32_t>(end * m + k + 1), 1, n_left);
    }
  }
  const auto all = static_cast<uint32_t>(2 * m + 1);
  scan_missing(all, rare, scan);
  // A split that the penalty leaves worse than none is none, also where splits of no gain are made.
  if (strict.penalises_categories() && !scan.gains()) return;
  if (!scan.offer(column, split)) return;
  std::vector<uint8_t> listed(present.size(), split.code == all ? 1 : 0);
  const bool from_end = split.code > m;
  for (size_t k = 0; split.code != all && k < (from_end ? split.code - m : split.code); ++k)
    listed[order[from_end ? m - 1 - k : k].second] = 1;
  for (size_t i = 0; i < present.size(); ++i) {
    (listed[i] != 0 ? split.left_codes : split.right_codes).push_back(present.code[i]);
  }
}

// Lists the categories of the best candidate, a prefix of `order`.
void list_prefix(const PresentCategories& present, const std::vector<size_t>& order, Split& split);

// The categories in the order of the tree.
std::vector<size_t> in_order_of(const TreeOrder& tree, const PresentCategories& present);

// The rules with what chance gives told by the spread of rows within the categories (docs/methods/trees.md, 8a): that
// of the whole node is too large where categories mean something. Few rows say little about it, so that the spread of
// the node counts as some of them; a category of one row says nothing of others, and has to gain that spread.
template <class Criterion, int N>
CategoryRules chance_within(const PresentCategories& present, CategoryRules rules, const Scan<Criterion, N>& scan) {
  constexpr double rows_of_node = 5;
  const Criterion& criterion = scan.criterion();
  const auto n_rows = static_cast<double>(scan.n_total());
  const double loss = rules.chance / rules.within * n_rows;
  double within = loss + criterion.score(scan.total().data());
  for (size_t i = 0; i < present.size(); ++i) within -= criterion.score(present.cell(i));
  if (scan.n_missing > 0) within -= criterion.score(scan.missing.data());
  const double spread = loss / (n_rows - 1);
  rules.chance = rules.within * spread;
  const double n_means = static_cast<double>(present.size()) + (scan.n_missing > 0 ? 1 : 0);
  // Where a category is worth −∞ (Poisson, a sum of 0), the spread of the node has to do.
  if (!std::isfinite(within)) return rules;
  const double noise = (std::max(0.0, within) + rows_of_node * spread) / (n_rows - n_means + rows_of_node);
  rules.chance = rules.within * noise;
  if (rules.in_tree == nullptr || noise >= spread) return rules;
  size_t n_alone = 0;
  for (const uint32_t code : present.code) n_alone += rules.in_tree->alone[code];
  rules.alone = rules.within * (spread - noise) * static_cast<double>(std::min(n_alone, present.size() - 1));
  return rules;
}

// Forgets the best candidate of a column that may be an id, if chance would give as much.
template <class Criterion, int N>
void refuse_chance(const CategoryRules& rules, Scan<Criterion, N>& scan) {
  if (rules.may_be_id() && scan.found() && !scan.gains()) scan.reset_best();
}

// Candidates are the prefixes in the order of the tree. A category has to gain only as much of what chance gives it as
// it has of its rows here: the others, which placed it too, are not fitted.
template <class Criterion, int N>
void scan_in_tree_order(const PresentCategories& present, int32_t column, const CategoryRules& rules,
                        Scan<Criterion, N>& scan, Split& split) {
  const TreeOrder& tree = *rules.in_tree;
  const std::vector<size_t> order = in_order_of(tree, present);
  scan_prefixes(present, order, rules.most, scan);
  double fitted = 0;
  for (size_t i = 0; i < present.size(); ++i) {
    fitted += static_cast<double>(scan.criterion().weight(present.cell(i))) /
              static_cast<double>(tree.weight[present.code[i]]);
  }
  if (scan.found()) scan.hold_back(rules.chance * fitted + rules.alone);
  refuse_chance(rules, scan);
  if (scan.offer(column, split)) list_prefix(present, order, split);
  scan.reset_best();
}

template <class Criterion, int N>
void scan_believed(const PresentCategories& present, int32_t column, const CategoryRules& rules,
                   Scan<Criterion, N>& scan, Split& split);  // believed.h

// Searches one categorical column and offers the best partition to `split`.
template <class Criterion, int N>
void scan_categories(const PresentCategories& present, int32_t column, const CategoryRules& given,
                     Scan<Criterion, N>& scan, Split& split) {
  if (scan.constant) return;
  const CategoryRules rules = given.within > 0 ? chance_within(present, given, scan) : given;
  if (rules.one_hot) {
    scan_one_hot(present, scan);
    if (!scan.offer(column, split)) return;
    for (size_t i = 0; i < present.size(); ++i) {
      (i + 1 == split.code ? split.left_codes : split.right_codes).push_back(present.code[i]);
    }
    return;
  }
  if constexpr (CautiousOnCategories<Criterion>) {
    if (rules.believes) return scan_believed(present, column, rules, scan, split);
    if (scan.criterion().cautious()) return scan_ends(present, column, rules, scan, split);
  }
  // Of two categories there is one partition, whatever their order; but it may have less to gain.
  if (rules.in_tree != nullptr && (present.size() > 2 || rules.within > 0))
    scan_in_tree_order(present, column, rules, scan, split);
  const bool small = present.size() <= subset_limit;
  bool subsets = small && (!Criterion::ordered || any_refused<Criterion>(present));
  std::vector<size_t> order;
  if (subsets) {
    scan_subsets(present, scan);
  } else {
    order = category_order(scan.criterion(), present);
    scan.set_limited(false);
    scan_prefixes(present, order, rules.most, scan);
    if (scan.found() && !scan.best_within_limits()) {
      scan.reset_best();
      scan.set_limited(true);
      subsets = small;
      subsets ? scan_subsets(present, scan) : scan_prefixes(present, order, rules.most, scan);
    }
  }
  if (rules.chance > 0 && scan.found() && present.size() > rules.free) {
    scan.hold_back(rules.chance * static_cast<double>(present.size() - rules.free) + rules.alone);
    refuse_chance(rules, scan);
  }
  if (!scan.offer(column, split)) return;
  if (!subsets) return list_prefix(present, order, split);
  for (size_t i = 0; i < present.size(); ++i) {
    const bool left = ((split.code >> i) & 1) != 0;
    (left ? split.left_codes : split.right_codes).push_back(present.code[i]);
  }
}

}  // namespace weald
