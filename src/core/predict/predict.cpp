#include "core/predict/predict.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weald {

namespace {

enum : uint8_t { numeric = 0, categories = 1, combination = 2 };

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

void need(bool holds, const char* what) {
  if (!holds) throw BadInput(std::string("the forest is not valid: ") + what);
}

}  // namespace

// ---- layout ------------------------------------------------------------------------------------------------------

Predictor::Predictor(const ForestView& forest) : n_columns_(forest.n_columns), width_(forest.width) {
  check(forest);
  base_score_.assign(forest.base_score.begin(), forest.base_score.end());
  output_.assign(forest.tree_output.begin(), forest.tree_output.end());
  weight_.assign(forest.tree_weight.begin(), forest.tree_weight.end());
  value_.assign(forest.value.begin(), forest.value.end());
  lay_out_sets(forest);
  in_use_.assign(static_cast<size_t>(n_columns_), 0);
  for (size_t i = 0; i < forest.column.size(); ++i) {
    if (forest.kind[i] != combination) in_use_[static_cast<size_t>(forest.column[i])] = 1;
  }
  for (const int32_t column : forest.combination_column) in_use_[static_cast<size_t>(column)] = 1;
  for (size_t c = 0; c + 1 < forest.combination_start.size(); ++c) {
    Combination terms;
    for (auto t = static_cast<size_t>(forest.combination_start[c]);
         t < static_cast<size_t>(forest.combination_start[c + 1]); ++t) {
      terms.column.push_back(forest.combination_column[t]);
      terms.coefficient.push_back(forest.combination_coefficient[t]);
    }
    combinations_.push_back(std::move(terms));
  }
  nodes_.resize(forest.slot.size());
  leaf_.assign(forest.slot.size(), -1);
  kind_.assign(forest.slot.size(), numeric);
  side_.assign(forest.slot.size(), -1);
  for (size_t tree = 0; tree + 1 < forest.tree_start.size(); ++tree) lay_out_tree(forest, tree);
  all_numeric_ = std::all_of(forest.kind.begin(), forest.kind.end(), [](uint8_t kind) { return kind == numeric; });
}

void Predictor::check(const ForestView& f) const {
  const size_t inner = f.column.size();
  const auto n_trees = f.tree_output.size();
  need(f.n_columns >= 0 && f.width >= 1 && !f.base_score.empty(), "shapes");
  need(f.tree_start.size() == n_trees + 1 && f.tree_weight.size() == n_trees, "trees");
  need(f.slot.size() < static_cast<size_t>(std::numeric_limits<int32_t>::max()), "too many nodes");
  need(f.tree_start.front() == 0 && f.tree_start.back() == static_cast<int64_t>(f.slot.size()), "tree starts");
  need(f.threshold.size() == inner && f.kind.size() == inner && f.missing_left.size() == inner &&
           f.right.size() == inner && f.side.size() == inner,
       "inner arrays differ in length");
  need(f.value.size() % static_cast<size_t>(f.width) == 0, "leaf values");
  const auto check_starts = [](std::span<const int64_t> start, size_t n) {
    need(!start.empty() && start.front() == 0 && start.back() == static_cast<int64_t>(n), "side tables");
    need(std::is_sorted(start.begin(), start.end()), "side tables");
  };
  check_starts(f.set_start, f.set_codes.size());
  need(f.set_left.size() + 1 == f.set_start.size(), "category sets");
  for (size_t s = 0; s < f.set_left.size(); ++s) {
    uint32_t before = 0;
    for (auto i = static_cast<size_t>(f.set_start[s]); i < static_cast<size_t>(f.set_start[s + 1]); ++i) {
      need(f.set_codes[i] > before, "the codes of a category set do not ascend from 1");
      before = f.set_codes[i];
    }
  }
  check_starts(f.combination_start, f.combination_column.size());
  need(f.combination_coefficient.size() == f.combination_column.size(), "combinations");
  for (const int32_t column : f.combination_column) need(column >= 0 && column < f.n_columns, "column out of range");
  for (size_t i = 0; i < inner; ++i) {
    const size_t tables = f.kind[i] == categories ? f.set_start.size() : f.combination_start.size();
    need(f.kind[i] <= combination, "unknown kind of split");
    need(f.kind[i] == combination || (f.column[i] >= 0 && f.column[i] < f.n_columns), "column out of range");
    need(f.kind[i] == numeric || (f.side[i] >= 0 && static_cast<size_t>(f.side[i]) + 1 < tables), "side table");
    need(!std::isnan(f.threshold[i]), "a threshold is NaN");
  }
  for (size_t t = 0; t < n_trees; ++t) {
    need(f.tree_output[t] >= 0 && f.tree_output[t] + f.width <= static_cast<int64_t>(f.base_score.size()), "outputs");
    need(f.tree_start[t] < f.tree_start[t + 1], "a tree without nodes");
  }
}

