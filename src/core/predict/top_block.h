// A block of rows on its way through the tops of trees: their codes, and the way out each row takes.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "core/predict/laid_out_forest.h"
#include "core/predict/tops.h"

namespace weald {

namespace top_kernels {

// Codes are stored as signed numbers from the type's lowest up: instruction sets compare signed ones.
template <class Code>
using Stored = std::make_signed_t<Code>;
template <class Code>
inline constexpr int lowest = std::numeric_limits<Stored<Code>>::lowest();

// The number of cuts below values[i], as a stored code, for i < n. NaN gives the lowest code in `missing_left`, the
// highest in `missing_right`; either may be null. `below` is room for n numbers.
template <class Code>
void search(const double* values, int64_t n, const CutColumn& column, int32_t* below, Stored<Code>* missing_left,
            Stored<Code>* missing_right);

// exits[i] = the way out of row i, for i < n, a multiple of 32; the codes of a slot are `stride` apart and aligned to
// 32 bytes, as the exits are.
template <class Code>
void pass(const TopSplit* splits, size_t n_splits, const Stored<Code>* codes, int64_t stride, int64_t n, Code* exits);

}  // namespace top_kernels

template <class T>
class AlignedArray {
 public:
  explicit AlignedArray(size_t size) : data_(static_cast<T*>(operator new(size * sizeof(T) + 1, alignment))) {}
  T* data() { return data_.get(); }

 private:
  static constexpr std::align_val_t alignment{32};
  struct Free {
    void operator()(T* data) const { operator delete(data, alignment); }
  };
  std::unique_ptr<T, Free> data_;
};

template <class Code>
class TopBlock {
 public:
  // Room for `most_rows`, a multiple of 32.
  TopBlock(const Tops& tops, int64_t most_rows)
      : tops_(tops),
        stride_(most_rows),
        codes_(tops.n_slots() * static_cast<size_t>(most_rows)),
        values_(static_cast<size_t>(most_rows)),
        below_(static_cast<size_t>(most_rows)),
        levels_(tops.level_columns.size() * static_cast<size_t>(most_rows)) {}

  // Codes of rows first … first + n; those between n and the next multiple of 32 are made up.
  template <class Rows>
  void read(const Rows& rows, const LaidOutForest::Layout& layout, int64_t first, int64_t n) {
    padded_ = (n + 31) / 32 * 32;
    std::fill(values_.begin() + n, values_.begin() + padded_, 0.0);
    const auto load = [&](int32_t used) {
      rows.load(first, n, layout.column_of_slot[static_cast<size_t>(used)], values_.data());
    };
    for (const CutColumn& column : tops_.columns) {
      load(column.used);
      const auto slot = [&](int32_t at) { return at < 0 ? nullptr : codes_.data() + at * stride_; };
      top_kernels::search<Code>(values_.data(), padded_, column, below_.data(), slot(column.slot_missing_left),
                                slot(column.slot_missing_right));
    }
    for (size_t c = 0; c < tops_.level_columns.size(); ++c) {
      load(tops_.level_columns[c].used);
      const uint32_t others = tops_.level_columns[c].others;
      uint32_t* levels = levels_.data() + static_cast<int64_t>(c) * stride_;
      for (int64_t i = 0; i < padded_; ++i) {
        const double value = values_[static_cast<size_t>(i)];
        const uint32_t code = level_code(value);
        levels[i] = value != value ? 0 : code == 0 || code > others ? others : code;
      }
    }
  }

  int64_t padded() const { return padded_; }

  // exits[i] = the way out of the tree, of each row that was read; room for padded().
  void pass(const TopTree& tree, Code* exits) {
    for (size_t s = tree.first_set; s < tree.first_set + tree.n_sets; ++s) answer(tops_.sets[s]);
    top_kernels::pass<Code>(tops_.splits.data() + tree.first_split, tree.n_splits, codes_.data(), stride_, padded_,
                            exits);
  }

 private:
  void answer(const SetSplit& split) {
    const uint32_t* levels = levels_.data() + split.level_column * stride_;
    const uint8_t* answers = tops_.answers.data() + split.first_answer;
    auto* out = codes_.data() + split.slot * stride_;
    for (int64_t i = 0; i < padded_; ++i) out[i] = static_cast<top_kernels::Stored<Code>>(answers[levels[i]]);
  }

  const Tops& tops_;
  int64_t stride_, padded_ = 0;
  AlignedArray<top_kernels::Stored<Code>> codes_;
  std::vector<double> values_;  // of one column
  std::vector<int32_t> below_;
  std::vector<uint32_t> levels_;  // of each level column
};

}  // namespace weald
