// LevelSums: the histograms of the listed rows of a slice, column by column.
#include <algorithm>
#include <array>
#include <vector>

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
  const std::vector<std::vector<size_t>> groups = groups_of(codes, run.n_threads());
  parallel_for(run, static_cast<int64_t>(groups.size()), [&](int64_t g, int) {
    const std::vector<size_t>& group = groups[static_cast<size_t>(g)];
    for (const size_t j : group) {
      const CodeColumn& column = codes.columns[j];
      require(column.n_codes == columns_[j].n_codes && column.sparse == columns_[j].sparse,
              "a block has the codes of its codebook");
      if (full) flush(columns_[j]);
    }
    const CodeColumn& first = codes.columns[group[0]];
    if (first.sparse) return add_sparse(first, columns_[group[0]]);
    if (!words_ || first.width != 1) return add_dense(first, columns_[group[0]]);
    switch (group.size()) {
      case 1:
        return add_bytes<1>(codes, group);
      case 2:
        return add_bytes<2>(codes, group);
      case 3:
        return add_bytes<3>(codes, group);
      default:
        return add_bytes<4>(codes, group);
    }
  });
}

// Columns of one-byte codes by up to four, so that what is listed is read once for all of them, and as many groups as
// threads share evenly; every other column by itself.
std::vector<std::vector<size_t>> LevelSums::groups_of(const Codes& codes, int n_threads) const {
  constexpr size_t together = 4;
  std::vector<std::vector<size_t>> groups;
  std::vector<size_t> bytes;
  for (size_t j = 0; j < codes.columns.size(); ++j) {
    const CodeColumn& column = codes.columns[j];
    if (words_ && !column.sparse && column.width == 1) {
      bytes.push_back(j);
    } else {
      groups.push_back({j});
    }
  }
  const auto threads = static_cast<size_t>(n_threads);
  const size_t n_groups = (bytes.size() + together * threads - 1) / (together * threads) * threads;
  for (size_t g = 0; g < n_groups; ++g) {
    const size_t first = g * bytes.size() / n_groups, last = (g + 1) * bytes.size() / n_groups;
    if (first < last)
      groups.emplace_back(bytes.begin() + static_cast<std::ptrdiff_t>(first),
                          bytes.begin() + static_cast<std::ptrdiff_t>(last));
  }
  return groups;
}

namespace {

// Calls f(first, n) for the listed rows of each segment.
template <class F>
void for_segments(std::span<const uint32_t> n, const F& f) {
  for (size_t s = 0; s < n.size(); ++s) f(s * newton_row_block, size_t{n[s]});
}

}  // namespace

template <size_t N>
void LevelSums::add_bytes(const Codes& codes, std::span<const size_t> group) {
  std::array<const uint8_t*, N> of_row;
  std::array<uint64_t*, N> words;
  for (size_t k = 0; k < N; ++k) {
    of_row[k] = static_cast<const uint8_t*>(codes.columns[group[k]].data);
    words[k] = packed_.data() + columns_[group[k]].word_start;
  }
  const auto add = [of_row, words](size_t row, size_t histogram, uint64_t word) {
    const size_t first = histogram * byte_codes;
    for (size_t k = 0; k < N; ++k) words[k][first + of_row[k][row]] += word;
  };
  for_segments(listed_.n, [&](size_t first, size_t n) {
    if (narrow()) {
      const Narrow* const listed = listed_.narrow.data() + first;
      for (size_t i = 0; i < n; ++i) add(listed[i].row, listed[i].histogram, listed[i].value.word());
    } else {
      const uint32_t* const place = listed_.place.data() + first;
      const uint64_t* const word = listed_.word.data() + first;
      for (size_t i = 0; i < n; ++i) add(place[i] & 0xffffU, place[i] >> 16, word[i]);
    }
  });
}

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
      for (size_t i = 0; i < n; ++i) {
        add_lanes_of(first + i,
                     cells.data() + (place[i] >> 16) * n_cells() + at.start + stride_ * codes[place[i] & 0xffffU]);
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
      add_lanes_of(entry, cell);
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
  if (words_) {
    parallel_for(run, static_cast<int64_t>(columns_.size()),
                 [&](int64_t j, int) { flush(columns_[static_cast<size_t>(j)]); });
  }
  for (size_t h = 0; h < task_.plan.n_histograms && lanes_of_cells_; ++h) {
    const int64_t* const first = cells.data() + h * n_cells() + columns_[dense_].start;
    int64_t* const lanes = totals.lanes.data() + h * n_lanes_;
    std::fill_n(lanes, n_lanes_, int64_t{0});
    for (size_t i = 0; i < n_lanes_ * (size_t{columns_[dense_].n_codes} + 1); ++i) lanes[i % n_lanes_] += first[i];
  }
  if (!sparse_) return;
  parallel_for(run, static_cast<int64_t>(columns_.size()), [&](int64_t j, int) {
    const Column& at = columns_[static_cast<size_t>(j)];
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
