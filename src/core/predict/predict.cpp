#include "core/predict/predict.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/predict/split_kind.h"

namespace weald {

namespace {

constexpr int together = 8;  // rows that walk in step: hides the latency of the node loads

// Rows of a block, copied to float64, row after row.
struct CopiedRows {
  const double* rows;
  int64_t width;
  double operator()(int64_t i, uint32_t column) const { return rows[i * width + column]; }
};

// Rows where the user has them, if they stand together there: a C-ordered array.
template <class T>
struct RowsInPlace {
  const char* first;
  int64_t stride;
  double operator()(int64_t i, uint32_t column) const {
    return static_cast<double>(reinterpret_cast<const T*>(first + i * stride)[column]);
  }
};

// True if a value of rows [begin, end) is missing in an array without a mask; throws if one is infinite.
template <class T>
bool any_missing_in_place(std::span<const PredictColumn> columns, int64_t begin, int64_t end) {
  const RawColumn& raw = columns[0].raw;
  int odd = 0;
  for (int64_t i = begin; i < end; ++i) {
    const T* row = reinterpret_cast<const T*>(raw.data + i * raw.stride);
    for (size_t j = 0; j < columns.size(); ++j) odd |= row[j] - row[j] != 0;  // NaN for NaN and for ±inf
  }
  if (odd == 0) return false;
  for (const PredictColumn& column : columns) check_finite(column.raw, begin, end - begin);
  return true;
}

// True if the columns are float32 or float64 and lie side by side in one C-ordered array.
bool row_major(const PredictTable& table) {
  const auto& columns = table.columns;
  if (columns.empty() || table.sparse != nullptr) return false;
  const RawColumn& first = columns[0].raw;
  if (first.dtype != DType::f32 && first.dtype != DType::f64) return false;
  const int64_t size = first.dtype == DType::f32 ? 4 : 8;
  for (size_t j = 0; j < columns.size(); ++j) {
    const auto& [raw, levels] = columns[j];
    if (levels || raw.missing != nullptr || raw.dtype != first.dtype || raw.stride != first.stride ||
        raw.data - first.data != static_cast<int64_t>(j) * size) {
      return false;
    }
  }
  return true;
}

}  // namespace

// ---- walking -----------------------------------------------------------------------------------------------------

bool Predictor::listed(const CategorySet& set, double value) const {
  if (!(value >= 1 && value <= std::numeric_limits<uint32_t>::max())) return false;
  const auto code = static_cast<uint32_t>(value);
  const uint32_t* words = set_words_.data() + set.begin;
  if (!set.bits) return std::binary_search(words, words + set.size, code);
  return (code >> 5) < set.size && ((words[code >> 5] >> (code & 31)) & 1) != 0;
}

template <class Rows>
bool Predictor::goes_left(const Layout& layout, int32_t id, const Rows& rows, int64_t i) const {
  const Node& node = layout.nodes[static_cast<size_t>(id)];
  const uint8_t kind = kind_[static_cast<size_t>(id)];
  double value = 0;
  if (kind == combination) {
    const Combination& terms = layout.combinations[static_cast<size_t>(side_[static_cast<size_t>(id)])];
    for (size_t t = 0; t < terms.column.size(); ++t) {
      value += terms.coefficient[t] * rows(i, static_cast<uint32_t>(terms.column[t]));
    }
  } else {
    value = rows(i, node.column);
  }
  if (std::isnan(value)) return node.missing_left != 0;
  if (kind != categories) return value <= node.threshold;
  const CategorySet& set = sets_[static_cast<size_t>(side_[static_cast<size_t>(id)])];
  return listed(set, value) == set.left;
}

// Rows first … first + Together walk from the root to their leaves at[0 … Together).
template <bool AllNumeric, bool AnyMissing, int Together, class Rows>
void Predictor::walk(const Layout& layout, int32_t root, const Rows& rows, int64_t first, int32_t* at) const {
  const Node* nodes = layout.nodes.data();
  int32_t id[Together];
  for (int i = 0; i < Together; ++i) id[i] = root;
  int32_t moved;
  do {
    moved = 0;
    for (int i = 0; i < Together; ++i) {
      const Node& node = nodes[id[i]];
      bool left;
      if constexpr (AllNumeric) {
        const double value = rows(first + i, node.column);
        left = value <= node.threshold;
        if constexpr (AnyMissing) left |= (value != value) & static_cast<bool>(node.missing_left);
      } else {
        left = node.right != id[i] && goes_left(layout, id[i], rows, first + i);
      }
      // Written as arithmetic: a branch here would be mispredicted half the time.
      const int32_t next = node.right + (-static_cast<int32_t>(left) & (id[i] + 1 - node.right));
      moved |= next ^ id[i];
      id[i] = next;
    }
  } while (moved != 0);
  for (int i = 0; i < Together; ++i) at[i] = id[i];
}

template <bool AllNumeric, bool AnyMissing, class Rows>
void Predictor::walk_rows(const Layout& layout, int32_t root, const Rows& rows, int64_t n, int32_t* at) const {
  int64_t i = 0;
  for (; i + together <= n; i += together) walk<AllNumeric, AnyMissing, together>(layout, root, rows, i, at + i);
  for (; i < n; ++i) walk<AllNumeric, AnyMissing, 1>(layout, root, rows, i, at + i);
}

template <class Rows>
void Predictor::walk_all(const Layout& layout, int32_t root, const Rows& rows, bool any_missing, int64_t n,
                         int32_t* at) const {
  if (!all_numeric_) return walk_rows<false, true>(layout, root, rows, n, at);
  any_missing ? walk_rows<true, true>(layout, root, rows, n, at) : walk_rows<true, false>(layout, root, rows, n, at);
}

// ---- rows --------------------------------------------------------------------------------------------------------

// Calls use(layout, first row, n, rows, whether a value may be missing) on blocks, in parallel.
template <class Use>
void Predictor::for_blocks(const PredictTable& table, Run& run, Use use) const {
  require(table.n_columns() == n_columns_, "one column for each of the model's");
  if (table.sparse != nullptr) check_lines(*table.sparse);
  constexpr int64_t block_rows = 1024;
  const bool in_place = row_major(table);
  parallel_for(run, (table.n_rows + block_rows - 1) / block_rows, [&](int64_t block, int) {
    const int64_t begin = block * block_rows, end = std::min(table.n_rows, begin + block_rows);
    const auto use_in_place = [&](auto type) {
      using T = decltype(type);
      const RawColumn& raw = table.columns[0].raw;
      const bool missing = any_missing_in_place<T>(table.columns, begin, end);
      use(by_column_, begin, end - begin, RowsInPlace<T>{raw.data + begin * raw.stride, raw.stride}, missing);
    };
    if (in_place) return table.columns[0].raw.dtype == DType::f32 ? use_in_place(float{}) : use_in_place(double{});
    // As many rows at a time as fit the first-level cache or so.
    constexpr int64_t values = 1 << 13;
    const int64_t width = used_.size();
    const int64_t rows_a_time = std::clamp<int64_t>(values / std::max<int64_t>(1, width), together, block_rows);
    std::vector<double> rows(static_cast<size_t>(rows_a_time * width) + 1, 0.0);  // a lone leaf looks at one value
    RowFiller filler(table, used_, rows.data());
    for (int64_t first = begin; first < end; first += rows_a_time) {
      const int64_t n = std::min(rows_a_time, end - first);
      filler.fill(first, n);
      use(by_slot(), first, n, CopiedRows{rows.data(), width}, true);
    }
  });
}

void Predictor::scores(const PredictTable& table, double* out, Run& run) const {
  const int64_t n_out = n_outputs();
  for_blocks(table, run, [&](const Layout& layout, int64_t first, int64_t n, const auto& rows, bool any_missing) {
    std::vector<int32_t> at(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) std::copy(base_score_.begin(), base_score_.end(), out + (first + i) * n_out);
    for (size_t tree = 0; tree < roots_.size(); ++tree) {
      walk_all(layout, roots_[tree], rows, any_missing, n, at.data());
      for (int64_t i = 0; i < n; ++i) {
        const double* value = value_.data() + int64_t{leaf_[static_cast<size_t>(at[static_cast<size_t>(i)])]} * width_;
        double* score = out + (first + i) * n_out + output_[tree];
        for (int64_t k = 0; k < width_; ++k) score[k] += weight_[tree] * value[k];
      }
    }
  });
}

void Predictor::leaves(const PredictTable& table, int32_t* out, Run& run) const {
  const int64_t n_out = n_trees();
  for_blocks(table, run, [&](const Layout& layout, int64_t first, int64_t n, const auto& rows, bool any_missing) {
    std::vector<int32_t> at(static_cast<size_t>(n));
    for (size_t tree = 0; tree < roots_.size(); ++tree) {
      walk_all(layout, roots_[tree], rows, any_missing, n, at.data());
      for (int64_t i = 0; i < n; ++i) {
        out[(first + i) * n_out + static_cast<int64_t>(tree)] = at[static_cast<size_t>(i)] - roots_[tree];
      }
    }
  });
}

}  // namespace weald
