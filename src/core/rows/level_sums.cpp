#include "core/rows/level_sums.h"

#include <algorithm>
#include <utility>

#include "core/base/random.h"
#include "core/rows/block_of.h"
#include "core/tree/statistics/quantise.h"

namespace weald {

LevelSums::LevelSums(const Codes& codebook, LevelTask task)
    : task_(std::move(task)),
      n_lanes_(task_.n_lanes > 0 ? task_.n_lanes : 2 * task_.units.n_outputs),
      stride_(n_lanes_ + (task_.counted ? 1 : 0)),
      words_(task_.units.packed() && !task_.counted) {
  const size_t n = task_.plan.n_histograms;
  size_t start = 0, word_start = 0;
  for (const CodeColumn& column : codebook.columns) {
    const size_t n_words = column.width == 1 ? byte_codes : size_t{column.n_codes} + 1;
    columns_.push_back({start, word_start, n_words, column.n_codes, column.default_code, column.sparse});
    start += stride_ * (size_t{column.n_codes} + 1);
    word_start += n * n_words;
    sparse_ |= column.sparse;
    if (!column.sparse) dense_ = columns_.size() - 1;
  }
  lanes_of_cells_ = narrow() && dense_ < columns_.size();
  cells.assign(n * start, 0);
  if (words_) packed_.assign(word_start, 0);
  in_words_.assign(n, 0);
  totals.rows.assign(task_.plan.split.size(), 0);
  totals.lanes.assign(n * n_lanes_, 0);
  hist_rows_.assign(n, 0);
  if (task_.units.squared) totals.squares.assign(n, {});
  if (task_.leaves) leaf_sums.assign(2 * task_.plan.split.size(), 0);
  make_ways();
}

namespace {

class PartOfSource final : public GradientSource {
 public:
  PartOfSource(const GradientSource* whole, size_t first) : whole_(whole), first_(first) {}
  void fill(size_t first, size_t n, double* g, double* h) const override { whole_->fill(first_ + first, n, g, h); }

