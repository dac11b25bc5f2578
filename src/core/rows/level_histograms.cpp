// LevelSums: the histograms of the listed rows of a slice, column by column.
#include <algorithm>

#include "core/rows/level_sums.h"
#include "core/tree/statistics/quantise.h"

namespace weald {

namespace {

constexpr int64_t rows_in_words = NarrowRows::rows_before_flush;

}  // namespace

void LevelSums::add_columns(const Codes& codes, Run& run) {
  require(codes.columns.size() == columns_.size(), "a block has the columns of its codebook");
  bool full = false;  // the words of some histogram could overflow
  if (narrow()) {
    for (size_t h = 0; h < in_words_.size(); ++h) full |= in_words_[h] + in_slice_[h] > rows_in_words;
    if (full) std::fill(in_words_.begin(), in_words_.end(), 0);
    for (size_t h = 0; h < in_words_.size(); ++h) in_words_[h] += in_slice_[h];
  }
  parallel_for(run, static_cast<int64_t>(columns_.size()), [&](int64_t j, int) {
    const CodeColumn& column = codes.columns[static_cast<size_t>(j)];
    const Column& at = columns_[static_cast<size_t>(j)];
    require(column.n_codes == at.n_codes && column.sparse == at.sparse, "a block has the codes of its codebook");
    if (full) flush(at);
    column.sparse ? add_sparse(column, at) : add_dense(column, at);
  });
}

namespace {

// Calls f(first, n) for the listed rows of each segment.
template <class F>
void for_segments(std::span<const uint32_t> n, const F& f) {
  for (size_t s = 0; s < n.size(); ++s) f(s * newton_row_block, size_t{n[s]});
}

}  // namespace

void LevelSums::add_dense(const CodeColumn& column, const Column& at) {
  uint64_t* const words = packed_.data() + at.word_start;
  const size_t n_words = at.n_words;
  with_codes(column, [&](const auto* codes) {
    for_segments(listed_.n, [&](size_t first, size_t n) {
      if (narrow()) {
        const Narrow* const listed = listed_.narrow.data() + first;
        for (size_t i = 0; i < n; ++i) {
          const Narrow each = listed[i];
          words[each.histogram * n_words + codes[each.row]] += each.value.word();
        }
        return;
      }
      const uint32_t* const place = listed_.place.data() + first;
      if (words_) {
        const uint64_t* const word = listed_.word.data() + first;
        for (size_t i = 0; i < n; ++i) words[(place[i] >> 16) * n_words + codes[place[i] & 0xffffU]] += word[i];
        return;
      }
      const int64_t* lanes = listed_.lanes.data() + first * n_lanes_;
      for (size_t i = 0; i < n; ++i, lanes += n_lanes_) {
        int64_t* const cell =
            cells.data() + (place[i] >> 16) * n_cells() + at.start + stride_ * codes[place[i] & 0xffffU];
        for (size_t l = 0; l < n_lanes_; ++l) cell[l] += lanes[l];
        if (task_.counted) ++cell[n_lanes_];
      }
    });
  });
}

void LevelSums::add_sparse(const CodeColumn& column, const Column& at) {
  require(column.default_code == at.default_code, "a sparse block leaves out the code that its codebook does");
  with_codes(column, [&](const auto* codes) {
    for (uint32_t e = 0; e < column.n_entries; ++e) {
      const uint32_t entry = listed_.entry_of[column.rows[e]];
      if (entry == nowhere) continue;
      const size_t histogram = narrow() ? listed_.narrow[entry].histogram : listed_.place[entry] >> 16;
      int64_t* const cell = cells.data() + histogram * n_cells() + at.start + stride_ * codes[e];
      if (words_) {
        unpack_add(NarrowRows{}, narrow() ? listed_.narrow[entry].value.word() : listed_.word[entry], cell);
        continue;
      }
      for (size_t l = 0; l < n_lanes_; ++l) cell[l] += listed_.lanes[entry * n_lanes_ + l];
      if (task_.counted) ++cell[n_lanes_];
    }
  });
}

// The words of a column to its wide cells.
void LevelSums::flush(const Column& at) {
  if (at.sparse) return;
  const size_t n_cells_all = n_cells();
  for (size_t h = 0; h < task_.plan.n_histograms; ++h) {
    uint64_t* const words = packed_.data() + at.word_start + h * at.n_words;
    int64_t* const to = cells.data() + h * n_cells_all + at.start;
    for (size_t code = 0; code <= at.n_codes; ++code) unpack_add(NarrowRows{}, words[code], to + 2 * code);
    std::fill_n(words, at.n_words, uint64_t{0});
  }
}

void LevelSums::add(LevelSums& other, Run& run) {
  other.finish(run);
  const auto add_all = [](const auto& from, auto& to) {
    for (size_t i = 0; i < to.size(); ++i) to[i] += from[i];
  };
  add_all(other.cells, cells);
  add_all(other.totals.rows, totals.rows);
  add_all(other.totals.lanes, totals.lanes);
  add_all(other.leaf_sums, leaf_sums);
  add_all(other.hist_rows_, hist_rows_);
  for (size_t i = 0; i < totals.squares.size(); ++i) totals.squares[i].add(other.totals.squares[i]);
  weight += other.weight;
}

// What is left in words, and the default codes of sparse columns, which have the rest of each histogram.
void LevelSums::finish(Run& run) {
  parallel_for(run, static_cast<int64_t>(columns_.size()), [&](int64_t j, int) {
    const Column& at = columns_[static_cast<size_t>(j)];
    if (words_) flush(at);
    for (size_t h = 0; at.sparse && h < task_.plan.n_histograms; ++h) {
      int64_t* const first = cells.data() + h * n_cells() + at.start;
      for (size_t lane = 0; lane < stride_; ++lane) {
        int64_t rest = lane < n_lanes_ ? totals.lanes[h * n_lanes_ + lane] : hist_rows_[h];
        for (size_t code = 0; code <= at.n_codes; ++code) {
          if (code != at.default_code) rest -= first[stride_ * code + lane];
        }
        first[stride_ * at.default_code + lane] = rest;
      }
    }
  });
}

}  // namespace weald
