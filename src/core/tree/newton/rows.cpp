#include "core/tree/newton/rows.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/tree/grow/grower.h"
#include "core/tree/newton/statistics.h"
#include "core/tree/newton/values.h"
#include "core/tree/statistics/newton_units.h"
#include "core/tree/statistics/quantise.h"

namespace weald {

namespace {

TreeArrays grow_rows(const Codes& codes, std::vector<uint32_t> ids, std::unique_ptr<Statistic> statistic,
                     const GrowOptions& grow, const NewtonOptions& options, Kept kept, Run& run) {
  kept.prunes = options.prune_after && options.gamma > 0;
  Grower grower(grow_columns(codes), static_cast<size_t>(codes.n_rows), std::move(ids), std::move(statistic), grow, run,
                kept);
  GrownTree tree = grower.grow();
  if (kept.prunes) tree.prune(options.gamma);
  return flatten(std::move(tree));
}

}  // namespace

NewtonRows::NewtonRows(const Codes& codes)
    : codes_(codes),
      n_rows_(static_cast<size_t>(codes.n_rows)),
      sparse_(std::any_of(codes.columns.begin(), codes.columns.end(), [](const CodeColumn& c) { return c.sparse; })),
      tiled_(!sparse_ || Tiles::suits(codes)),
      many_categories_(std::any_of(codes.columns.begin(), codes.columns.end(), [](const CodeColumn& c) {
        return c.kind == ColumnKind::categorical && c.n_codes > few_categories;
      })) {}

RowSquares NewtonRows::squares(const Gradients& given, const DrawnRows& drawn, Powers powers, Run& run) {
  if (!squared_) return {};
  const SquareUnit unit = square_rows(given, drawn, n_rows_, tops_, squares_, run);
  return {squares_, std::ldexp(unit.share, unit.power + 2 * powers.g)};
}

// The same of rows whose gradients in units take few bits: without weights, these are squared. Items carry them.
RowSquares NewtonRows::squares_of_items(const Gradients& given, const DrawnRows& drawn, Powers powers, Run& run) {
  if (!squared_ || !given.weight.empty()) return squares(given, drawn, powers, run);
  return {{}, 1.0, true};
}

template <class LaneOf>
RowSquares NewtonRows::squares_of_lanes(const Gradients& given, const DrawnRows& drawn, Powers powers,
                                        const LaneOf& lane_of, Run& run) {
  if (!squared_ || !given.weight.empty()) return squares(given, drawn, powers, run);
  squares_.resize(n_rows_);
  for (size_t i = 0; i < drawn.size(); ++i) squares_[drawn[i]] = {square_of_lane(lane_of(drawn[i])), 1};
  return {squares_, 1.0};
}

const SparseOrder* NewtonRows::sparse_order() {
  if (sparse_ && sparse_order_ == nullptr) {
    sparse_order_ = std::make_unique<SparseOrder>(sort_sparse_columns(grow_columns(codes_), n_rows_));
  }
  return sparse_order_.get();
}

DenseOrder* NewtonRows::dense_order() {
  constexpr size_t most_bytes = size_t{1} << 28;  // as much again as the entries of a growing tree
  if (codes_.columns.size() * n_rows_ * sizeof(Entry) > most_bytes) return nullptr;
  dense_order_.of_column.resize(codes_.columns.size());
  return &dense_order_;
}

NewtonTree NewtonRows::grow(const Gradients& given, const NewtonOptions& options, Run& run) {
  const bool stored = given.source == nullptr;
  require(!stored || (given.g.size() == given.h.size() && !given.g.empty() && given.g.size() % n_rows_ == 0),
          "one g and h per row and output");
  require(given.weight.empty() || given.weight.size() == n_rows_, "one weight per row");
  require(given.curvature.empty() || (stored && given.curvature.size() == n_rows_), "one curvature per row");
  const DrawnRows drawn = draw_rows(given.weight, options);
  NewtonTree tree;
  const bool one = !stored || given.g.size() == n_rows_;
  squared_ = options.believes_categories && one && many_categories_;
  if (!one || !options.narrow || !grow_packed(given, drawn, options, run, tree)) {
    tree = !one     ? grow_many(given, drawn, options, run)
           : stored ? grow_wide(given, drawn, options, run)
                    : grow_wide_from_source(given, drawn, options, run);
    place_drawn(tree, run);
  }
  place_others(tree, run);
  if (!given.curvature.empty() && tree.leaf_sums.empty()) {
    const Gradients stepped = given.stepped();
    tree.leaf_sums = real_sums(tree, stepped, drawn, count_all(stepped, drawn, run), run);
  }
  return tree;
}

NewtonTree NewtonRows::grow_wide_from_source(const Gradients& given, const DrawnRows& drawn,
                                             const NewtonOptions& options, Run& run) {
  std::vector<double> g(n_rows_), h(n_rows_);
  const size_t n_blocks = (n_rows_ + newton_row_block - 1) / newton_row_block;
  parallel_for(run, static_cast<int64_t>(n_blocks), [&](int64_t block, int) {
    const size_t first = static_cast<size_t>(block) * newton_row_block;
    given.source->fill(first, std::min(newton_row_block, n_rows_ - first), g.data() + first, h.data() + first);
  });
  return grow_wide({g, h, nullptr, given.weight, given.whole}, drawn, options, run);
}

template <class UnitsOfH>
void NewtonRows::fill_pairs(const Gradients& given, const DrawnRows& drawn, Powers powers, const UnitsOfH& units_of_h,
                            Run& run) {
  const double g_scale = scale_of(powers.g), h_scale = scale_of(powers.h);
  pairs_.resize(2 * n_rows_);
  for_rows(given, drawn, run, [&](const auto factors, int) {
    return [=, pairs = pairs_.data()](size_t, uint32_t row, double g, double h) {
      pairs[2 * size_t{row}] = factors.units(row, g, g_scale);
      pairs[2 * size_t{row} + 1] = units_of_h(factors, row, h, h_scale);
    };
  });
}

NewtonTree NewtonRows::grow_wide(const Gradients& given, const DrawnRows& drawn, const NewtonOptions& options,
                                 Run& run) {
  const Exponents exponents = count_all(given, drawn, run);
  tops_ = exponents.square_tops(!given.weight.empty());
  const Powers powers{common_power(exponents.g), common_power(exponents.h)};
  const auto units_of_h = [](const auto& factors, uint32_t row, double h, double scale) {
    return factors.units(row, h, scale);
  };
  fill_pairs(given, drawn, powers, units_of_h, run);
  const Newton criterion = criterion_in(options, powers);
  NewtonTree tree;
  GrowOptions grow = grow_options_in(options, powers);
  grow.must_gain = !options.zero_gain;
  grow.stop_alike = options.zero_gain;
  const PairRows rows{pairs_.data(), exponents.may_vanish(powers.h)};
  tree.arrays = grow_rows(codes_, drawn.list(), newton_statistic(rows, criterion), grow, options,
                          {nullptr, sparse_order(), dense_order(), {}, squares(given, drawn, powers, run)}, run);
  fill_values(tree, criterion, powers, tree.arrays.lanes, scale_of(powers.h - powers.g), options.min_weight);
  return tree;
}

// One tree for several outputs. All gradients share one unit, and all hessians one.
NewtonTree NewtonRows::grow_many(const Gradients& given, const DrawnRows& drawn, const NewtonOptions& options,
                                 Run& run) {
  const size_t n_outputs = given.g.size() / n_rows_;
  std::vector<Gradients> parts;
  Powers powers{std::numeric_limits<int>::max(), std::numeric_limits<int>::max()};
  for (size_t k = 0; k < n_outputs; ++k) {
    parts.push_back({given.g.subspan(k * n_rows_, n_rows_), given.h.subspan(k * n_rows_, n_rows_), nullptr,
                     given.weight, given.whole});
    const Exponents exponents = count_all(parts.back(), drawn, run);
    powers.g = std::min(powers.g, common_power(exponents.g));
    powers.h = std::min(powers.h, common_power(exponents.h));
  }
  // Room for the mean of the hessians over outputs, which is taken of their sum.
  powers.h -= static_cast<int>(std::bit_width(n_outputs));
  const double g_scale = scale_of(powers.g), h_scale = scale_of(powers.h);
  pairs_.resize(2 * n_outputs * n_rows_);
  for (size_t k = 0; k < n_outputs; ++k) {
    for_rows(parts[k], drawn, run, [&](const auto factors, int) {
      return [=, pairs = pairs_.data()](size_t, uint32_t row, double g, double h) {
        int64_t* lanes = pairs + 2 * n_outputs * row;
        lanes[k] = factors.units(row, g, g_scale);
        lanes[n_outputs + k] = factors.units(row, h, h_scale);
      };
    });
  }
  const NewtonMany criterion = many_in(options, powers, n_outputs);
  GrowOptions grow = grow_options_in(options, powers);
  grow.min_weight_leaf = 0;  // outputs fall silent one by one instead
  NewtonTree tree;
  const LaneRows rows{pairs_.data(), static_cast<int>(2 * n_outputs)};
  tree.arrays =
      grow_rows(codes_, drawn.list(), newton_statistic(rows, criterion), grow, options, {nullptr, sparse_order()}, run);
  fill_many_values(tree, criterion, powers);
  return tree;
}

// False if the gradients do not suit few bits.
bool NewtonRows::grow_packed(Gradients given, const DrawnRows& drawn, const NewtonOptions& options, Run& run,
                             NewtonTree& out) {
  const bool narrow = drawn.size() >= options.narrow_rows;
  if (narrow) given.whole = false;  // 16 bits hold a row's gradient, not that of many
  const Exponents exponents = count_all(given, drawn, run);
  const auto [powers, suits] = packed_powers(exponents, narrow);
  if (exponents.negative_h || !suits) return false;
  tops_ = exponents.square_tops(!given.weight.empty());
  if (tiled_ && tiles_ == nullptr) tiles_ = std::make_unique<Tiles>(codes_, run);
  out.arrays =
      narrow ? grow_narrow(given, drawn, powers, options, run) : grow_words(given, drawn, powers, options, run);
  out.narrow = narrow;
  !tiled_ ? place_drawn(out, run) : narrow ? place_items(out, narrow_items_, run) : place_items(out, word_items_, run);
  value_wide(given, drawn, exponents, powers, options, run, out);
  return true;
}

TreeArrays NewtonRows::grow_narrow(const Gradients& given, const DrawnRows& drawn, Powers powers,
                                   const NewtonOptions& options, Run& run) {
  const double g_scale = scale_of(powers.g), h_scale = scale_of(powers.h);
  const Draws rounding(options.grow.seed, Purpose::rounding, options.round);
  const auto value_of = [=](const auto& factors, uint32_t row, double g, double h) {
    return to_narrow(factors.factor(row) * g * g_scale, factors.factor(row) * h * h_scale, rounding(row));
  };
  const Newton criterion = criterion_in(options, powers);
  const GrowOptions grow = grow_options_in(options, powers);
  if (tiled_) {
    narrow_items_.first.resize(drawn.size());
    for_rows(given, drawn, run, [&](const auto factors, int) {
      return [=, items = narrow_items_.first.data()](size_t i, uint32_t row, double g, double h) {
        items[i] = {row, value_of(factors, row, g, h)};
      };
    });
    PackedItems<NarrowRows> items(*tiles_, narrow_items_, criterion);
    const RowSquares squared = squares_of_items(given, drawn, powers, run);
    return grow_rows(codes_, {}, newton_statistic(NarrowRows{}, criterion), grow, options,
                     {&items, nullptr, nullptr, {}, squared}, run);
  }
  narrow_.resize(n_rows_);
  for_rows(given, drawn, run, [&](const auto factors, int) {
    return [=, values = narrow_.data()](size_t, uint32_t row, double g, double h) {
      values[row] = value_of(factors, row, g, h);
    };
  });
  const RowSquares squared = squares_of_lanes(given, drawn, powers, [&](uint32_t row) { return narrow_[row].g; }, run);
  return grow_rows(codes_, drawn.list(), newton_statistic(NarrowRows{narrow_.data()}, criterion), grow, options,
                   {nullptr, sparse_order(), nullptr, {}, squared}, run);
}

TreeArrays NewtonRows::grow_words(const Gradients& given, const DrawnRows& drawn, Powers powers,
                                  const NewtonOptions& options, Run& run) {
  const double g_scale = scale_of(powers.g), h_scale = scale_of(powers.h);
  const Newton criterion = criterion_in(options, powers);
  const GrowOptions grow = grow_options_in(options, powers);
  if (!tiled_) {
    // Sorted entries need no words, but the same units: a sparse table grows the tree of its dense copy.
    const auto units_of_h = [](const auto& factors, uint32_t row, double h, double scale) {
      return factors.present_units(row, h, scale);
    };
    fill_pairs(given, drawn, powers, units_of_h, run);
    const RowSquares squared =
        squares_of_lanes(given, drawn, powers, [&](uint32_t row) { return pairs_[2 * size_t{row}]; }, run);
    return grow_rows(codes_, drawn.list(), newton_statistic(PairRows{pairs_.data(), false}, criterion), grow, options,
                     {nullptr, sparse_order(), nullptr, {}, squared}, run);
  }
  word_items_.first.resize(drawn.size());
  for_rows(given, drawn, run, [&](const auto factors, int) {
    return [=, items = word_items_.first.data()](size_t i, uint32_t row, double g_here, double h_here) {
      const auto g = static_cast<int32_t>(factors.small_units(row, g_here, g_scale));
      const auto h = static_cast<uint32_t>(factors.present_units(row, h_here, h_scale));
      items[i] = {row, {g, h}};
    };
  });
  PackedItems<WordRows> items(*tiles_, word_items_, criterion);
  const RowSquares squared = squares_of_items(given, drawn, powers, run);
  return grow_rows(codes_, {}, newton_statistic(NarrowRows{}, criterion), grow, options,
                   {&items, nullptr, nullptr, {}, squared}, run);
}

// Σ g and Σ h of every leaf in units, (leaves, 2).
// Rows are taken in their order, because gathering them leaf by leaf costs a cache line each.
std::vector<int64_t> NewtonRows::sum_leaves(const NewtonTree& tree, const Gradients& given, const DrawnRows& drawn,
                                            Powers powers, Run& run) const {
  const size_t n_leaves = tree.arrays.leaf_start.size() - 1;
  const double g_scale = scale_of(powers.g), h_scale = scale_of(powers.h);
  const bool counted = given.unit_h && given.weight.empty();
  std::vector<std::vector<int64_t>> parts(static_cast<size_t>(run.n_threads()), std::vector<int64_t>(2 * n_leaves, 0));
  with_leaves(tree, [&](const auto* leaf) {
    for_rows(given, drawn, run, [&](const auto factors, int worker) {
      return [=, part = parts[static_cast<size_t>(worker)].data()](size_t, uint32_t row, double g, double h) {
        int64_t* sums = part + 2 * size_t{leaf[row]};
        sums[0] += factors.units(row, g, g_scale);
        if (!counted) sums[1] += factors.units(row, h, h_scale);
      };
    });
  });
  for (size_t p = 1; p < parts.size(); ++p) {
    for (size_t i = 0; i < parts[0].size(); ++i) parts[0][i] += parts[p][i];
  }
  if (counted) fill_counts(tree.arrays, h_scale, parts[0]);
  return std::move(parts[0]);
}

std::vector<double> NewtonRows::real_sums(const NewtonTree& tree, const Gradients& given, const DrawnRows& drawn,
                                          const Exponents& exponents, Run& run) const {
  const Powers wide{common_power(exponents.g), common_power(exponents.h)};
  const std::vector<int64_t> sums = sum_leaves(tree, given, drawn, wide, run);
  std::vector<double> out(sums.size());
  for (size_t i = 0; i < sums.size(); ++i) {
    out[i] = std::ldexp(static_cast<double>(sums[i]), -(i % 2 == 0 ? wide.g : wide.h));
  }
  return out;
}

std::vector<double> NewtonRows::leaf_sums(const NewtonTree& tree, const Gradients& given, Run& run) const {
  require(given.g.size() == n_rows_ && given.h.size() == n_rows_, "one g and h per row");
  require(given.weight.empty() || given.weight.size() == n_rows_, "one weight per row");
  const DrawnRows drawn = draw_rows(given.weight, {});
  return real_sums(tree, given, drawn, count_all(given, drawn, run), run);
}

// Values and covers from the gradients themselves, in wide units: few bits have only shaped the tree.
void NewtonRows::value_wide(const Gradients& given, const DrawnRows& drawn, const Exponents& exponents, Powers powers,
                            const NewtonOptions& options, Run& run, NewtonTree& out) const {
  const Powers wide{common_power(exponents.g), common_power(exponents.h)};
  const TreeArrays& arrays = out.arrays;
  std::vector<int64_t> leaf_sums;
  if (exponents.curvature.empty()) {
    leaf_sums = sum_leaves(out, given, drawn, wide, run);
  } else {
    // Σ g and Σ curvature in one pass. Rows of weight 1 and hessian 1 need no other: they are counted already.
    const Gradients stepped = given.stepped();
    const Powers stepped_wide{wide.g, common_power(exponents.curvature)};
    leaf_sums = sum_leaves(out, stepped, drawn, stepped_wide, run);
    out.leaf_sums.resize(leaf_sums.size());
    for (size_t i = 0; i < leaf_sums.size(); ++i) {
      const int power = i % 2 == 0 ? stepped_wide.g : stepped_wide.h;
      out.leaf_sums[i] = std::ldexp(static_cast<double>(leaf_sums[i]), -power);
    }
    if (given.unit_h && given.weight.empty()) {
      fill_counts(arrays, scale_of(wide.h), leaf_sums);
    } else {
      leaf_sums = sum_leaves(out, given, drawn, wide, run);
    }
  }
  fill_values_of_sums(out, criterion_in(options, wide), wide, leaf_sums, scale_of(powers.h - powers.g),
                      options.min_weight);
}

}  // namespace weald
