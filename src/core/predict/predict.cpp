#include "core/predict/predict.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weald {

namespace {

enum : uint16_t { numeric = 0, categories = 1, combination = 2 };

constexpr int together = 8;  // rows that walk in step: hides the latency of the node loads

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
  for (size_t s = 0; s + 1 < forest.set_start.size(); ++s) {
    sets_.emplace_back(forest.set_words.begin() + forest.set_start[s], forest.set_words.begin() + forest.set_start[s + 1]);
  }
  std::vector<uint8_t> in_use(static_cast<size_t>(n_columns_), 0);
  for (const int32_t column : forest.column) {
    if (column >= 0) in_use[static_cast<size_t>(column)] = 1;
  }
  for (const int32_t column : forest.combination_column) in_use[static_cast<size_t>(column)] = 1;
  std::vector<int32_t> position(static_cast<size_t>(n_columns_), 0);
  for (size_t j = 0; j < in_use.size(); ++j) {
    if (in_use[j] == 0) continue;
    position[j] = static_cast<int32_t>(used_.size());
    used_.push_back(static_cast<int32_t>(j));
  }
  for (size_t c = 0; c + 1 < forest.combination_start.size(); ++c) {
    Combination terms;
    for (auto t = static_cast<size_t>(forest.combination_start[c]);
         t < static_cast<size_t>(forest.combination_start[c + 1]); ++t) {
      terms.column.push_back(position[static_cast<size_t>(forest.combination_column[t])]);
      terms.coefficient.push_back(forest.combination_coefficient[t]);
    }
    combinations_.push_back(std::move(terms));
  }
  nodes_.resize(forest.slot.size());
  leaf_.assign(forest.slot.size(), -1);
  side_.assign(forest.slot.size(), -1);
  for (size_t tree = 0; tree + 1 < forest.tree_start.size(); ++tree) lay_out_tree(forest, tree, position);
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
  check_starts(f.set_start, f.set_words.size());
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

// Children always have larger numbers than their parent and stay inside the tree, so every walk ends at a leaf.
void Predictor::lay_out_tree(const ForestView& forest, size_t tree, std::span<const int32_t> position) {
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
      nodes_[at] = {std::numeric_limits<double>::infinity(), id, id, 0, numeric, 1};
      continue;
    }
    const auto inner = static_cast<size_t>(slot);
    need(inner < forest.column.size(), "inner node out of range");
    const int32_t right = first + forest.right[inner];
    need(id + 1 < last && forest.right[inner] > id + 1 - first && right < last, "child out of range");
    const uint16_t kind = forest.kind[inner];
    const int32_t column = kind == combination ? 0 : position[static_cast<size_t>(forest.column[inner])];
    side_[at] = forest.side[inner];
    nodes_[at] = {forest.threshold[inner], id + 1, right, column, kind, forest.missing_left[inner]};
  }
}

// ---- walking -----------------------------------------------------------------------------------------------------

bool Predictor::goes_left(const Node& node, int32_t id, const double* row) const {
  double value = row[node.column];
  if (node.kind == combination) {
    const Combination& terms = combinations_[static_cast<size_t>(side_[static_cast<size_t>(id)])];
    value = 0;
    for (size_t t = 0; t < terms.column.size(); ++t) value += terms.coefficient[t] * row[terms.column[t]];
  }
  if (std::isnan(value)) return node.missing_left != 0;
  if (node.kind != categories) return value <= node.threshold;
  const auto& set = sets_[static_cast<size_t>(side_[static_cast<size_t>(id)])];
  const auto code = static_cast<uint64_t>(value);
  return (code >> 5) < set.size() && ((set[code >> 5] >> (code & 31)) & 1) != 0;
}

// Rows rows[i * used] … walk from the root to their leaves at[i].
template <bool AllNumeric, int Together>
void Predictor::walk(int32_t root, const double* rows, int32_t* at) const {
  const size_t width = used_.size();
  const Node* nodes = nodes_.data();
  int32_t id[Together];
  for (int i = 0; i < Together; ++i) id[i] = root;
  int32_t moved;
  do {
    moved = 0;
    for (int i = 0; i < Together; ++i) {
      const Node& node = nodes[id[i]];
      const double* row = rows + static_cast<size_t>(i) * width;
      bool left;
      if constexpr (AllNumeric) {
        const double value = row[node.column];
        left = (value <= node.threshold) | ((value != value) & (node.missing_left != 0));
      } else {
        left = goes_left(node, id[i], row);
      }
      const int32_t next = left ? node.left : node.right;
      moved |= next ^ id[i];
      id[i] = next;
    }
  } while (moved != 0);
  for (int i = 0; i < Together; ++i) at[i] = id[i];
}

