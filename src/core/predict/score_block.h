// The scores of a block of rows, output after output. Trees wait until some have come, so that a row's score stays in a
// register while their values are added to it, one after another in the order they came.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/predict/top_block.h"

namespace weald {

// Scores that exist elsewhere: of row i and output k, data[i · row_stride + k · output_stride].
struct ScoreView {
  double* data;
  int64_t row_stride, output_stride;

  double& at(int64_t row, int64_t output) const { return data[row * row_stride + output * output_stride]; }
  ScoreView from_row(int64_t row) const { return {data + row * row_stride, row_stride, output_stride}; }
};

template <class Code>
class ScoreBlock {
 public:
  // Room for `most_rows`, a multiple of 32. A tree adds to `width` outputs.
  ScoreBlock(int64_t n_outputs, int64_t width, int64_t most_rows)
      : n_outputs_(n_outputs),
        width_(width),
        stride_(most_rows),
        scores_(static_cast<size_t>(n_outputs * most_rows), 0.0),
        exits_(static_cast<size_t>(most_waiting * most_rows)) {
    waiting_.reserve(most_waiting);
  }

  void load(const ScoreView& from, int64_t n) {
    for (int64_t k = 0; k < n_outputs_; ++k) {
      for (int64_t i = 0; i < n; ++i) score(k)[i] = from.at(i, k);
    }
  }
  void store(const ScoreView& out, int64_t n) {
    for (int64_t k = 0; k < n_outputs_; ++k) {
      for (int64_t i = 0; i < n; ++i) out.at(i, k) = score(k)[i];
    }
  }
  double* score(int64_t output) { return scores_.data() + output * stride_; }

  // Where the next tree's exits are to be put, before it is added.
  Code* next_exits() { return exits_.data() + static_cast<int64_t>(waiting_.size()) * stride_; }
  // The tree adds to `output` and on; its exits' values are n_exits for each of these.
  void add(int32_t output, const double* values, size_t n_exits, int64_t n) {
    // Trees on outputs that overlap but are not the same must not overtake each other.
    const bool overlaps = width_ > 1 && !waiting_.empty() && waiting_.back().output != output;
    Code* exits = next_exits();
    if (overlaps) {
      add_waiting(n);
      std::copy_n(exits, stride_, next_exits());
      exits = next_exits();
    }
    waiting_.push_back({output, values, n_exits, exits});
    if (waiting_.size() == most_waiting) add_waiting(n);
  }
  // Rows may be added up to the next multiple of 8.
  void add_waiting(int64_t n) {
    if (width_ == 1) std::ranges::stable_sort(waiting_, {}, &Waiting::output);
    for (size_t begin = 0; begin < waiting_.size();) {
      size_t end = begin;
      while (end < waiting_.size() && waiting_[end].output == waiting_[begin].output) ++end;
      for (int64_t k = 0; k < width_; ++k) add_trees(begin, end, k, n);
      begin = end;
    }
    waiting_.clear();
  }

 private:
  static constexpr size_t most_waiting = 16;
  struct Waiting {
    int32_t output;
    const double* values;
    size_t n_exits;
    const Code* exits;
  };

  void add_trees(size_t begin, size_t end, int64_t k, int64_t n) {
    constexpr int64_t together = 8;
    double* to = score(waiting_[begin].output + k);
    for (int64_t i = 0; i < n; i += together) {
      double sum[together];
      for (int64_t r = 0; r < together; ++r) sum[r] = to[i + r];
      for (size_t t = begin; t < end; ++t) {
        const double* values = waiting_[t].values + static_cast<size_t>(k) * waiting_[t].n_exits;
        const Code* exits = waiting_[t].exits + i;
#pragma GCC unroll 8
        for (int64_t r = 0; r < together; ++r) sum[r] += values[exits[r]];
      }
      for (int64_t r = 0; r < together; ++r) to[i + r] = sum[r];
    }
  }

  int64_t n_outputs_, width_, stride_;
  std::vector<double> scores_;
  AlignedArray<Code> exits_;
  std::vector<Waiting> waiting_;
};

}  // namespace weald
