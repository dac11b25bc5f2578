#include "core/boosting/adaboost/adaboost.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/boosting/adaboost/search.h"
#include "core/tree/grow/node_numbers.h"
#include "core/tree/split/gain.h"

namespace weald {

namespace {

constexpr size_t row_block = 8192;

// What the search needs of the weights: by place, and their sums.
struct Weighed {
  std::vector<int64_t> by_place;
  std::vector<int64_t> total;  // by class
  int64_t n_present = 0;
};

Weighed weigh(const StumpRows& rows, std::span<const int64_t> weights, Run& run) {
  Weighed out;
  const size_t n = rows.n_rows();
  out.by_place.resize(n);
  parallel_for(run, static_cast<int64_t>((n + row_block - 1) / row_block), [&](int64_t block, int) {
    const size_t first = static_cast<size_t>(block) * row_block;
    for (size_t i = first; i < std::min(n, first + row_block); ++i) out.by_place[i] = weights[rows.row_of()[i]];
  });
  out.total.assign(static_cast<size_t>(rows.n_classes()), 0);
  constexpr __int128 limit = __int128{1} << 62;
  __int128 all = 0;
  int64_t signs = 0;
  for (size_t k = 0; k < out.total.size(); ++k) {
    __int128 sum = 0;
    int64_t n_present = 0;
    for (size_t i = rows.class_start()[k]; i < rows.class_start()[k + 1]; ++i) {
      sum += out.by_place[i];
      signs |= out.by_place[i];
      n_present += out.by_place[i] != 0;
    }
    out.total[k] = static_cast<int64_t>(sum);
    out.n_present += n_present;
    all += sum;
  }
  require(signs >= 0 && all < limit, "weights of at least 0, with a sum below 2^62");
  return out;
}

// The class of the largest share; of equal ones the first.
int32_t largest(const int64_t* lanes, int n_lanes, int64_t weight) {
  int best = 0;
  const auto share = [&](int k) { return static_cast<double>(lanes[k]) / static_cast<double>(weight); };
  for (int k = 1; k < n_lanes; ++k) best = share(k) > share(best) ? k : best;
  return best;
}

// The largest code that goes left: between the neighbouring values there may be those of absent rows.
uint32_t last_code(const CodeColumn& column, const Split& split, double threshold) {
  if (split.next_code == 0) return column.n_codes;
  if (column.kind != ColumnKind::exact) return split.code;
  const double* first = column.marks.data() + split.code - 1;
  const double* last = column.marks.data() + split.next_code - 1;
  return split.code + static_cast<uint32_t>(std::upper_bound(first, last, threshold) - first) - 1;
}

// The split as the model keeps it: rows that were not seen follow the heavier side (as the grower has it).
void write_split(const StumpRows& rows, const Split& split, int64_t left_weight, NodeRecord& root) {
  const CodeColumn& column = *rows.columns()[static_cast<size_t>(split.column)].codes;
  const bool heavier_left = left_weight >= root.weight - left_weight;
  root.column = split.column;
  root.gain = std::max(0.0, split.score - root.score);
  root.missing_left = split.saw_missing ? split.missing_left : heavier_left;
  if (column.kind != ColumnKind::categorical) {
    root.threshold = threshold_between(column.kind, column.marks.data(), split.code, split.next_code);
    root.code = last_code(column, split, root.threshold);
    return;
  }
  root.kind = SplitKind::categories;
  root.set_left = !heavier_left;
  root.set = heavier_left ? split.right_codes : split.left_codes;
  std::sort(root.set.begin(), root.set.end());
}

// What the stump predicts for each row, and how many present rows go left.
int64_t answer(const StumpRows& rows, const NodeRecord& root, std::span<const int64_t> weights, int32_t left_class,
               int32_t right_class, std::span<int32_t> predicted, Run& run) {
  const CodeColumn& column = *rows.columns()[static_cast<size_t>(root.column)].codes;
  const bool by_set = root.kind == SplitKind::categories;
  std::vector<uint8_t> listed(by_set ? size_t{column.n_codes} + 1 : 0, 0);
  for (const uint32_t code : root.set) listed[code] = 1;
  // Without a branch on the code, which nothing predicts: code − 1 of a missing row is the largest number of all.
  const uint32_t limit = root.code;
  const bool missing_left = root.missing_left, set_left = root.set_left;
  const auto goes_left = [&](uint32_t code) {
    const bool present = by_set ? (code != 0) & ((listed[code] != 0) == set_left) : code - 1 < limit;
    return present | (missing_left & (code == 0));
  };
  const size_t n = rows.n_rows(), n_blocks = (n + row_block - 1) / row_block;
  std::vector<int64_t> n_left(n_blocks, 0);
  with_codes(column, [&](const auto* data) {
    parallel_for(run, static_cast<int64_t>(n_blocks), [&](int64_t block, int) {
      const size_t first = static_cast<size_t>(block) * row_block;
      int64_t count = 0;
      for (size_t row = first; row < std::min(n, first + row_block); ++row) {
        const bool left = goes_left(static_cast<uint32_t>(data[row]));
        predicted[row] = left ? left_class : right_class;
        count += left & (weights[row] != 0);
      }
      n_left[static_cast<size_t>(block)] = count;
    });
  });
  int64_t total = 0;
  for (const int64_t count : n_left) total += count;
  return total;
}

template <class Criterion, int N>
TreeArrays grow(const StumpRows& rows, std::span<const int64_t> weights, const Weighed& weighed,
                const Criterion& criterion, Run& run, std::span<int32_t> predicted) {
  const int n_lanes = rows.n_classes();
  GrownTree tree;
  tree.n_lanes = n_lanes;
  const auto add_record = [&](const std::vector<int64_t>& lanes, int64_t n_rows) {
    NodeRecord record;
    record.n_rows = n_rows;
    record.weight = criterion.weight(lanes.data());
    record.score = criterion.score(lanes.data());
    record.impurity = -(record.score / static_cast<double>(record.weight));
    tree.nodes.push_back(std::move(record));
    tree.lanes.insert(tree.lanes.end(), lanes.begin(), lanes.end());
    return largest(lanes.data(), n_lanes, tree.nodes.back().weight);
  };
  const int32_t everywhere = add_record(weighed.total, weighed.n_present);
  Split split;
  if (!criterion.pure(weighed.total.data()) && weighed.n_present >= 2) {
    split = StumpSearch<Criterion, N>(rows, criterion, weighed.by_place, weighed.total, weighed.n_present, run).best();
  }
  if (!split.found()) {
    std::fill(predicted.begin(), predicted.end(), everywhere);
    return flatten(std::move(tree));
  }
  write_split(rows, split, criterion.weight(split.left.data()), tree.nodes[0]);
  std::vector<int64_t> right(weighed.total);
  for (size_t k = 0; k < right.size(); ++k) right[k] -= split.left[k];
  tree.nodes[0].left = 1;
  tree.nodes[0].right = 2;
  const int32_t left_class = add_record(split.left, 0), right_class = add_record(right, 0);
  const int64_t n_left = answer(rows, tree.nodes[0], weights, left_class, right_class, predicted, run);
  tree.nodes[1].n_rows = n_left;
  tree.nodes[2].n_rows = weighed.n_present - n_left;
  return flatten(std::move(tree));
}

}  // namespace

TreeArrays grow_stump(const StumpRows& rows, std::span<const int64_t> weights, ClassCriterion criterion, Run& run,
                      std::span<int32_t> predicted) {
  require(weights.size() == rows.n_rows() && predicted.size() == rows.n_rows(), "one weight and answer per row");
  require(criterion >= ClassCriterion::gini && criterion <= ClassCriterion::errors, "a known criterion");
  const Weighed weighed = weigh(rows, weights, run);
  if (weighed.n_present == 0) throw BadInput("no row has a positive weight");
  int64_t total = 0;
  for (const int64_t sum : weighed.total) total += sum;
  const std::vector<int> output_start{0, rows.n_classes()};
  const bool errors = criterion == ClassCriterion::errors;
  const EntropyTerms terms(criterion == ClassCriterion::entropy ? total : 0);
  if (rows.n_classes() == 2) {
    if (criterion == ClassCriterion::gini) return grow<GiniTwo, 2>(rows, weights, weighed, GiniTwo{}, run, predicted);
    const EntropyOrErrorsTwo judge(errors ? nullptr : &terms);
    return grow<EntropyOrErrorsTwo, 2>(rows, weights, weighed, judge, run, predicted);
  }
  if (criterion == ClassCriterion::gini)
    return grow<GiniMany, 0>(rows, weights, weighed, GiniMany(output_start), run, predicted);
  const EntropyOrErrorsMany judge(output_start, errors ? nullptr : &terms);
  return grow<EntropyOrErrorsMany, 0>(rows, weights, weighed, judge, run, predicted);
}

}  // namespace weald
