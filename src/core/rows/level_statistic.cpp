// LevelSums: rows of trees of classes and of means, whose integers are given. Rows of weight 0 are none.
#include <algorithm>
#include <span>
#include <vector>

#include "core/rows/block_of.h"
#include "core/rows/level_sums.h"

namespace weald {

namespace {

template <class T>
std::span<const T> part_of(std::span<const T> whole, size_t first, size_t n, size_t n_rows) {
  const size_t width = whole.size() / n_rows;
  return whole.subspan(first * width, n * width);
}

uint32_t placed(size_t row, int32_t histogram) {
  return static_cast<uint32_t>(row) | static_cast<uint32_t>(histogram) << 16;
}

}  // namespace

template <class Number>
void LevelSums::add(const StatisticBlock& block, std::span<Number> number, Run& run) {
  const size_t n_rows = number.size();
  row_lanes_ = block.kind.n_outputs();
  const bool reads = task_.reads_codes();
  for (size_t first = 0; first < n_rows; first += slice_rows) {
    const size_t n = std::min(slice_rows, n_rows - first);
    const Codes codes = reads ? block_of(*block.codes, static_cast<int64_t>(first), static_cast<int64_t>(n)) : Codes();
    const auto part = [&](auto whole) { return part_of(whole, first, n, n_rows); };
    const StatisticRows& rows = block.rows;
    const StatisticBlock slice{
        &codes,
        {part(rows.lane), part(rows.weight), part(rows.lanes), part(rows.squares), {}, part(rows.count)},
        block.kind,
        block.statistic};
    const std::span<Number> here = number.subspan(first, n);
    if (!task_.plan.splits.empty()) route(codes, here, steps_of(codes), run);
    list_statistic<Number>(slice, here, run);
    if (task_.plan.n_histograms > 0) add_columns(codes, run);
    if (task_.seen) count_seen(codes, run);
  }
}

template void LevelSums::add(const StatisticBlock&, std::span<uint16_t>, Run&);
template void LevelSums::add(const StatisticBlock&, std::span<uint32_t>, Run&);

template <class Number>
void LevelSums::list_statistic(const StatisticBlock& slice, std::span<const Number> number, Run& run) {
  const size_t n_numbers = totals.rows.size();
  totals.told.resize(n_numbers);
  first_.resize(n_numbers * n_lanes_, 0);
  begin_list(number.size());
  begin_parts(run);
  for (Part& part : parts_) {
    part.told.assign(n_numbers, {});
    part.first.resize(first_.size());
  }
  parallel_for(run, static_cast<int64_t>(n_segments()), [&](int64_t segment, int worker) {
    Part& part = parts_[static_cast<size_t>(worker)];
    slice.kind.classes() ? list_classes(slice, number, static_cast<size_t>(segment), part)
                         : list_means(slice, number, static_cast<size_t>(segment), part);
  });
  collect_told(slice.statistic);
  collect_parts(number.size());
}

template <class Number>
void LevelSums::list_classes(const StatisticBlock& slice, std::span<const Number> number, size_t segment, Part& part) {
  const StatisticRows& rows = slice.rows;
  const size_t first = segment * newton_row_block, last = std::min(number.size(), first + newton_row_block);
  uint32_t n = 0;
  for (size_t row = first; row < last; ++row) {
    int64_t times = rows.weight.empty() ? 1 : rows.weight[row];
    if (!rows.count.empty()) times *= rows.count[row];
    if (times == 0) continue;
    const size_t node = number[row];
    ++part.rows[node];
    const int32_t histogram = task_.plan.histogram[node];
    if (histogram < 0) continue;
    const size_t entry = first + n++;
    const int32_t* const lane = rows.lane.data() + row * row_lanes_;
    int64_t* const sums = part.lanes.data() + static_cast<size_t>(histogram) * n_lanes_;
    listed_.place[entry] = placed(row, histogram);
    for (size_t o = 0; o < row_lanes_; ++o) sums[lane[o]] += times;
    if (words_) {
      listed_.word[entry] = static_cast<uint64_t>(times) << (lane[0] == 0 ? 32 : 0);
      continue;
    }
    std::copy_n(lane, row_lanes_, listed_.at.data() + entry * row_lanes_);
    listed_.weight[entry] = times;
  }
  listed_.n[segment] = n;
}

template <class Number>
void LevelSums::list_means(const StatisticBlock& slice, std::span<const Number> number, size_t segment, Part& part) {
  const StatisticRows& rows = slice.rows;
  const size_t first = segment * newton_row_block, last = std::min(number.size(), first + newton_row_block);
  uint32_t n = 0;
  std::vector<int64_t> lanes(n_lanes_);
  for (size_t row = first; row < last; ++row) {
    const int64_t times = rows.count.empty() ? 1 : rows.count[row];
    const int64_t* const given = rows.lanes.data() + row * n_lanes_;
    if (times == 0 || given[n_lanes_ - 1] == 0) continue;
    for (size_t l = 0; l < n_lanes_; ++l) lanes[l] = times * given[l];
    const size_t node = number[row];
    ++part.rows[node];
    NodeTold& told = part.told[node];
    told.squares += times * rows.squares[row];
    int64_t* const first_lanes = part.first.data() + node * n_lanes_;
    if (!told.any) {
      std::copy(lanes.begin(), lanes.end(), first_lanes);
      told.any = true;
    } else if (!told.differ) {
      told.differ = !slice.statistic.lanes_alike(first_lanes, lanes.data());
    }
    const int32_t histogram = task_.plan.histogram[node];
    if (histogram < 0) continue;
    const size_t entry = first + n++;
    int64_t* const sums = part.lanes.data() + static_cast<size_t>(histogram) * n_lanes_;
    for (size_t l = 0; l < n_lanes_; ++l) sums[l] += lanes[l];
    listed_.place[entry] = placed(row, histogram);
    std::copy(lanes.begin(), lanes.end(), listed_.lanes.begin() + static_cast<std::ptrdiff_t>(entry * n_lanes_));
  }
  listed_.n[segment] = n;
}

void LevelSums::collect_told(const Statistic& statistic) {
  for (const Part& part : parts_) {
    for (size_t node = 0; node < part.told.size(); ++node) {
      const NodeTold& found = part.told[node];
      if (!found.any) continue;
      NodeTold& told = totals.told[node];
      int64_t* const first = first_.data() + node * n_lanes_;
      const int64_t* const other = part.first.data() + node * n_lanes_;
      told.squares += found.squares;
      if (!told.any) std::copy_n(other, n_lanes_, first);
      told.differ = told.differ || found.differ || (told.any && !statistic.lanes_alike(first, other));
      told.any = true;
    }
  }
}

// Of the listed rows, which are all of the tree: the first pass.
void LevelSums::count_seen(const Codes& codes, Run& run) {
  totals.seen.resize(codes.columns.size());
  parallel_for(run, static_cast<int64_t>(codes.columns.size()), [&](int64_t j, int) {
    const CodeColumn& column = codes.columns[static_cast<size_t>(j)];
    if (column.kind != ColumnKind::categorical || column.sparse) return;
    std::vector<uint8_t>& seen = totals.seen[static_cast<size_t>(j)];
    seen.resize(size_t{column.n_codes} + 1, 0);
    with_codes(column, [&](const auto* code) {
      for (size_t s = 0; s < n_segments(); ++s) {
        for (size_t entry = s * newton_row_block; entry < s * newton_row_block + listed_.n[s]; ++entry) {
          uint8_t& n = seen[code[listed_.place[entry] & 0xffffU]];
          n = static_cast<uint8_t>(std::min(n + 1, 2));
        }
      }
    });
  });
}

}  // namespace weald
