// Rows of the kernel matrix that were computed before, as many as a number of bytes holds; the one unused for longest
// makes room. Rows are as long as a set of columns and filled tile by tile: which tiles of a row are there is kept too,
// so that problems on some of the columns pay for those alone and leave the rest to others.
#pragma once

#include <cstdint>
#include <vector>

#include "core/svm/kernel/tiles.h"

namespace weald::svm {

// Pieces of memory of one size, in large pages where the system grants them, that caches take and give back: rows are
// hundreds of megabytes, and memory that is new costs as much to get as to fill.
class Pieces {
 public:
  explicit Pieces(int64_t bytes);
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;
  ~Pieces();
  int64_t size() const { return size_; }
  char* take();
  void give_back(char* piece) noexcept { unused_.push_back(piece); }  // room was made when it was taken

 private:
  int64_t size_;
  std::vector<char*> all_, unused_;
};

template <class Float>
class RowCache {
 public:
  // A row is kept from its `kept_at`-th use on: memory that was never touched may cost as much to get as a row costs to
  // compute, and many rows are used a few times only.
  // A piece has room for a row; the pieces must outlive the cache.
  RowCache(int64_t n_rows, int64_t row_length, int64_t bytes, int kept_at, Pieces& pieces);
  RowCache(RowCache&&) noexcept = default;
  ~RowCache();

  // A new use of the cache: rows claimed from now on stay until the next.
  void begin() { ++now_; }
  // The place of a row, found or made; -1 where it is not to be kept, or all places are taken by rows claimed since
  // `begin`.
  int32_t claim(int32_t row);
  Float* row(int32_t slot) const { return rows_[static_cast<size_t>(slot)]; }
  // One byte per tile, not 0 if it is there.
  uint8_t* filled(int32_t slot) { return filled_.data() + int64_t{slot} * n_tiles_; }

 private:
  int32_t new_slot();
  void unlink(int32_t slot);
  void to_front(int32_t slot);

  int64_t stride_, n_tiles_, capacity_;
  int64_t now_ = 0;
  Pieces* pieces_;
  std::vector<char*> taken_;
  std::vector<Float*> rows_;            // of each slot
  std::vector<uint8_t> filled_;         // of each slot and tile
  std::vector<int32_t> slot_of_;        // of each row: where it is kept, or −1 − the uses that are to come before it is
  std::vector<int32_t> row_of_;         // of each slot
  std::vector<int64_t> used_at_;        // of each slot
  std::vector<int32_t> newer_, older_;  // a list of slots by use
  int32_t newest_ = -1, oldest_ = -1;
};

}  // namespace weald::svm
