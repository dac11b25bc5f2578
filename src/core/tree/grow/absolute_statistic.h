// Absolute error as the grower's statistic: rows in the order of their targets instead of sums (medians.h).
#pragma once

#include <iterator>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/tree/grow/statistic.h"
#include "core/tree/rows/tree_orders.h"
#include "core/tree/split/absolute.h"
#include "core/tree/statistics/medians.h"

namespace weald {

// The nodes that are searched together.
template <class Sum>
using TargetNodes = TargetNode<Sum>[2];

template <class Sum>
class AbsoluteSearch : public ColumnSearch {
 public:
  AbsoluteSearch(const TargetRows& rows, const TargetNodes<Sum>& nodes, const GrowOptions& options)
      : nodes_(nodes), options_(options), scan_(rows, Limits{options.min_rows_leaf, options.min_weight_leaf}) {}

  bool in_order(const Searched& at, std::span<const Entry> entries, Split& best) override {
    begin(at);
    scan_all(at, entries, best);
    return scan_.constant;
  }

  // Never asked: columns are always in order.
  bool in_cells(const Searched&, const int64_t*, Split&) override { return false; }
  bool drawn(const Searched&, std::span<const uint32_t>, Split&) override { return false; }
  bool reads_rows() const override { return false; }

  bool in_listed(const Searched& at, std::span<const Entry> entries, std::span<const uint32_t> ids,
                 Split& best) override {
    if (entries.empty()) return true;
    begin(at);
    list_all_rows(at.column.default_code, entries, ids);
    scan_all(at, all_rows_, best);
    return scan_.constant;
  }

  bool in_combination(const Searched& at, std::span<const Entry> entries, Split& best) override {
    begin(at);
    scan_.scan(entries);
    return scan_.offer(at.j, best);
  }

 private:
  void begin(const Searched& at) { scan_.begin(nodes_[at.place], at.constraint); }

  // All rows of the node in code order.
  void scan_all(const Searched& at, std::span<const Entry> entries, Split& best) {
    const bool categorical = at.column.kind == ColumnKind::categorical;
    if (!options_.random) {
      categorical ? scan_.scan_categories(entries, at.rules->may_be_id()) : scan_.scan(entries);
      scan_.offer(at.j, best);
      return;
    }
    if (categorical) {
      scan_.scan_drawn_set(entries, at.word);
      scan_.offer(at.j, best);
      return;
    }
    CodeRange range;
    for (const Entry entry : entries) range.include(entry_code(entry));
    scan_.constant = range.constant();
    if (scan_.constant) return;
    const DrawnCut cut = range.draw(at.column.kind, at.column.marks, at.word);
    scan_.scan_one(entries, cut.code);
    if (!scan_.offer(at.j, best)) return;
    best.drawn = at.column.kind == ColumnKind::exact && cut.next != 0;
    best.threshold = cut.threshold;
  }

  // All rows of the node in code order: the listed ones and, at their place, those of the default code.
  void list_all_rows(uint32_t default_code, std::span<const Entry> listed, std::span<const uint32_t> ids) {
    std::vector<uint32_t> rows, others;
    for (const Entry entry : listed) rows.push_back(entry_row(entry));
    std::sort(rows.begin(), rows.end());
    std::set_difference(ids.begin(), ids.end(), rows.begin(), rows.end(), std::back_inserter(others));
    const auto at =
        std::find_if(listed.begin(), listed.end(), [&](Entry entry) { return entry_code(entry) > default_code; });
    all_rows_.assign(listed.begin(), at);
    for (const uint32_t row : others) all_rows_.push_back((static_cast<Entry>(default_code) << 32) | row);
    all_rows_.insert(all_rows_.end(), at, listed.end());
  }

  const TargetNodes<Sum>& nodes_;
  const GrowOptions& options_;
  AbsoluteScan<Sum> scan_;
  std::vector<Entry> all_rows_;
};

template <class Sum>
class AbsoluteStatistic : public Statistic {
 public:
  // `ids`: the rows to grow on, ascending, all below n_rows.
  AbsoluteStatistic(TargetRows rows, Spread given, std::span<const uint32_t> ids, size_t n_rows)
      : Statistic({1, false, false, true, false}, std::move(given)),
        rows_(std::move(rows)),
        order_(rows_, spread().target.get(), ids, n_rows) {}

  void add_rows(std::span<const uint32_t> ids, int64_t* lanes) const override {
    for (const uint32_t row : ids) rows_.add(row, lanes);
  }
  // Never asked: there are no histograms.
  void add_histogram(const GrowColumn&, std::span<const uint32_t>, bool, int64_t*) const override {}
  void fill_means(std::span<const uint32_t>, int64_t, double*) const override {}
  std::vector<TreeOrder> orders(const std::vector<GrowColumn>& columns, std::span<const uint32_t> ids) const override {
    return tree_rarities(columns, ids);
  }
  int64_t weight(const int64_t* lanes) const override { return lanes[0]; }
  bool pure(const int64_t*) const override { return false; }
  bool alike(const GrowNode& node, std::span<const uint32_t>) const override {
    return order_.alike(node.begin, node.size());
  }

  // A median is the target with half of the weight up to it; halfway to the next where exactly half ends at it.
  double score(const GrowNode& node, std::span<const uint32_t>, const int64_t*, bool,
               std::vector<double>& means) const override {
    Sum loss = 0;
    for (size_t o = 0; o < order_.n_outputs(); ++o) {
      const auto state = order_.state(o, node.begin, node.size());
      const auto targets = order_.targets(o, node.begin, node.size());
      const auto real = [&](size_t at) { return spread().target[targets[at - 1].row * order_.n_outputs() + o]; };
      const OrderedTarget& target = targets[state.at - 1];
      loss += state.loss(target.value);
      double median = real(state.at);
      if (2 * (state.before + target.weight) == state.weight) median += (real(state.at + 1) - median) / 2;
      means.push_back(median);
    }
    return -static_cast<double>(loss);
  }
  double gain(const GrowNode& node, double) const override {
    const Sum held_back = static_cast<Sum>(node.split.held_back);
    return static_cast<double>(nodes_[node.place].loss - static_cast<Sum>(node.split.loss) + held_back);
  }

  void begin_search(std::span<GrowNode*> nodes) override {
    for (const GrowNode* node : nodes) {
      order_.number_rows(node->begin, node->size());
      nodes_[node->place] = {order_, node->begin, node->size()};
    }
  }
  void end_search() override {
    for (TargetNode<Sum>& node : nodes_) node.release();
  }
  void part(size_t begin, size_t n, const uint8_t* side) override { order_.split(begin, n, side); }

  std::unique_ptr<ColumnSearch> make_search(const GrowOptions& options, bool) const override {
    return std::make_unique<AbsoluteSearch<Sum>>(rows_, nodes_, options);
  }
  std::unique_ptr<Statistic> gather(std::span<const uint32_t> ids, std::vector<int32_t>&) const override {
    std::vector<uint32_t> numbers(ids.size());
    std::iota(numbers.begin(), numbers.end(), 0U);
    return std::make_unique<AbsoluteStatistic>(rows_.gather(ids), spread().gather(ids), numbers, ids.size());
  }

 private:
  TargetRows rows_;
  TargetOrder<Sum> order_;
  TargetNodes<Sum> nodes_;
};

}  // namespace weald