void Predictor::walk_block(int32_t root, const double* rows, int64_t n, int32_t* at) const {
  const auto width = static_cast<int64_t>(used_.size());
  int64_t i = 0;
  for (; i + together <= n; i += together) {
    all_numeric_ ? walk<true, together>(root, rows + i * width, at + i) : walk<false, together>(root, rows + i * width, at + i);
  }
  for (; i < n; ++i) {
    all_numeric_ ? walk<true, 1>(root, rows + i * width, at + i) : walk<false, 1>(root, rows + i * width, at + i);
  }
}

// A block of rows whose used columns fit the first- or second-level cache.
int64_t Predictor::rows_together() const {
  constexpr int64_t values = 1 << 14;
  return std::clamp<int64_t>(values / std::max<int64_t>(1, static_cast<int64_t>(used_.size())) / together * together,
                             together, 512);
}

void Predictor::load(std::span<const PredictColumn> columns, int64_t first, int64_t n, double* rows) const {
  const auto width = static_cast<int64_t>(used_.size());
  for (int64_t u = 0; u < width; ++u) {
    const int32_t j = used_[static_cast<size_t>(u)];
    const PredictColumn& column = columns[static_cast<size_t>(j)];
    load_rows(column.raw, first, n, j, rows + u, width);
    if (!column.levels) continue;
    for (int64_t i = 0; i < n; ++i) {
      double& index = rows[i * width + u];
      index = index < 0 ? std::numeric_limits<double>::quiet_NaN() : index + 1;
    }
  }
}

// Calls use(first row, n, rows) on blocks; rows holds the used columns of n rows, row after row.
template <class Use>
void Predictor::for_blocks(std::span<const PredictColumn> columns, int64_t n_rows, Run& run, Use use) const {
  require(static_cast<int64_t>(columns.size()) == n_columns_, "one column for each of the model's");
  const int64_t block_rows = rows_together();
  const int64_t n_blocks = (n_rows + block_rows - 1) / block_rows;
  constexpr int64_t blocks_a_turn = 8;
  const auto turn = [&](int64_t t, int) {
    std::vector<double> rows(static_cast<size_t>(block_rows) * std::max<size_t>(1, used_.size()), 0.0);
    for (int64_t b = t * blocks_a_turn; b < std::min(n_blocks, (t + 1) * blocks_a_turn); ++b) {
      const int64_t first = b * block_rows;
      const int64_t n = std::min(block_rows, n_rows - first);
      load(columns, first, n, rows.data());
      use(first, n, rows.data());
    }
  };
  parallel_for(run, (n_blocks + blocks_a_turn - 1) / blocks_a_turn, turn);
}

void Predictor::scores(std::span<const PredictColumn> columns, int64_t n_rows, double* out, Run& run) const {
  const int64_t n_out = n_outputs();
  for_blocks(columns, n_rows, run, [&](int64_t first, int64_t n, const double* rows) {
    std::vector<int32_t> at(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) std::copy(base_score_.begin(), base_score_.end(), out + (first + i) * n_out);
    for (size_t tree = 0; tree < roots_.size(); ++tree) {
      walk_block(roots_[tree], rows, n, at.data());
      for (int64_t i = 0; i < n; ++i) {
        const double* value =
            value_.data() + int64_t{leaf_[static_cast<size_t>(at[static_cast<size_t>(i)])]} * width_;
        double* score = out + (first + i) * n_out + output_[tree];
        for (int64_t k = 0; k < width_; ++k) score[k] += weight_[tree] * value[k];
      }
    }
  });
}

void Predictor::leaves(std::span<const PredictColumn> columns, int64_t n_rows, int32_t* out, Run& run) const {
  const int64_t n_out = n_trees();
  for_blocks(columns, n_rows, run, [&](int64_t first, int64_t n, const double* rows) {
    std::vector<int32_t> at(static_cast<size_t>(n));
    for (size_t tree = 0; tree < roots_.size(); ++tree) {
      walk_block(roots_[tree], rows, n, at.data());
      for (int64_t i = 0; i < n; ++i) {
        out[(first + i) * n_out + static_cast<int64_t>(tree)] = at[static_cast<size_t>(i)] - roots_[tree];
      }
    }
  });
}

}  // namespace weald
