// Where the rows of boosting come to rest: the leaf of every row, and what it adds to the scores.
#include <algorithm>

#include "core/rows/leaves.h"
#include "core/rows/route.h"
#include "core/tree/newton/rows.h"
#include "core/tree/statistics/newton_units.h"

namespace weald {

namespace {

bool goes_left(const TreeArrays& tree, size_t inner, uint32_t code) {
  const auto kind = static_cast<SplitKind>(tree.kind[inner]);
  CodeSplit split{tree.column[inner], kind, tree.missing_left[inner] != 0, tree.code[inner]};
  if (kind == SplitKind::categories) {
    const auto side = static_cast<size_t>(tree.side[inner]);
    const auto first = static_cast<size_t>(tree.set_start[side]), last = static_cast<size_t>(tree.set_start[side + 1]);
    split.set = std::span(tree.set_codes).subspan(first, last - first);
    split.set_left = tree.set_left[side] != 0;
  }
  return split.left(code);
}

constexpr size_t most_short_leaves = 0xffff;  // the largest number stands for: nowhere yet

}  // namespace

int32_t leaf_of_row(const TreeArrays& tree, const Codes& codes, uint32_t row) {
  size_t node = 0;
  while (tree.slot[node] >= 0) {
    const auto inner = static_cast<size_t>(tree.slot[node]);
    const uint32_t code = code_of(codes.columns[static_cast<size_t>(tree.column[inner])], row);
    node = goes_left(tree, inner, code) ? node + 1 : static_cast<size_t>(tree.right[inner]);
  }
  return ~tree.slot[node];
}

template <class RowOf>
void NewtonRows::place(NewtonTree& tree, Run& run, const RowOf& row_of) const {
  const TreeArrays& arrays = tree.arrays;
  const size_t n_leaves = arrays.leaf_start.size() - 1, n_drawn = arrays.leaf_start.back();
  const auto fill = [&](auto& leaves) {
    using Leaf = typename std::remove_reference_t<decltype(leaves)>::value_type;
    n_drawn == n_rows_ ? leaves.resize(n_rows_) : leaves.assign(n_rows_, static_cast<Leaf>(-1));
    const size_t n_blocks = (n_drawn + newton_row_block - 1) / newton_row_block;
    parallel_for(run, static_cast<int64_t>(n_blocks), [&](int64_t block, int) {
      size_t i = static_cast<size_t>(block) * newton_row_block;
      const size_t last = std::min(n_drawn, i + newton_row_block);
      const auto after = std::upper_bound(arrays.leaf_start.begin(), arrays.leaf_start.end(), i);
      auto leaf = static_cast<size_t>(after - arrays.leaf_start.begin()) - 1;
      for (Leaf* const to = leaves.data(); i < last; ++leaf) {
        const size_t end = std::min<size_t>(last, arrays.leaf_start[leaf + 1]);
        for (; i < end; ++i) to[row_of(leaf, i)] = static_cast<Leaf>(leaf);
      }
    });
  };
  n_leaves <= most_short_leaves ? fill(tree.leaf) : fill(tree.wide_leaf);
}

void NewtonRows::place_drawn(NewtonTree& tree, Run& run) const {
  place(tree, run, [rows = tree.arrays.rows.data()](size_t, size_t i) { return rows[i]; });
}

template <class Rows>
void NewtonRows::place_items(NewtonTree& tree, const ItemBuffers<Rows>& items, Run& run) const {
  if (!tree.arrays.rows.empty()) return place_drawn(tree, run);
  place(tree, run,
        [in_second = tree.arrays.leaf_in_second.data(), first = items.first.data(), second = items.second.data()](
            size_t leaf, size_t i) { return (in_second[leaf] != 0 ? second : first)[i].row; });
}

template void NewtonRows::place_items(NewtonTree&, const ItemBuffers<NarrowRows>&, Run&) const;
template void NewtonRows::place_items(NewtonTree&, const ItemBuffers<WordRows>&, Run&) const;

// Rows that were not drawn walk down the tree.
void NewtonRows::place_others(NewtonTree& tree, Run& run) const {
  if (tree.arrays.leaf_start.back() == n_rows_) return;
  const size_t n_blocks = (n_rows_ + newton_row_block - 1) / newton_row_block;
  with_leaves(tree, [&](auto* leaf) {
    using Leaf = std::remove_pointer_t<decltype(leaf)>;
    parallel_for(run, static_cast<int64_t>(n_blocks), [&](int64_t block, int) {
      const size_t first = static_cast<size_t>(block) * newton_row_block,
                   last = std::min(n_rows_, first + newton_row_block);
      for (size_t row = first; row < last; ++row) {
        if (leaf[row] == static_cast<Leaf>(-1)) {
          leaf[row] = static_cast<Leaf>(weald::leaf_of_row(tree.arrays, codes_, static_cast<uint32_t>(row)));
        }
      }
    });
  });
}

void NewtonRows::leaf_of_row(const NewtonTree& tree, bool drawn_only, std::span<int32_t> out) const {
  require(out.size() == n_rows_, "one leaf per row");
  std::fill(out.begin(), out.end(), -1);
  with_leaves(tree, [&](const auto* leaf) {
    if (!drawn_only || tree.arrays.leaf_start.back() == n_rows_) {
      for (size_t row = 0; row < n_rows_; ++row) out[row] = static_cast<int32_t>(leaf[row]);
    }
    for (const uint32_t row : tree.arrays.rows) out[row] = static_cast<int32_t>(leaf[row]);
  });
}

void NewtonRows::add_scores(const NewtonTree& tree, std::span<const double> leaf_values, std::span<double> scores,
                            Run& run) const {
  require(scores.size() == n_rows_ && leaf_values.size() + 1 == tree.arrays.leaf_start.size(), "one score per row");
  const size_t n_blocks = (n_rows_ + newton_row_block - 1) / newton_row_block;
  with_leaves(tree, [&](const auto* leaf) {
    parallel_for(run, static_cast<int64_t>(n_blocks), [&](int64_t block, int) {
      const size_t first = static_cast<size_t>(block) * newton_row_block,
                   last = std::min(n_rows_, first + newton_row_block);
      add_leaf_values(leaf_values.data(), leaf + first, last - first, scores.data() + first);
    });
  });
}

}  // namespace weald
