#include "core/rows/tree_units.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "core/base/random.h"

namespace weald {

DrawnRows draw_block(const RowDraw& drawn, std::span<const double> weight, size_t n_rows, uint64_t first_row) {
  const bool all = drawn.share >= 1;
  const auto absent = [](double w) { return w == 0; };
  if (all && drawn.only < 0 && std::none_of(weight.begin(), weight.end(), absent)) return {n_rows, {}};
  DrawnRows rows;
  const auto below = all ? ~uint64_t{0} : static_cast<uint64_t>(drawn.share * 0x1p64);
  for (size_t row = 0; row < n_rows; ++row) {
    if (!weight.empty() && absent(weight[row])) continue;
    const uint64_t number = first_row + row;
    const bool taken = drawn.only >= 0 ? static_cast<uint64_t>(drawn.only) == number
                                       : all || draw(drawn.seed, Purpose::row_sample, number) < below;
    if (taken) rows.ids.push_back(static_cast<uint32_t>(row));
  }
  rows.n = rows.ids.size();
  return rows;
}

void NearestRow::take(const NearestRow& other) {
  if (other.row < 0) return;
  const bool nearer = row < 0 || other.word < word || (other.word == word && other.row < row);
  if (nearer) *this = other;
}

NearestRow nearest_of_block(const RowDraw& drawn, std::span<const double> weight, size_t n_rows, uint64_t first_row) {
  NearestRow nearest;
  for (size_t row = 0; row < n_rows; ++row) {
    if (!weight.empty() && weight[row] == 0) continue;
    const uint64_t number = first_row + row;
    nearest.take({static_cast<int64_t>(number), draw(drawn.seed, Purpose::row_sample, number)});
  }
  return nearest;
}

namespace {

void add_counts(const GradientCounts::Counted& part, GradientCounts::Counted& to) {
  if (to.of_output.empty()) to.of_output.resize(part.of_output.size());
  for (size_t k = 0; k < part.of_output.size(); ++k) {
    Exponents& sum = to.of_output[k];
    const Exponents& more = part.of_output[k];
    for (size_t e = 0; e < n_exponents; ++e) {
      sum.g[e] += more.g[e];
      sum.h[e] += more.h[e];
    }
    sum.negative_h |= more.negative_h;
    sum.zeros |= more.zeros;
  }
  to.tops.take(part.tops);
}

GradientCounts::Counted counted(std::span<const Gradients> given, const DrawnRows& drawn, bool squared, bool whole,
                                Run& run) {
  GradientCounts::Counted out;
  for (Gradients each : given) {
    each.whole = whole;
    out.of_output.push_back(drawn.size() == 0 ? Exponents{} : count_all(each, drawn, run));
    if (squared && drawn.size() > 0) out.tops.take(square_tops(each, drawn, run));
  }
  return out;
}

}  // namespace

void GradientCounts::add(const GradientCounts& other) {
  add_counts(other.given, given);
  add_counts(other.each, each);
  n_drawn += other.n_drawn;
}

GradientCounts count_block(std::span<const Gradients> given, const DrawnRows& drawn, bool squared, Run& run) {
  GradientCounts out;
  const bool whole = given[0].whole && !given[0].weight.empty();
  out.given = counted(given, drawn, squared, given[0].whole, run);
  if (whole) out.each = counted(given, drawn, squared, false, run);
  out.n_drawn = static_cast<int64_t>(drawn.size());
  return out;
}

namespace {

// 16 bits for many rows, words for few: true if their gradients suit so few bits. As NewtonRows::grow_packed.
bool choose_packed(const GradientCounts& counts, const NewtonOptions& options, bool weighted, TreeUnits& units) {
  const bool narrow = static_cast<size_t>(counts.n_drawn) >= options.narrow_rows;
  const bool once = narrow && units.whole && weighted;
  const Exponents& exponents = (once ? counts.each : counts.given).of_output[0];
  const auto [powers, suits] = packed_powers(exponents, narrow);
  if (exponents.negative_h || !suits) return false;
  units.kind = narrow ? TreeUnits::Kind::narrow : TreeUnits::Kind::words;
  units.whole = units.whole && !narrow;
  units.powers = powers;
  units.wide = {common_power(exponents.g), common_power(exponents.h)};
  units.square_lanes = !weighted;
  return true;
}

}  // namespace

TreeUnits choose_units(const GradientCounts& counts, const NewtonOptions& options, bool weighted, bool whole,
                       bool squared) {
  TreeUnits units;
  units.whole = whole;
  units.seed = options.grow.seed;
  units.round = options.round;
  units.n_outputs = counts.given.of_output.size();
  units.squared = squared;
  const bool one = units.n_outputs == 1;
  if (!one || !options.narrow || !choose_packed(counts, options, weighted, units)) {
    units.powers = {std::numeric_limits<int>::max(), std::numeric_limits<int>::max()};
    for (const Exponents& exponents : counts.given.of_output) {
      units.powers.g = std::min(units.powers.g, common_power(exponents.g));
      units.powers.h = std::min(units.powers.h, common_power(exponents.h));
    }
    // Of several outputs, the mean of the hessians is taken of their sum.
    if (!one) units.powers.h -= static_cast<int>(std::bit_width(units.n_outputs));
    units.zeros = !one || counts.given.of_output[0].may_vanish(units.powers.h);
  }
  if (squared && !units.square_lanes) {
    const bool once = whole && weighted && !units.whole;
    units.rule.emplace((once ? counts.each : counts.given).tops);
  }
  return units;
}

}  // namespace weald
