// Statistics that are sums in lanes (statistics.h), and the search that compares them: the template behind the grower's
// interfaces. The hot loops are here, once for every kind of rows and every criterion.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/tree/grow/histogram.h"
#include "core/tree/grow/statistic.h"
#include "core/tree/rows/tree_orders.h"
#include "core/tree/split/categorical.h"
#include "core/tree/split/feeds.h"
#include "core/tree/split/random.h"
#include "core/tree/split/running.h"
#include "core/tree/split/split.h"

namespace weald {

template <class Rows, class Criterion>
class LaneSearch : public ColumnSearch {
 public:
  static constexpr int N = Rows::fixed_lanes;

  LaneSearch(const Rows& rows, const Criterion& criterion, const GrowOptions& options, bool counted)
      : rows_(rows),
        criterion_(criterion),
        options_(options),
        counted_(counted),
        scan_(criterion, rows.lanes(), Limits{options.min_rows_leaf, options.min_weight_leaf}) {}

  bool in_order(const Searched& at, std::span<const Entry> entries, Split& best) override {
    begin(at);
    if (at.column.kind == ColumnKind::categorical) {
      collect_order(rows_, entries, scan_, present_);
      search_present(at, best);
    } else {
      scan_ordered(rows_, entries, scan_);
      scan_.offer(at.j, best);
    }
    return scan_.constant;
  }

  bool in_cells(const Searched& at, const int64_t* cells, Split& best) override {
    begin(at);
    search_cells(at, cells, counted_, best);
    return scan_.constant;
  }

  bool in_listed(const Searched& at, std::span<const Entry> entries, std::span<const uint32_t>, Split& best) override {
    begin(at);
    if (options_.random) {
      const DrawnCut cut = scan_random_sparse(rows_, entries, at.column.default_code, at.column.kind, at.column.marks,
                                              at.word, scan_, at.n_rows);
      offer_drawn(at, cut, best);
    } else {
      scan_sparse(rows_, entries, at.column.default_code, scan_, at.n_rows);
      scan_.offer(at.j, best);
    }
    return scan_.constant;
  }

  bool reads_rows() const override { return true; }

  bool drawn(const Searched& at, std::span<const uint32_t> ids, Split& best) override {
    begin(at);
    const DrawnCut cut = with_codes(at.column.data, at.column.width, [&](const auto* codes) {
      return scan_random(rows_, codes, ids, at.column.kind, at.column.marks, at.word, scan_);
    });
    offer_drawn(at, cut, best);
    return scan_.constant;
  }

  bool drawn_in_cells(const Searched& at, const int64_t* cells, Split& best) override {
    begin(at);
    const DrawnCut cut = scan_random_cells(cells, at.column.n_codes, rows_.lanes(), counted_, at.column.kind,
                                           at.column.marks, at.word, scan_);
    offer_drawn(at, cut, best);
    return scan_.constant;
  }

  bool in_combination(const Searched& at, std::span<const Entry> entries, Split& best) override {
    begin(at);
    scan_order(rows_, entries, scan_);
    return scan_.offer(at.j, best);
  }

 protected:
  void begin(const Searched& at) { scan_.begin(at.lanes, at.n_rows, at.constraint); }

  void search_cells(const Searched& at, const int64_t* cells, bool counted, Split& best) {
    if (at.column.kind == ColumnKind::categorical) {
      collect_histogram(cells, at.column.n_codes, rows_.lanes(), counted, scan_, present_);
      search_present(at, best);
    } else {
      scan_histogram(cells, at.column.n_codes, rows_.lanes(), counted, scan_);
      scan_.offer(at.j, best);
    }
  }

  void search_present(const Searched& at, Split& best) {
    options_.random ? scan_random_categories(present_, at.j, at.word, scan_, best)
                    : scan_categories(present_, at.j, *at.rules, scan_, best);
  }

