// LevelSums: rows down the splits of the level before, and into the lists of the nodes they come to.
#include <algorithm>
#include <span>
#include <vector>

#include "core/rows/level_sums.h"
#include "core/rows/route.h"

namespace weald {

namespace {

CodeSplit split_of(const PlannedSplit& each) {
  return {each.column, each.kind, each.missing_left, each.code, each.set, each.set_left};
}

bool has_bytes(const CodeColumn& column) {
  return column.width == 1 && !column.sparse;
}

}  // namespace

void LevelSums::make_ways() {
  sides_.resize(task_.plan.splits.size() + 1);
  for (size_t i = 0; i < task_.plan.splits.size(); ++i) {
    const CodeSplit split = split_of(task_.plan.splits[i]);
    for (uint32_t code = 0; code < byte_codes; ++code) sides_[i][code] = !split.left(code);
  }
  sides_.back().fill(0);
}

// Per number of a node; none if some split is on a column of other codes.
std::vector<LevelSums::Step> LevelSums::steps_of(const Codes& codes) const {
  const LevelPlan& plan = task_.plan;
  const auto column_of = [&](size_t at) -> const CodeColumn& {
    return codes.columns[static_cast<size_t>(plan.splits[at].column)];
  };
  for (size_t i = 0; i < plan.splits.size(); ++i) {
    if (!has_bytes(column_of(i))) return {};
  }
  std::vector<Step> steps;
  for (size_t number = 0; number < plan.split.size(); ++number) {
    const bool splits = plan.split[number] >= 0;
    const auto at = splits ? static_cast<size_t>(plan.split[number]) : size_t{0};
    steps.push_back({static_cast<const uint8_t*>(column_of(at).data), splits ? sides_[at].data() : sides_.back().data(),
                     splits ? static_cast<size_t>(plan.splits[at].left) : number});
  }
  return steps;
}

template <class Number>
void LevelSums::route(const Codes& codes, std::span<Number> number, std::span<const Step> steps, Run& run) const {
  const LevelPlan& plan = task_.plan;
  const size_t n_rows = number.size();
  const auto n_parts = static_cast<int64_t>((n_rows + newton_row_block - 1) / newton_row_block);
  parallel_for(run, n_parts, [&](int64_t part, int) {
    const size_t first = static_cast<size_t>(part) * newton_row_block,
                 last = std::min(n_rows, first + newton_row_block);
    Number* const number_here = number.data();
    if (!steps.empty()) {
      const Step* const step_of = steps.data();
      for (size_t row = first; row < last; ++row) {
        const Step& step = step_of[number_here[row]];
        number_here[row] = static_cast<Number>(step.left + step.right[step.codes[row]]);
      }
      return;
    }
    for (size_t row = first; row < last; ++row) {
      const int32_t at = plan.split[number_here[row]];
      if (at < 0) continue;
      const PlannedSplit& split = plan.splits[static_cast<size_t>(at)];
      const CodeColumn& column = codes.columns[static_cast<size_t>(split.column)];
      const bool right = has_bytes(column)
                             ? sides_[static_cast<size_t>(at)][static_cast<const uint8_t*>(column.data)[row]] != 0
                             : !split_of(split).left(code_of(column, static_cast<uint32_t>(row)));
      number_here[row] = static_cast<Number>(split.left + right);
    }
  });
}

// Whether the values of this tree's first pass are all that a later one asks for.
bool LevelSums::reads_kept(const TrainingBlock& slice) const {
  const bool only_values = !task_.leaves && (!task_.units.squared || task_.units.square_lanes);
  return narrow() && !slice.kept.empty() && !task_.plan.splits.empty() && only_values;
}

// With `steps`, which all rows follow first: all are drawn.
template <class Number>
void LevelSums::list_kept(const TrainingBlock& slice, std::span<Number> number, std::span<const Step> steps, Run& run) {
  const size_t n_drawn = slice.drawn.size();
  parallel_for(run, static_cast<int64_t>(n_segments()), [&](int64_t at, int worker) {
    const size_t first = static_cast<size_t>(at) * newton_row_block, last = std::min(n_drawn, first + newton_row_block);
    Part& part = parts_[static_cast<size_t>(worker)];
    Number* const number_here = number.data();
    uint32_t& n = listed_.n[static_cast<size_t>(at)];
    if (steps.empty()) {
      n = list_segment(slice, first, last, part, [=](uint32_t row) { return size_t{number_here[row]}; });
      return;
    }
    n = list_segment(slice, first, last, part, [=, step_of = steps.data()](uint32_t row) {
      const Step& step = step_of[number_here[row]];
      const size_t node = step.left + step.right[step.codes[row]];
      number_here[row] = static_cast<Number>(node);
      return node;
    });
  });
}

// Returns how many rows it lists.
template <class NodeOf>
uint32_t LevelSums::list_segment(const TrainingBlock& slice, size_t first, size_t last, Part& part,
                                 const NodeOf& node_of) {
  const NarrowRows::Value* const kept = slice.kept.data();
  const uint32_t* const ids = slice.drawn.ids.empty() ? nullptr : slice.drawn.ids.data();
  const int32_t* const histogram_of = task_.plan.histogram.data();
  int64_t* const n_rows = part.rows.data();
  Narrow* const to = listed_.narrow.data() + first;
  const auto node_here = node_of;  // a copy: what the loop writes could otherwise have changed it
  uint32_t n = 0;
  // Which rows are listed is as good as chance: each is written, and some are written over.
  for (size_t i = first; i < last; ++i) {
    const uint32_t row = ids == nullptr ? static_cast<uint32_t>(i) : ids[i];
    const size_t node = node_here(row);
    const int32_t histogram = histogram_of[node];
    ++n_rows[node];
    to[n] = {static_cast<uint16_t>(row), static_cast<uint16_t>(histogram), kept[row]};
    n += histogram >= 0;
  }
  for (uint32_t i = 0; i < n && !lanes_of_cells_; ++i) {
    int64_t* const sums = part.lanes.data() + 2 * size_t{to[i].histogram};
    sums[0] += to[i].value.g;
    sums[1] += to[i].value.h;
  }
  for (uint32_t i = 0; i < n && !totals.squares.empty(); ++i) {
    part.squares[to[i].histogram].add({square_of_lane(to[i].value.g), 1});
  }
  return n;
}

template void LevelSums::route(const Codes&, std::span<uint16_t>, std::span<const Step>, Run&) const;
template void LevelSums::route(const Codes&, std::span<uint32_t>, std::span<const Step>, Run&) const;
template void LevelSums::list_kept(const TrainingBlock&, std::span<uint16_t>, std::span<const Step>, Run&);
template void LevelSums::list_kept(const TrainingBlock&, std::span<uint32_t>, std::span<const Step>, Run&);

}  // namespace weald
