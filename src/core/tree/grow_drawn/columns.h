// The columns a node draws: the first of a shuffle that is undone afterwards, so that each node starts from the same.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/random.h"

namespace weald {

class DrawnColumns {
 public:
  explicit DrawnColumns(size_t n) : columns_(n), swapped_(n) { std::iota(columns_.begin(), columns_.end(), 0); }

  size_t size() const { return columns_.size(); }
  int32_t operator[](size_t i) const { return columns_[i]; }
  // Draws the i-th; those before it are drawn.
  int32_t draw(const Draws& draws, size_t i) {
    const auto left = static_cast<unsigned __int128>(columns_.size() - i);
    swapped_[i] = i + static_cast<size_t>((static_cast<unsigned __int128>(draws(i)) * left) >> 64);
    std::swap(columns_[i], columns_[swapped_[i]]);
    return columns_[i];
  }
  // Puts the n drawn back.
  void undraw(size_t n) {
    while (n-- > 0) std::swap(columns_[n], columns_[swapped_[n]]);
  }

 private:
  std::vector<int32_t> columns_;
  std::vector<size_t> swapped_;
};

}  // namespace weald
