#include "core/tree/items/packed_search.h"

#include <algorithm>

#include "core/base/mathematics.h"
#include "core/tree/split/believed.h"
#include "core/tree/split/words.h"

namespace weald {

template class LaneSearch<NarrowRows, Newton>;

namespace {

const NarrowRows no_rows;  // histograms have been built by others

}  // namespace

PackedSearch::PackedSearch(const Newton& criterion, const GrowOptions& options, bool counted, bool words)
    : LaneSearch(no_rows, criterion, options, counted), words_(words) {}

bool PackedSearch::in_cells(const Searched& at, const int64_t* cells, Split& best) {
  begin(at);
  if (words_) {
    in_words(at, reinterpret_cast<const uint64_t*>(cells), best);
  } else {
    search_cells(at, cells, counted_, best);
  }
  return scan_.constant;
}

// Four candidates at a time where nothing is special, else unpacked and as usual.
void PackedSearch::in_words(const Searched& at, const uint64_t* packed, Split& best) {
  const uint32_t n_codes = at.column.n_codes;
  if (at.column.kind == ColumnKind::categorical || packed[0] != 0 || scan_.constrained() || criterion_.max_step > 0) {
    unpacked_.assign(2 * (size_t{n_codes} + 1), 0);
    for (size_t code = 0; code <= n_codes; ++code) unpack_add(rows_, packed[code], unpacked_.data() + 2 * code);
    return search_cells(at, unpacked_.data(), false, best);
  }
  // A tie goes to the lower column, which may be this one.
  const double to_beat = best.column > at.j ? next_below(best.score) : best.score;
  const WordColumn column{packed, n_codes, {at.lanes[0], at.lanes[1]}, options_.min_weight_leaf};
  scan_.constant = constant_words(column);
  if (scan_.constant) return;
  const BestWord found = best_word(column, criterion_, to_beat);
  if (found.code == 0) return;
  uint32_t next = found.code + 1;
  while (next <= n_codes && packed[next] == 0) ++next;
  if (next > n_codes) return;  // nothing on the right: worth no more than the node
  Lanes<2> left(2);
  unpack_add(rows_, found.left, left.data());
  scan_.take(found.score, found.code, next, left);
  scan_.offer(at.j, best);
}

void PackedSearch::listed_rows(const int64_t* cells, size_t i, int64_t* lanes) const {
  if (words_) {
    lanes[0] = lanes[1] = 0;
    unpack_add(rows_, static_cast<uint64_t>(cells[i]), lanes);
  } else {
    std::copy_n(cells + 2 * i, 2, lanes);
  }
}

// Left is code 1: the rows that are listed, or all others.
void PackedSearch::set_left(const Searched& at, const int64_t* listed) {
  begin(at);
  const bool listed_left = at.column.default_code == 2;
  for (int l = 0; l < 2; ++l) scan_.left.data()[l] = listed_left ? listed[l] : at.lanes[l] - listed[l];
}

void PackedSearch::in_flags(std::span<const int32_t> flags, const std::vector<GrowColumn>& columns,
                            const int64_t* cells, std::span<const uint8_t> usable, const GrowNode& node,
                            const int64_t* total, Split& best) {
  const auto column_at = [&](size_t i) {
    return searched(flags[i], columns[static_cast<size_t>(flags[i])], node, total, options_);
  };
  if (!options_.monotone.empty() || criterion_.max_step > 0) {
    for (size_t i = 0; i < flags.size(); ++i) {
      int64_t rows[2];
      listed_rows(cells, i, rows);
      const bool both = (rows[0] | rows[1]) != 0 && (rows[0] != total[0] || rows[1] != total[1]);
      if ((!usable.empty() && usable[i] == 0) || !both) continue;
      set_left(column_at(i), rows);
      scan_.consider(1, 2, 1);
      scan_.offer(flags[i], best);
    }
    return;
  }
  const double to_beat = best.column > flags[0] ? next_below(best.score) : best.score;
  const BestFlag found = best_flag({cells,
                                    flags.size(),
                                    words_,
                                    usable.empty() ? nullptr : usable.data(),
                                    {total[0], total[1]},
                                    options_.min_weight_leaf},
                                   criterion_, to_beat);
  if (!found.found) return;
  set_left(column_at(found.place), found.rows);
  scan_.take(found.score, 1, 2, scan_.left);
  scan_.offer(flags[found.place], best);
}

}  // namespace weald
