// Blocks of kernel values. Some rows ("left") meet a set of rows that stand as the columns of the kernel matrix.
//
// Lanes of a vector are different columns of the block, never parts of one sum: each sum runs over the columns of the
// table in ascending order at any vector width, with one rounding per product (fused.h). So a kernel value depends on
// its two rows alone: not on the block it is computed in, on threads or on the instruction set. Dense rows lie in
// panels [k][lane], a cache line per column of the table; of compressed rows it is the left ones that are spread out
// so, a group at a time, and the entries of the others are read once per group.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/svm/kernel/points.h"
#include "core/svm/kernel/program.h"

namespace weald::svm {

// Columns in a panel: a cache line.
template <class Float>
constexpr int64_t panel_size = 64 / static_cast<int64_t>(sizeof(Float));
// Columns that are worked on together, a multiple of every panel: 512 kernel values of a row stay in the nearest cache.
constexpr int64_t tile_columns = 512;

inline int64_t padded(int64_t n, int64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

// Memory that starts at a cache line.
template <class T>
class Aligned {
 public:
  Aligned() = default;
  explicit Aligned(size_t n) : data_(n == 0 ? nullptr : new (std::align_val_t{64}) T[n]()), size_(n) {}
  T* data() const { return data_.get(); }
  size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(T* p) const { ::operator delete[](p, std::align_val_t{64}); }
  };
  std::unique_ptr<T[], Free> data_;
  size_t size_ = 0;
};

// What a thread needs to compute tiles; made once, used for many.
template <class Float>
struct TileScratch {
  Aligned<Float> left;    // the left rows of a group, [k][row]
  Aligned<Float> sums;    // of a group, [sum][row][column]
  Aligned<Float> stack;   // of the program, [place][column]
  Aligned<Float> spread;  // compressed rows of a group, [k][lane]; zero between groups
};

// Rows that stand as columns. Both it and left rows must have been made with one centre.
template <class Float>
class KernelColumns {
 public:
  KernelColumns(const Program& program, bool squares, const Points<Float>& points, std::span<const int32_t> ids,
                Run& run);

  int64_t size() const { return static_cast<int64_t>(ids_.size()); }
  TileScratch<Float> scratch() const;

  // The kernel of each left row with columns [first, last): out[i][j − first]. `first` is a multiple of a panel, last −
  // first at most `tile_columns`, and each out has room for a multiple of a panel.
  void fill(const Points<Float>& left, std::span<const int32_t> rows, int64_t first, int64_t last, Float* const* out,
            TileScratch<Float>& scratch) const;

 private:
  struct Tile;
  void fill_group(const Tile& tile) const;

  const Program* program_;
  bool squares_;
  std::array<bool, n_sums> sums_;
  const Points<Float>* points_;
  std::vector<int32_t> ids_;
  Aligned<Float> panels_;  // dense: [panel][k][lane]
  Aligned<Float> norms_;
  bool finite_ = true;  // all of them
};

}  // namespace weald::svm
