#include "core/tree/grow/row_orders.h"

namespace weald {

void RowOrders::put_in_order(int32_t j, const GrowNode& node, std::span<const uint32_t> ids, size_t n_all,
                             Worker& worker) {
  const auto at = static_cast<size_t>(j);
  const GrowColumn& column = columns_[at];
  if (entries_[at] == nullptr) entries_[at] = std::make_unique_for_overwrite<Entry[]>(n_all);
  Entry* const to = carried(j, node).data();
  std::unique_ptr<Entry[]>* kept = nullptr;
  if (kept_ != nullptr && node.size() == n_rows_) kept = &kept_->of_column[at];
  if (kept != nullptr && *kept != nullptr) {
    std::copy_n(kept->get(), node.size(), to);
    return;
  }
  worker.scratch.resize(std::max(worker.scratch.size(), node.size()));
  order_rows(column.data, column.width, ids, column.n_codes, to, worker.scratch.data());
  if (kept == nullptr) return;
  *kept = std::make_unique_for_overwrite<Entry[]>(node.size());
  std::copy_n(to, node.size(), kept->get());
}

std::span<const Entry> RowOrders::make(int32_t j, std::span<const uint32_t> ids, const RankedWhole& whole,
                                       Worker& worker) {
  const auto at = static_cast<size_t>(j);
  const GrowColumn& column = columns_[at];
  worker.entries.resize(std::max(worker.entries.size(), ids.size()));
  if (ranks_.empty()) {
    worker.scratch.resize(std::max(worker.scratch.size(), ids.size()));
    order_rows(column.data, column.width, ids, column.n_codes, worker.entries.data(), worker.scratch.data());
    return {worker.entries.data(), ids.size()};
  }
  if (!ranks_.has(at)) {
    if (whole.ranks != nullptr && whole.ranks->has(at)) {
      ranks_.add_some(at, *whole.ranks, whole.ids, whole.number_of, worker.bits);
    } else {
      ranks_.add(at, column.data, column.width, column.n_codes, worker.scratch);
    }
  }
  ranks_.read(at, ids, worker.bits, worker.entries.data());
  return {worker.entries.data(), ids.size()};
}

}  // namespace weald
