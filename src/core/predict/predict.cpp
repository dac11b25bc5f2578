#include "core/predict/predict.h"

#include <algorithm>
#include <array>
#include <functional>

#include "core/predict/top_block.h"
#include "core/predict/walk.h"

namespace weald {

namespace {

constexpr int64_t block_rows = 1024, most_block_rows = 16384, least_of_tops = 128, least_of_walks = 8;

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

// Calls use(begin, end) on blocks of rows, in parallel.
template <class Use>
void parallel_blocks(const PredictTable& table, int64_t rows, Run& run, Use use) {
  parallel_for(run, (table.n_rows + rows - 1) / rows,
               [&](int64_t block, int) { use(block * rows, std::min(table.n_rows, (block + 1) * rows)); });
}

// Rows that pass the tops together: as many as keep their codes and scores in the first-level cache or so. Of trees
// that go on far below their tops, the whole block, so that a tree is still in the cache when the next row comes to it.
int64_t rows_of_tops(const Tops& tops, int64_t n_outputs, bool large_trees) {
  if (large_trees) return most_block_rows;
  constexpr int64_t most = 512, least = least_of_tops, bytes = 1 << 14;
  const int64_t bytes_a_row = static_cast<int64_t>(tops.n_slots()) * tops.code_bytes + 8 * n_outputs;
  return std::clamp(bytes / (bytes_a_row + 1) / least * least, least, most);
}

}  // namespace

void Predictor::check_columns(const PredictTable& table) const {
  require(table.n_columns() == forest_.n_columns, "one column for each of the model's");
}

// Whether trees take more memory than the first-level cache has.
bool Predictor::large_trees() const {
  constexpr size_t nodes_a_tree = 2048;
  return forest_.leaf.size() > nodes_a_tree * forest_.n_trees();
}

// Rows of a block. Large trees should meet many rows before they leave the cache, but all threads should have some.
int64_t Predictor::rows_of_block(int64_t n_rows, const Run& run) const {
  if (!large_trees()) return block_rows;
  const int64_t each = (n_rows / run.n_threads() + least_of_tops) / least_of_tops * least_of_tops;
  return std::clamp(each, block_rows, most_block_rows);
}

// Calls use(layout, first row, n, rows, whether a value may be missing) on blocks, in parallel. Where rows are copied,
// blocks are of a multiple of `unit` rows.
template <class Use>
void Predictor::for_blocks(const PredictTable& table, int64_t unit, Run& run, Use use) const {
  check_columns(table);
  if (table.sparse != nullptr) check_lines(*table.sparse);
  const bool in_place = row_major(table);
  const int64_t rows_a_block = rows_of_block(table.n_rows, run);
  parallel_blocks(table, rows_a_block, run, [&](int64_t begin, int64_t end) {
    const auto use_in_place = [&](auto type) {
      using T = decltype(type);
      const RawColumn& raw = table.columns[0].raw;
      const bool missing = any_missing_in_place<T>(table.columns, begin, end);
      use(forest_.by_column, begin, end - begin, RowsInPlace<T>{raw.data + begin * raw.stride, raw.stride}, missing);
    };
    if (in_place) return table.columns[0].raw.dtype == DType::f32 ? use_in_place(float{}) : use_in_place(double{});
    // As many rows at a time as fit the first-level cache or so; more of them where trees are large.
    const int64_t values = int64_t{1} << (large_trees() ? 19 : 13);
    const int64_t width = forest_.used.size(), fitting = values / std::max<int64_t>(1, width);
    const int64_t rows_a_time = std::clamp(fitting / unit * unit, unit, rows_a_block);
    std::vector<double> rows(static_cast<size_t>(rows_a_time * width) + 1, 0.0);  // a lone leaf looks at one value
    RowFiller filler(table, forest_.used, rows.data());
    for (int64_t first = begin; first < end; first += rows_a_time) {
      const int64_t n = std::min(rows_a_time, end - first);
      filler.fill(first, n);
      use(forest_.by_slot(), first, n, CopiedRows{rows.data(), width}, true);
    }
  });
}

// ---- scores ------------------------------------------------------------------------------------------------------

const Tops* Predictor::tops_for(TreeRange trees, int64_t n_rows) const {
  // Walking a tree takes as long as coding some of a row's columns: a few trees do not repay the codes. The first test
  // is for those that would not either if every column had one threshold, and spares them making the tops.
  constexpr int64_t few_rows = 8, steps_a_tree = 16;
  const auto n_trees = static_cast<int64_t>(trees.size());
  if (n_rows < few_rows || n_trees * steps_a_tree < 3 * forest_.used.size()) return nullptr;
  std::call_once(tops_->made, [&] { tops_->tops.emplace(forest_); });
  const Tops& tops = *tops_->tops;
  return tops.code_bytes == 0 || n_trees * steps_a_tree < tops.coding_steps ? nullptr : &tops;
}

void Predictor::add_scores(const PredictTable& table, TreeRange trees, const ScoreView& out, Run& run) const {
  const Tops* tops = tops_for(trees, table.n_rows);
  if (tops == nullptr) {
    const auto use = [&](const Layout& layout, int64_t first, int64_t n, const auto& rows, bool any_missing) {
      add_by_walking(Walk(forest_, layout, rows, any_missing), n, trees, out.from_row(first));
    };
    for_blocks(table, least_of_walks, run, use);
  } else if (tops->code_bytes == 1) {
    add_by_codes<uint8_t>(*tops, table, trees, out, run);
  } else {
    add_by_codes<uint16_t>(*tops, table, trees, out, run);
  }
}

template <class Code>
void Predictor::add_by_codes(const Tops& tops, const PredictTable& table, TreeRange trees, const ScoreView& out,
                             Run& run) const {
  const bool whole = std::all_of(tops.trees.begin() + static_cast<int64_t>(trees.first),
                                 tops.trees.begin() + static_cast<int64_t>(trees.last), std::mem_fn(&TopTree::whole));
  if (!whole || table.sparse != nullptr || row_major(table)) {
    const auto use = [&](const Layout& layout, int64_t first, int64_t n, const auto& rows, bool any_missing) {
      add_by_tops<Code>(tops, layout, rows, Walk(forest_, layout, rows, any_missing), n, trees, out.from_row(first));
    };
    return for_blocks(table, least_of_tops, run, use);
  }
  // Nothing walks, so columns can be read where they are.
  struct NoWalk {
    void run(int64_t, int64_t, int64_t, int32_t*) const { require(false, "a whole tree needs no walk"); }
  };
  check_columns(table);
  parallel_blocks(table, rows_of_block(table.n_rows, run), run, [&](int64_t begin, int64_t end) {
    for (size_t j = 0; j < table.columns.size(); ++j) {
      if (forest_.used.slot(static_cast<int32_t>(j)) < 0) check_finite(table.columns[j].raw, begin, end - begin);
    }
    add_by_tops<Code>(tops, forest_.by_column, ColumnsInPlace{table, begin}, NoWalk{}, end - begin, trees,
                      out.from_row(begin));
  });
}

template <class Code, class Rows, class Walker>
void Predictor::add_by_tops(const Tops& tops, const Layout& layout, const Rows& rows, const Walker& walk,
                            int64_t n_rows, TreeRange trees, const ScoreView& out) const {
  const int64_t together = rows_of_tops(tops, n_outputs(), large_trees());
  const int64_t most = std::min(together, (n_rows + 31) / 32 * 32), width = forest_.width;
  TopBlock<Code> block(tops, most);
  ScoreBlock<Code> scores(n_outputs(), width, most);
  std::vector<int32_t> at(static_cast<size_t>(most));
  for (int64_t first = 0; first < n_rows; first += most) {
    const int64_t n = std::min(most, n_rows - first);
    block.read(rows, layout, first, n);
    scores.load(out.from_row(first), n);
    for (size_t t = trees.first; t < trees.last; ++t) {
      const TopTree& tree = tops.trees[t];
      Code* exits = scores.next_exits();
      block.pass(tree, exits);
      if (tree.whole) {
        scores.add(forest_.output[t], tops.values(tree, width), tree.n_exits, n);
        continue;
      }
      const int32_t* exit_node = tops.exit_node.data() + tree.first_exit;
      for (int64_t i = 0; i < n; ++i) at[static_cast<size_t>(i)] = exit_node[exits[i]];
      walk.run(first, 1, n, at.data());
      scores.add_waiting(n);
      for (int64_t k = 0; k < width; ++k) {
        double* score = scores.score(forest_.output[t] + k);
        for (int64_t i = 0; i < n; ++i) {
          score[i] += forest_.weight[t] * forest_.leaf_value(at[static_cast<size_t>(i)])[k];
        }
      }
    }
    scores.add_waiting(n);
    scores.store(out.from_row(first), n);
  }
}

template <class Rows>
void Predictor::add_by_walking(const Walk<Rows>& walk, int64_t n, TreeRange trees, const ScoreView& out) const {
  const auto add = [&](int64_t row, size_t tree, int32_t leaf) {
    const double* value = forest_.leaf_value(leaf);
    for (int64_t k = 0; k < forest_.width; ++k) {
      out.at(row, forest_.output[tree] + k) += forest_.weight[tree] * value[k];
    }
  };
  if (n < Walk<Rows>::together) {
    // Too few rows to walk in step: each passes several trees at once.
    std::array<int32_t, 64> at;
    for (int64_t i = 0; i < n; ++i) {
      for (size_t first = trees.first; first < trees.last; first += at.size()) {
        const size_t m = std::min(at.size(), trees.last - first);
        std::copy_n(forest_.roots.begin() + static_cast<int64_t>(first), m, at.begin());
        walk.run(i, 0, static_cast<int64_t>(m), at.data());
        for (size_t t = 0; t < m; ++t) add(i, first + t, at[t]);
      }
    }
    return;
  }
  std::vector<int32_t> at(static_cast<size_t>(n));
  for (size_t t = trees.first; t < trees.last; ++t) {
    std::ranges::fill(at, forest_.roots[t]);
    walk.run(0, 1, n, at.data());
    for (int64_t i = 0; i < n; ++i) add(i, t, at[static_cast<size_t>(i)]);
  }
}

// ---- leaves ------------------------------------------------------------------------------------------------------

void Predictor::leaves(const PredictTable& table, TreeRange trees, int32_t* out, Run& run) const {
  const auto n_out = static_cast<int64_t>(trees.size());
  const auto use = [&](const Layout& layout, int64_t first, int64_t n, const auto& rows, bool any_missing) {
    const Walk walk(forest_, layout, rows, any_missing);
    std::vector<int32_t> at(static_cast<size_t>(n));
    for (size_t t = trees.first; t < trees.last; ++t) {
      const int32_t root = forest_.roots[t];
      std::ranges::fill(at, root);
      walk.run(0, 1, n, at.data());
      int32_t* to = out + first * n_out + static_cast<int64_t>(t - trees.first);
      for (int64_t i = 0; i < n; ++i) to[i * n_out] = at[static_cast<size_t>(i)] - root;
    }
  };
  for_blocks(table, least_of_walks, run, use);
}

}  // namespace weald
