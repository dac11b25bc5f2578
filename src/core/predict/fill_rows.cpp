#include "core/predict/fill_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/data/ascending.h"

namespace weald {

void load_column(const PredictColumn& column, int64_t first, int64_t n, double* out, int64_t stride) {
  load_rows(column.raw, first, n, out, stride);
  if (!column.levels) return;
  for (int64_t i = 0; i < n; ++i) {
    double& index = out[i * stride];
    index = index < 0 ? std::numeric_limits<double>::quiet_NaN() : index + 1;
  }
}

void RowFiller::fill(int64_t first, int64_t n) {
  if (table_.sparse == nullptr) return fill_columns(first, n);
  clear(n);
  with_types(*table_.sparse, [&](auto value, auto index) { fill_sparse<decltype(value), decltype(index)>(first, n); });
  for (size_t c = 0; c < table_.positions.size(); ++c) {
    const int32_t slot = used_.slot(table_.positions[c]);
    if (slot >= 0) load_column(table_.columns[c], first, n, rows_ + slot, width_);
  }
}

// The first n rows of the buffer as those of a table that holds nothing.
void RowFiller::clear(int64_t n) {
  const bool missing = table_.sparse->absent_missing;
  const double absent = missing ? std::numeric_limits<double>::quiet_NaN() : 0.0;
  for (const int64_t at : touched_) rows_[at] = absent;
  touched_.clear();
  if (!missing || n <= blank_) return;
  std::fill(rows_ + blank_ * width_, rows_ + n * width_, absent);
  blank_ = n;
}

void RowFiller::fill_columns(int64_t first, int64_t n) {
  const auto used = used_.columns();
  size_t slot = 0;
  for (size_t j = 0; j < table_.columns.size(); ++j) {
    if (slot < used.size() && used[slot] == static_cast<int32_t>(j)) {
      load_column(table_.columns[j], first, n, rows_ + slot++, width_);
    } else {
      check_finite(table_.columns[j].raw, first, n);
    }
  }
}

void RowFiller::put(int64_t to, int32_t column, double value) {
  const int32_t slot = used_.slot(column);
  if (slot < 0 || (value == 0 && table_.sparse->absent_missing)) return;
  rows_[to + slot] = value;
  touched_.push_back(to + slot);
}

template <class T, class Index>
void RowFiller::fill_sparse(int64_t first, int64_t n) {
  const SparseView& matrix = *table_.sparse;
  const auto* index = static_cast<const Index*>(matrix.index);
  const auto* data = static_cast<const T*>(matrix.data);
  for (int64_t row = first; row < first + n; ++row) {
    const int64_t begin = matrix.start[static_cast<size_t>(row)], end = matrix.start[static_cast<size_t>(row) + 1];
    if (begin == end) continue;
    bool ascending = true;
    for (int64_t i = begin + 1; i < end; ++i) ascending &= index[i - 1] < index[i];
    if (!ascending) {
      fill_unsorted<T, Index>(row, (row - first) * width_);
      continue;
    }
    check_index(index[begin], matrix.n_columns);
    check_index(index[end - 1], matrix.n_columns);
    bool finite = true;
    for (int64_t i = begin; i < end; ++i) {
      const auto value = static_cast<double>(data[i]);
      finite &= !(std::abs(value) > std::numeric_limits<double>::max());
      put((row - first) * width_, static_cast<int32_t>(index[i]), value);
    }
    if (!finite) throw InfiniteValue();
  }
}

// A row whose columns do not ascend may hold one of them twice: such entries are added up.
template <class T, class Index>
void RowFiller::fill_unsorted(int64_t row, int64_t to) {
  const SparseView& matrix = *table_.sparse;
  const int64_t begin = matrix.start[static_cast<size_t>(row)], end = matrix.start[static_cast<size_t>(row) + 1];
  const auto* index = static_cast<const Index*>(matrix.index);
  const auto* data = static_cast<const T*>(matrix.data) + begin;
  std::vector<PlacedIndex> order;
  for (int64_t i = begin; i < end; ++i) {
    check_index(index[i], matrix.n_columns);
    order.emplace_back(index[i], static_cast<uint32_t>(i - begin));
  }
  sort_ascending(order);
  for (size_t i = 0; i < order.size();) {
    const int64_t column = order[i].first;
    T sum = data[order[i].second];
    for (++i; i < order.size() && order[i].first == column; ++i) sum = added(sum, data[order[i].second], matrix.dtype);
    const auto value = static_cast<double>(sum);
    if (std::isinf(value)) throw InfiniteValue();
    put(to, static_cast<int32_t>(column), value);
  }
}

}  // namespace weald