 private:
  const GradientSource* whole_;
  size_t first_;
};

}  // namespace

template <class Number>
void LevelSums::add(const TrainingBlock& block, std::span<Number> number, Run& run) {
  if (number.size() <= slice_rows) return add_slice(block, number, run);
  for (size_t first = 0; first < number.size(); first += slice_rows) {
    const size_t n = std::min(slice_rows, number.size() - first);
    const Codes codes =
        block.codes == nullptr ? Codes() : block_of(*block.codes, static_cast<int64_t>(first), static_cast<int64_t>(n));
    const PartOfSource source(block.given[0].source, first);
    std::vector<Gradients> given(block.given.begin(), block.given.end());
    for (Gradients& each : given) {
      const auto part = [&](std::span<const double> values) {
        return values.empty() ? values : values.subspan(first, n);
      };
      each.g = part(each.g), each.h = part(each.h), each.weight = part(each.weight);
      if (each.source != nullptr) each.source = &source;
    }
    DrawnRows drawn{n, {}};
    if (!block.drawn.ids.empty() || block.drawn.size() == 0) {
      const auto& ids = block.drawn.ids;
      const auto from = std::lower_bound(ids.begin(), ids.end(), static_cast<uint32_t>(first));
      const auto to = std::lower_bound(from, ids.end(), static_cast<uint32_t>(first + n));
      drawn.ids.assign(from, to);
      for (uint32_t& id : drawn.ids) id -= static_cast<uint32_t>(first);
      drawn.n = drawn.ids.size();
    }
    const TrainingBlock slice{block.codes == nullptr ? nullptr : &codes, block.first_row + first, given, drawn,
                              block.kept.empty() ? block.kept : block.kept.subspan(first, n)};
    add_slice(slice, number.subspan(first, n), run);
  }
}

template <class Number>
void LevelSums::add_slice(const TrainingBlock& slice, std::span<Number> number, Run& run) {
  const LevelPlan& plan = task_.plan;
  const std::vector<Step> steps = plan.splits.empty() ? std::vector<Step>() : steps_of(*slice.codes);
  // Numbers are read once for both where every row is listed or passed over by the number it gets.
  const bool at_once = !steps.empty() && reads_kept(slice) && slice.drawn.ids.empty() && slice.drawn.size() > 0;
  if (!plan.splits.empty() && !at_once) route(*slice.codes, number, steps, run);
  list<Number>(slice, number, at_once ? steps : std::span<const Step>(), run);
  if (plan.n_histograms > 0) add_columns(*slice.codes, run);
}

template void LevelSums::add(const TrainingBlock&, std::span<uint16_t>, Run&);
template void LevelSums::add(const TrainingBlock&, std::span<uint32_t>, Run&);

// ---- the rows that histograms take ----------------------------------------------------------------------------------

// Room for lists of so many rows.
void LevelSums::begin_list(size_t n_rows) {
  const size_t n_segments = (n_rows + newton_row_block - 1) / newton_row_block;
  const size_t n_listed = n_segments * newton_row_block;
  listed_.n.assign(n_segments, 0);
  if (task_.plan.n_histograms == 0) return;
  const auto fit = [](auto& to, size_t n) { to.resize(std::max(to.size(), n)); };
  if (narrow()) return fit(listed_.narrow, n_listed);
  fit(listed_.place, n_listed);
  if (words_) return fit(listed_.word, n_listed);
  if (row_lanes_ == 0) return fit(listed_.lanes, n_listed * n_lanes_);
  fit(listed_.at, n_listed * row_lanes_);
  fit(listed_.weight, n_listed);
}

void LevelSums::begin_parts(Run& run) {
  parts_.resize(static_cast<size_t>(run.n_threads()));
  for (Part& part : parts_) {
    part.rows.assign(totals.rows.size(), 0);
    part.lanes.assign(totals.lanes.size(), 0);
    part.leaf_sums.assign(leaf_sums.size(), 0);
    part.squares.assign(totals.squares.size(), {});
    part.weight = 0;
  }
}

template <class Number>
void LevelSums::list(const TrainingBlock& block, std::span<Number> number, std::span<const Step> steps, Run& run) {
  begin_list(block.drawn.size());
  begin_parts(run);
  Gradients first = block.given[0];
  first.whole = task_.units.whole;
  if (reads_kept(block)) {
    list_kept(block, number, steps, run);
  } else {
    with_factors(first, [&](const auto factors) {
      task_.leaves ? add_leaves<Number>(block, number, factors, run) : list_rows<Number>(block, number, factors, run);
    });
  }
  collect_parts(number.size());
}

// The last pass: every row that is drawn is counted where it is, and added to its leaf.
template <class Number, class Factors>
void LevelSums::add_leaves(const TrainingBlock& block, std::span<const Number> number, const Factors& all_factors,
                           Run& run) {
  require(task_.plan.n_histograms == 0, "a pass that adds up leaves has no histograms");
  for_row_blocks(block.given[0], block.drawn, run, [&](const RowBlock& rows) {
    Part& part = parts_[static_cast<size_t>(rows.worker)];
    const double g_scale = scale_of(task_.units.wide.g), h_scale = scale_of(task_.units.wide.h);
    for_rows_of(rows, block.drawn,
                [factors = all_factors, g_scale, h_scale, number_here = number.data(), n_rows = part.rows.data(),
                 sums = part.leaf_sums.data()](size_t, uint32_t row, double g, double h) {
                  const size_t node = number_here[row];
                  ++n_rows[node];
                  sums[2 * node] += factors.units(row, g, g_scale);
                  sums[2 * node + 1] += factors.units(row, h, h_scale);
                });
  });
}

// Of every row that is drawn: counted where it is, and listed if some histogram takes it.
// write(entry, row, histogram, g, h, sums): its integers to the list and to the sums of its histogram; returns Σ g's.
template <class Number, class Factors, class Write>
void LevelSums::list_all(const TrainingBlock& block, std::span<const Number> number, const Factors& all_factors,
                         const Write& write, Run& run) {
  const TreeUnits& units = task_.units;
  const bool has_squares = units.squared && !totals.squares.empty();
  for_row_blocks(block.given[0], block.drawn, run, [&](const RowBlock& rows) {
    Part& part = parts_[static_cast<size_t>(rows.worker)];
    const size_t segment = rows.begin / newton_row_block;
    uint32_t n = listed_.n[segment];
    // Copies, and pointers of their own: what the loop writes could otherwise have changed them.
    const Write write_here = write;
    const Factors factors = all_factors;
    const Number* const number_here = number.data();
    const int32_t* const histogram_of = task_.plan.histogram.data();
    int64_t *const n_rows = part.rows.data(), *const sums = part.lanes.data();
    const size_t first = segment * newton_row_block, n_lanes = n_lanes_;
    for_rows_of(rows, block.drawn, [&](size_t, uint32_t row, double g, double h) {
      const Number node = number_here[row];
      ++n_rows[node];
      const int32_t at = histogram_of[node];
      if (at < 0) return;
      const auto histogram = static_cast<size_t>(at);
      const int64_t lane = write_here(first + n++, row, static_cast<uint32_t>(at), g, h, sums + histogram * n_lanes);
      if (!has_squares) return;
      part.squares[histogram].add(units.square_lanes ? RowSquare{square_of_lane(lane), 1}
                                                     : units.rule->of(factors, row, g));
      if (units.rule) part.weight += units.rule->weight_units(factors.factor(row));
    });
    listed_.n[segment] = n;
  });
}

template <class Number, class Factors>
void LevelSums::list_rows(const TrainingBlock& block, std::span<const Number> number, const Factors& factors,
                          Run& run) {
  const TreeUnits& units = task_.units;
  const double g_scale = scale_of(units.powers.g), h_scale = scale_of(units.powers.h);
  uint32_t* const place_to = listed_.place.data();
  uint64_t* const word_to = listed_.word.data();
  int64_t* const lanes_to = listed_.lanes.data();
  const auto place_of = [](uint32_t row, uint32_t histogram) { return row | histogram << 16; };
  if (units.kind == TreeUnits::Kind::wide) {
    list_all(
        block, number, factors,
        [&, n_outputs = units.n_outputs, n_lanes = n_lanes_](size_t entry, uint32_t row, uint32_t histogram, double g,
                                                             double h, int64_t* sums) {
          int64_t* const lanes = lanes_to + entry * n_lanes;
          lanes[0] = factors.units(row, g, g_scale);
          lanes[n_outputs] = factors.units(row, h, h_scale);
          for (size_t k = 1; k < n_outputs; ++k) {
            lanes[k] = factors.units(row, block.given[k].g[row], g_scale);
            lanes[n_outputs + k] = factors.units(row, block.given[k].h[row], h_scale);
          }
          for (size_t l = 0; l < n_lanes; ++l) sums[l] += lanes[l];
          place_to[entry] = place_of(row, histogram);
          return lanes[0];
        },
        run);
    return;
  }
  const bool words = words_;
  const auto write_pair = [=](size_t entry, uint32_t row, uint32_t histogram, int64_t g, int64_t h, int64_t* sums) {
    sums[0] += g;
    sums[1] += h;
    place_to[entry] = place_of(row, histogram);
    if (words) {
      word_to[entry] = (static_cast<uint64_t>(g) << 32) + static_cast<uint64_t>(h);
    } else {
      lanes_to[2 * entry] = g, lanes_to[2 * entry + 1] = h;
    }
    return g;
  };
  if (units.kind == TreeUnits::Kind::words) {
    list_all(
        block, number, factors,
        [=](size_t entry, uint32_t row, uint32_t histogram, double g, double h, int64_t* sums) {
          return write_pair(entry, row, histogram, factors.small_units(row, g, g_scale),
                            factors.present_units(row, h, h_scale), sums);
        },
        run);
    return;
  }
  Narrow* const narrow_to = listed_.narrow.data();
  const Draws rounding(units.seed, Purpose::rounding, units.round);
  const bool keeps = task_.plan.splits.empty() && !block.kept.empty();
  list_all(
      block, number, factors,
      [=, adds = !lanes_of_cells_, first = block.first_row, kept = keeps ? block.kept.data() : nullptr](
          size_t entry, uint32_t row, uint32_t histogram, double g, double h, int64_t* sums) -> int64_t {
        const auto value =
            to_narrow(factors.factor(row) * g * g_scale, factors.factor(row) * h * h_scale, rounding(first + row));
        if (!words) return write_pair(entry, row, histogram, value.g, value.h, sums);
        if (adds) {
          sums[0] += value.g;
          sums[1] += value.h;
        }
        narrow_to[entry] = {static_cast<uint16_t>(row), static_cast<uint16_t>(histogram), value};
        if (kept != nullptr) kept[row] = value;
        return value.g;
      },
      run);
}

void LevelSums::collect_parts(size_t n_rows) {
  const auto add_all = [](const auto& from, auto& to) {
    for (size_t i = 0; i < to.size(); ++i) to[i] += from[i];
  };
  in_slice_.assign(hist_rows_.size(), 0);
  for (const Part& part : parts_) {
    add_all(part.rows, totals.rows);
    add_all(part.lanes, totals.lanes);
    for (size_t i = 0; i < part.rows.size(); ++i) {
      const int32_t histogram = task_.plan.histogram[i];
      if (histogram >= 0) in_slice_[static_cast<size_t>(histogram)] += part.rows[i];
    }
    add_all(part.leaf_sums, leaf_sums);
    for (size_t i = 0; i < totals.squares.size(); ++i) totals.squares[i].add(part.squares[i]);
    weight += part.weight;
  }
  add_all(in_slice_, hist_rows_);
  if (!sparse_) return;
  listed_.entry_of.assign(n_rows, nowhere);
  for (size_t s = 0; s < n_segments(); ++s) {
    for (size_t entry = s * newton_row_block; entry < s * newton_row_block + listed_.n[s]; ++entry) {
      const size_t row = narrow() ? listed_.narrow[entry].row : listed_.place[entry] & 0xffffU;
      listed_.entry_of[row] = static_cast<uint32_t>(entry);
    }
  }
}

// ---- sums that come from elsewhere ----------------------------------------------------------------------------------

std::vector<int64_t> LevelSums::told(Run& run) {
  finish(run);
  std::vector<int64_t> all{weight};
  for (const RowSquare& each : totals.squares) all.insert(all.end(), {each.square, each.times});
  for_told([&](const std::vector<int64_t>& part) { all.insert(all.end(), part.begin(), part.end()); });
  return all;
}

void LevelSums::take(std::span<const int64_t> told) {
  size_t n = 1 + 2 * totals.squares.size();
  for_told([&](const std::vector<int64_t>& part) { n += part.size(); });
  require(told.size() == n, "sums from another process are those of the same pass");
  auto from = told.begin();
  weight = *from++;
  for (RowSquare& each : totals.squares) {
    each.square = *from++;
    each.times = *from++;
  }
  for_told([&](std::vector<int64_t>& part) {
    const auto last = from + static_cast<std::ptrdiff_t>(part.size());
    std::copy(from, last, part.begin());
    from = last;
  });
}

}  // namespace weald
