#include "core/tree/grow_drawn/splits.h"

#include <algorithm>

#include "core/tree/grow_drawn/together.h"
#include "core/tree/rows/partition.h"

namespace weald {

// left(row, its place in the node)
template <class Left>
size_t DrawnSplits::part(std::span<uint32_t> ids, Left left) {
  size_t n_left = 0, n_right = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    const uint32_t row = ids[i];
    const size_t is_left = left(row, i);
    ids[n_left] = row;
    scratch_[n_right] = row;
    n_left += is_left;
    n_right += 1 - is_left;
  }
  std::copy_n(scratch_.begin(), n_right, ids.begin() + static_cast<std::ptrdiff_t>(n_left));
  return n_left;
}

size_t DrawnSplits::write(const DrawnColumn& column, const DrawnView& view, Split& split, bool heavier_left,
                          double gain, const float* together, std::span<uint32_t> ids, TreeArrays& out) {
  const bool missing_left = split.saw_missing ? split.missing_left : heavier_left;
  out.column.push_back(split.column);
  out.right.push_back(-1);
  out.missing_left.push_back(missing_left);
  out.gain.push_back(gain);
  if (column.kind == ColumnKind::categorical) return part_by_set(view, split, heavier_left, ids, out);
  const bool drawn = split.drawn && split.next_code != 0;
  const double threshold =
      drawn ? split.threshold
            : threshold_between(column.kind, column.marks, view.in_table(split.code), view.in_table(split.next_code));
  out.threshold.push_back(threshold);
  out.kind.push_back(static_cast<uint8_t>(SplitKind::numeric));
  out.side.push_back(-1);
  if (drawn && view.narrow != nullptr) {
    const float most = rounded_down(threshold, 0.0F);
    if (together != nullptr) {
      return part(ids, [=](uint32_t, size_t i) { return together[i * ColumnsTogether::most] <= most; });
    }
    const float* values = view.narrow;
    const size_t stride = view.stride;
    return part(ids, [=](uint32_t row, size_t) { return values[row * stride] <= most; });
  }
  if (drawn && view.wide != nullptr) {
    return part(ids, [=, values = view.wide](uint32_t row, size_t) { return values[row] <= threshold; });
  }
  return with_codes(view.data, view.width, [&](const auto* codes) {
    const uint32_t last = split.code;
    if (!column.missing) return part(ids, [=](uint32_t row, size_t) { return codes[row] <= last; });
    return part(ids, [=](uint32_t row, size_t) { return codes[row] == 0 ? missing_left : codes[row] <= last; });
  });
}

// Categories: the set lists those of the lighter child, so that all the node did not see follow the heavier one.
size_t DrawnSplits::part_by_set(const DrawnView& view, Split& split, bool heavier_left, std::span<uint32_t> ids,
                                TreeArrays& out) {
  std::vector<uint32_t>& set = heavier_left ? split.right_codes : split.left_codes;
  std::sort(set.begin(), set.end());
  out.threshold.push_back(0);
  out.kind.push_back(static_cast<uint8_t>(SplitKind::categories));
  out.side.push_back(static_cast<int32_t>(out.set_left.size()));
  out.set_left.push_back(!heavier_left);
  out.set_codes.insert(out.set_codes.end(), set.begin(), set.end());
  out.set_start.push_back(static_cast<int64_t>(out.set_codes.size()));
  listed_.resize(std::max(listed_.size(), (size_t{view.n_codes} >> 6) + 1), 0);
  for (const uint32_t code : set) listed_[code >> 6] |= uint64_t{1} << (code & 63);
  const Router router{out.missing_left.back() != 0, 0, listed_.data(), !heavier_left};
  const size_t n_left = with_codes(view.data, view.width, [&](const auto* codes) {
    return part(ids, [&](uint32_t row, size_t) { return router.left(codes[row]); });
  });
  for (const uint32_t code : set) listed_[code >> 6] = 0;  // work for the codes named, not for all of the column
  return n_left;
}

}  // namespace weald
