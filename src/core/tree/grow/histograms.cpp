#include "core/tree/grow/histograms.h"

#include <utility>

namespace weald {

void Histograms::keep_in(std::vector<std::unique_ptr<int64_t[]>>& spare, size_t& cells_each) {
  if (std::exchange(cells_each, total_) != total_) spare.clear();  // another tree may have other columns
  spare_ = &spare;
}

void Histograms::take_memory(std::span<GrowNode*> children, GrowNode* parent) {
  for (GrowNode* child : children) {
    if (child->size() < smallest_rows_) continue;
    if (parent != nullptr && parent->cells != nullptr && 2 * child->size() > parent->size()) {
      child->cells = std::move(parent->cells);
      child->inherits = true;
    } else if (in_use_ + bytes() <= budget_) {
      child->cells = make();
      in_use_ += bytes();
    }
  }
  if (parent != nullptr && parent->cells != nullptr) {
    parent->cells.reset();
    in_use_ -= bytes();
  }
}

Cells Histograms::make() {
  if (spare_ == nullptr) return Cells(new int64_t[total_]);
  if (spare_->empty()) {
    spare_->reserve(spare_->capacity() + 1);  // none is there, so all that were made are out and come back
    return Cells(new int64_t[total_], ReturnCells{spare_});
  }
  Cells cells(spare_->back().release(), ReturnCells{spare_});
  spare_->pop_back();
  return cells;
}

}  // namespace weald