void Predictor::lay_out_sets(const ForestView& forest) {
  constexpr size_t few_words = 8, words_a_code = 2;
  for (size_t s = 0; s < forest.set_left.size(); ++s) {
    const auto first = static_cast<size_t>(forest.set_start[s]), last = static_cast<size_t>(forest.set_start[s + 1]);
    const auto codes = forest.set_codes.subspan(first, last - first);
    const size_t n_words = codes.empty() ? 0 : (size_t{codes.back()} >> 5) + 1;
    const bool bits = n_words <= std::max(few_words, words_a_code * codes.size());
    const size_t begin = set_words_.size(), size = bits ? n_words : codes.size();
    sets_.push_back({begin, static_cast<uint32_t>(size), bits, forest.set_left[s] != 0});
    set_words_.resize(begin + size, 0);
    uint32_t* words = set_words_.data() + begin;
    if (!bits) std::copy(codes.begin(), codes.end(), words);
    for (size_t i = 0; bits && i < codes.size(); ++i) words[codes[i] >> 5] |= uint32_t{1} << (codes[i] & 31);
  }
}

// Children always have larger numbers than their parent and stay inside the tree, so every walk ends at a leaf.
void Predictor::lay_out_tree(const ForestView& forest, size_t tree) {
  const auto first = static_cast<int32_t>(forest.tree_start[tree]);
  const auto last = static_cast<int32_t>(forest.tree_start[tree + 1]);
  roots_.push_back(first);
  const auto n_leaves = static_cast<int64_t>(forest.value.size()) / width_;
  for (int32_t id = first; id < last; ++id) {
    const auto at = static_cast<size_t>(id);
    const int32_t slot = forest.slot[at];
    if (slot < 0) {
      need(~slot < n_leaves, "leaf out of range");
      leaf_[at] = ~slot;
      nodes_[at] = {-std::numeric_limits<double>::infinity(), id, 0, 0};
      continue;
    }
    const auto inner = static_cast<size_t>(slot);
    need(inner < forest.column.size(), "inner node out of range");
    const int64_t right = int64_t{first} + forest.right[inner];  // wide: a hostile number must not wrap around
    need(right > id + 1 && right < last, "child out of range");
    kind_[at] = forest.kind[inner];
    side_[at] = forest.side[inner];
    const int32_t column = kind_[at] == combination ? 0 : forest.column[inner];
    nodes_[at] = {forest.threshold[inner], static_cast<int32_t>(right), static_cast<uint32_t>(column) & 0x7fffffffU,
                  forest.missing_left[inner] != 0 ? 1U : 0U};
  }
}

// ---- walking -----------------------------------------------------------------------------------------------------

bool Predictor::listed(const CategorySet& set, double value) const {
  if (!(value >= 1 && value <= std::numeric_limits<uint32_t>::max())) return false;
  const auto code = static_cast<uint32_t>(value);
  const uint32_t* words = set_words_.data() + set.begin;
  if (!set.bits) return std::binary_search(words, words + set.size, code);
  return (code >> 5) < set.size && ((words[code >> 5] >> (code & 31)) & 1) != 0;
}