  void offer_drawn(const Searched& at, const DrawnCut& cut, Split& best) {
    if (!scan_.offer(at.j, best)) return;
    best.drawn = at.column.kind == ColumnKind::exact && cut.next != 0;
    best.threshold = cut.threshold;
  }

  const Rows& rows_;
  const Criterion& criterion_;
  const GrowOptions& options_;
  bool counted_;
  Scan<Criterion, N> scan_;
  PresentCategories present_;
};

template <class Rows, class Criterion>
class LaneStatistic : public Statistic {
 public:
  LaneStatistic(Rows rows, Criterion criterion, Spread given)
      : Statistic({rows.lanes(), Rows::unit_weights, rows_may_be_zero(rows), false, compacts(rows)}, std::move(given)),
        rows_(std::move(rows)),
        criterion_(std::move(criterion)) {}

  void add_rows(std::span<const uint32_t> ids, int64_t* lanes) const override {
    for (const uint32_t row : ids) rows_.add(row, lanes);
  }
  void add_histogram(const GrowColumn& column, std::span<const uint32_t> ids, bool counted,
                     int64_t* cells) const override {
    weald::add_histogram(rows_, column.data, column.width, ids, column.n_codes, counted, cells);
  }
  int64_t weight(const int64_t* lanes) const override { return criterion_.weight(lanes); }
  bool pure(const int64_t* lanes) const override { return criterion_.pure(lanes); }
  bool alike(const GrowNode&, std::span<const uint32_t> ids) const override {
    return rows_alike(rows_, criterion_, ids);
  }

  // The score of a node that predicts within its bounds, for a criterion that bounds hold back.
  double score(const GrowNode& node, std::span<const uint32_t> ids, const int64_t* lanes, bool leaves_only,
               std::vector<double>& means) const override {
    if (spread().means) {
      means.resize(means.size() + static_cast<size_t>(spread().n_outputs), 0.0);
      if (!leaves_only) fill_means(ids, criterion_.weight(lanes), means.data() + means.size() - spread().n_outputs);
    }
    if constexpr (HoldsScores<Criterion>) {
      if (std::isfinite(node.lower) || std::isfinite(node.upper)) {
        return criterion_.score_at(lanes, std::clamp(criterion_.value(lanes), node.lower, node.upper));
      }
    }
    return criterion_.score(lanes);
  }
  void fill_means(std::span<const uint32_t> ids, int64_t node_weight, double* means) const override {
    for (size_t o = 0; o < static_cast<size_t>(spread().n_outputs); ++o) {
      means[o] = mean_target(rows_, criterion_, spread(), ids, o, node_weight);
    }
  }
  std::vector<TreeOrder> orders(const std::vector<GrowColumn>& columns, std::span<const uint32_t> ids) const override {
    return tree_orders(columns, ids, rows_, criterion_);
  }
  bool lanes_alike(const int64_t* a, const int64_t* b) const override { return criterion_.alike(a, b); }
  TreeOrder order_of(const CategoryCells& cells) const override {
    return order_of_cells(cells, rows_.lanes(), criterion_);
  }

  std::unique_ptr<ColumnSearch> make_search(const GrowOptions& options, bool counted) const override {
    return std::make_unique<LaneSearch<Rows, Criterion>>(rows_, criterion_, options, counted);
  }
  std::unique_ptr<Statistic> gather(std::span<const uint32_t> ids, std::vector<int32_t>& lanes) const override {
    if constexpr (of_classes) {
      if (rows_.compact) {
        Rows rows = rows_.gather_compact(ids, lanes);
        return std::make_unique<LaneStatistic>(std::move(rows), compacted(criterion_, lanes), spread().gather(ids));
      }
    }
    return std::make_unique<LaneStatistic>(rows_.gather(ids), criterion_, spread().gather(ids));
  }

 private:
  static constexpr bool of_classes = std::is_same_v<Rows, ClassRows>;

  static bool compacts(const Rows& rows) {
    if constexpr (of_classes) return rows.compact;
    return false;
  }

  Rows rows_;
  Criterion criterion_;
};

}  // namespace weald
