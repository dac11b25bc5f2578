#include "core/svm/dual/row_cache.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace weald::svm {

namespace {

constexpr size_t huge_page = size_t{2} << 20;

}  // namespace

Pieces::Pieces(int64_t bytes) : size_(padded(bytes, static_cast<int64_t>(huge_page))) {}

Pieces::~Pieces() {
  for (char* piece : all_) ::operator delete(piece, std::align_val_t{huge_page});
}

char* Pieces::take() {
  if (!unused_.empty()) {
    char* piece = unused_.back();
    unused_.pop_back();
    return piece;
  }
  all_.push_back(nullptr);
  unused_.reserve(all_.size());  // pieces come back while exceptions are on their way
  const auto size = static_cast<size_t>(size_);
  all_.back() = static_cast<char*>(::operator new(size, std::align_val_t{huge_page}));
#if defined(MADV_HUGEPAGE)
  madvise(all_.back(), size, MADV_HUGEPAGE);  // advice: it may be refused
#endif
  return all_.back();
}

template <class Float>
RowCache<Float>::RowCache(int64_t n_rows, int64_t row_length, int64_t bytes, int kept_at, Pieces& pieces)
    : stride_(padded(row_length, panel_size<Float>)),
      n_tiles_((row_length + tile_columns - 1) / tile_columns),
      pieces_(&pieces),
      slot_of_(static_cast<size_t>(n_rows), -kept_at) {
  const int64_t row_bytes = std::max<int64_t>(stride_ * static_cast<int64_t>(sizeof(Float)) + n_tiles_, 1);
  const int64_t in_piece = std::max<int64_t>(pieces.size() / row_bytes, 1);
  capacity_ = std::min(bytes < pieces.size() ? bytes / row_bytes : bytes / pieces.size() * in_piece, n_rows);
}

template <class Float>
RowCache<Float>::~RowCache() {
  for (char* piece : taken_) pieces_->give_back(piece);
}

template <class Float>
int32_t RowCache<Float>::claim(int32_t row) {
  int32_t slot = slot_of_[static_cast<size_t>(row)];
  if (slot < -1) {
    ++slot_of_[static_cast<size_t>(row)];
    return -1;
  }
  if (slot < 0) {
    slot = new_slot();
    if (slot < 0) return -1;
    slot_of_[static_cast<size_t>(row)] = slot;
    row_of_[static_cast<size_t>(slot)] = row;
  } else {
    unlink(slot);
  }
  to_front(slot);
  used_at_[static_cast<size_t>(slot)] = now_;
  return slot;
}

template <class Float>
int32_t RowCache<Float>::new_slot() {
  const auto n_slots = static_cast<int64_t>(rows_.size());
  if (n_slots < capacity_) {
    const int64_t a_piece = pieces_->size() / (stride_ * static_cast<int64_t>(sizeof(Float)));
    const int64_t in_piece = n_slots % a_piece;
    if (in_piece == 0) taken_.push_back(pieces_->take());
    rows_.push_back(reinterpret_cast<Float*>(taken_.back()) + in_piece * stride_);
    filled_.resize(filled_.size() + static_cast<size_t>(n_tiles_), 0);
    row_of_.push_back(-1);
    used_at_.push_back(-1);
    newer_.push_back(-1);
    older_.push_back(-1);
    return static_cast<int32_t>(n_slots);
  }
  if (oldest_ < 0 || used_at_[static_cast<size_t>(oldest_)] == now_) return -1;
  const int32_t slot = oldest_;
  unlink(slot);
  slot_of_[static_cast<size_t>(row_of_[static_cast<size_t>(slot)])] = -1;
  std::fill_n(filled(slot), n_tiles_, uint8_t{0});
  return slot;
}

template <class Float>
void RowCache<Float>::unlink(int32_t slot) {
  const int32_t newer = newer_[static_cast<size_t>(slot)];
  const int32_t older = older_[static_cast<size_t>(slot)];
  (newer < 0 ? newest_ : older_[static_cast<size_t>(newer)]) = older;
  (older < 0 ? oldest_ : newer_[static_cast<size_t>(older)]) = newer;
}

template <class Float>
void RowCache<Float>::to_front(int32_t slot) {
  newer_[static_cast<size_t>(slot)] = -1;
  older_[static_cast<size_t>(slot)] = newest_;
  (newest_ < 0 ? oldest_ : newer_[static_cast<size_t>(newest_)]) = slot;
  newest_ = slot;
}

template class RowCache<float>;
template class RowCache<double>;

}  // namespace weald::svm