template <class Rows>
bool Predictor::goes_left(int32_t id, const Rows& rows, int64_t i) const {
  const Node& node = nodes_[static_cast<size_t>(id)];
  const uint8_t kind = kind_[static_cast<size_t>(id)];
  double value = 0;
  if (kind == combination) {
    const Combination& terms = combinations_[static_cast<size_t>(side_[static_cast<size_t>(id)])];
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
void Predictor::walk(int32_t root, const Rows& rows, int64_t first, int32_t* at) const {
  const Node* nodes = nodes_.data();
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
        left = node.right != id[i] && goes_left(id[i], rows, first + i);
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
void Predictor::walk_rows(int32_t root, const Rows& rows, int64_t n, int32_t* at) const {
  int64_t i = 0;
  for (; i + together <= n; i += together) walk<AllNumeric, AnyMissing, together>(root, rows, i, at + i);
  for (; i < n; ++i) walk<AllNumeric, AnyMissing, 1>(root, rows, i, at + i);
}

template <class Rows>
void Predictor::walk_all(int32_t root, const Rows& rows, bool any_missing, int64_t n, int32_t* at) const {
  if (!all_numeric_) return walk_rows<false, true>(root, rows, n, at);
  any_missing ? walk_rows<true, true>(root, rows, n, at) : walk_rows<true, false>(root, rows, n, at);
}

// ---- rows --------------------------------------------------------------------------------------------------------

// True if the columns are float32 or float64 and lie side by side in one C-ordered array.
bool Predictor::row_major(std::span<const PredictColumn> columns) const {
  if (columns.empty()) return false;
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

// Fills the used columns of rows first … first + n; a row of `rows` has room for all. An infinite value is an error in
// any column, used or not, so that what a model refuses does not depend on its splits.
void Predictor::load(std::span<const PredictColumn> columns, int64_t first, int64_t n, double* rows) const {
  for (int32_t j = 0; j < n_columns_; ++j) {
    const PredictColumn& column = columns[static_cast<size_t>(j)];
    if (in_use_[static_cast<size_t>(j)] == 0) {
      check_finite(column.raw, first, n);
      continue;
    }
    load_rows(column.raw, first, n, rows + j, n_columns_);
    if (!column.levels) continue;
    for (int64_t i = 0; i < n; ++i) {
      double& index = rows[i * n_columns_ + j];
      index = index < 0 ? std::numeric_limits<double>::quiet_NaN() : index + 1;
    }
  }
}

// Calls use(first row, n, rows, whether a value may be missing) on blocks, in parallel.
template <class Use>
void Predictor::for_blocks(std::span<const PredictColumn> columns, int64_t n_rows, Run& run, Use use) const {
  require(static_cast<int64_t>(columns.size()) == n_columns_, "one column for each of the model's");
  constexpr int64_t block_rows = 1024;
  const bool in_place = row_major(columns);
  parallel_for(run, (n_rows + block_rows - 1) / block_rows, [&](int64_t block, int) {
    const int64_t begin = block * block_rows, end = std::min(n_rows, begin + block_rows);
    const auto use_in_place = [&](auto type) {
      using T = decltype(type);
      const RawColumn& raw = columns[0].raw;
      const bool missing = any_missing_in_place<T>(columns, begin, end);
      use(begin, end - begin, RowsInPlace<T>{raw.data + begin * raw.stride, raw.stride}, missing);
    };
    if (in_place) return columns[0].raw.dtype == DType::f32 ? use_in_place(float{}) : use_in_place(double{});
    // As many rows at a time as fit the first-level cache or so.
    constexpr int64_t values = 1 << 13;
    const int64_t width = std::max<int64_t>(1, n_columns_);
    const int64_t rows_a_time = std::clamp<int64_t>(values / width, together, block_rows);
    std::vector<double> rows(static_cast<size_t>(rows_a_time * width), 0.0);
    for (int64_t first = begin; first < end; first += rows_a_time) {
      const int64_t n = std::min(rows_a_time, end - first);
      load(columns, first, n, rows.data());
      use(first, n, CopiedRows{rows.data(), width}, true);
    }
  });
}

void Predictor::scores(std::span<const PredictColumn> columns, int64_t n_rows, double* out, Run& run) const {
  const int64_t n_out = n_outputs();
  for_blocks(columns, n_rows, run, [&](int64_t first, int64_t n, const auto& rows, bool any_missing) {
    std::vector<int32_t> at(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) std::copy(base_score_.begin(), base_score_.end(), out + (first + i) * n_out);
    for (size_t tree = 0; tree < roots_.size(); ++tree) {
      walk_all(roots_[tree], rows, any_missing, n, at.data());
      for (int64_t i = 0; i < n; ++i) {
        const double* value = value_.data() + int64_t{leaf_[static_cast<size_t>(at[static_cast<size_t>(i)])]} * width_;
        double* score = out + (first + i) * n_out + output_[tree];
        for (int64_t k = 0; k < width_; ++k) score[k] += weight_[tree] * value[k];
      }
    }
  });
}

void Predictor::leaves(std::span<const PredictColumn> columns, int64_t n_rows, int32_t* out, Run& run) const {
  const int64_t n_out = n_trees();
  for_blocks(columns, n_rows, run, [&](int64_t first, int64_t n, const auto& rows, bool any_missing) {
    std::vector<int32_t> at(static_cast<size_t>(n));
    for (size_t tree = 0; tree < roots_.size(); ++tree) {
      walk_all(roots_[tree], rows, any_missing, n, at.data());
      for (int64_t i = 0; i < n; ++i) {
        out[(first + i) * n_out + static_cast<int64_t>(tree)] = at[static_cast<size_t>(i)] - roots_[tree];
      }
    }
  });
}

}  // namespace weald
