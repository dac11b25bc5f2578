// Growing one tree in memory, in one call.
//
// A node owns a range of `ids_` (its rows, ascending). Each column of a node is in one of two states, by its own size:
//
//   histogram   rows ≥ 2 · codes: the smaller child's histogram is built, the larger one's is parent − smaller
//   order       fewer rows: the entries (code, row) in code order; made by one sort, then carried down by stable
//               partitions (the range of a node in the entries is its range in ids_)
//
// One parallel region per split, over columns: partition or histogram, then scan, for both children at once. Nodes of
// at most `subtree_rows` rows are put aside and grown afterwards, one thread each, on their own compact copy of the
// rows. When only some columns are drawn per node, nothing is carried: each drawn column is read on its own, in small
// nodes by the ranks of their part (ranks.h).
//
// Where there are many classes (GrowOptions::compact_lanes), a part has the lanes of its own rows alone, and parts of
// its own: what a node costs grows with its rows, not with the classes of the table.
//
// 16-bit statistics of boosting on dense columns (grow_packed.h) travel with their rows instead, and the histograms of
// all one-byte columns are built together, row by row.
//
// A sparse column is always in order: the entries that are not its default code, and of these each node has a range of
// its own, carried down in Node::sparse. A column without entries in a node is constant there and costs nothing more.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "core/base/pool.h"
#include "core/base/random.h"
#include "core/data/codes.h"
#include "core/tree/grow/frontier.h"
#include "core/tree/grow/histogram.h"
#include "core/tree/grow/node_numbers.h"
#include "core/tree/grow/row_codes.h"
#include "core/tree/grow_drawn/columns.h"
#include "core/tree/model/forest.h"
#include "core/tree/options.h"
#include "core/tree/rows/order.h"
#include "core/tree/rows/partition.h"
#include "core/tree/rows/sparse_entries.h"
#include "core/tree/rows/tree_orders.h"
#include "core/tree/split/absolute.h"
#include "core/tree/split/categorical.h"
#include "core/tree/split/column_rules.h"
#include "core/tree/split/combinations.h"
#include "core/tree/split/feeds.h"
#include "core/tree/split/random.h"
#include "core/tree/split/running.h"
#include "core/tree/split/split.h"
#include "core/tree/split/words.h"
#include "core/tree/statistics/ranks.h"

namespace weald {

// A coded column as the grower reads it: the codes of its rows, and what a code means for thresholds.
struct GrowColumn {
  const void* data;
  const double* marks;
  const uint32_t* rows = nullptr;  // sparse columns: see core/data/codes.h
  uint32_t n_codes;
  uint32_t n_entries = 0;
  uint32_t default_code = 0;
  ColumnKind kind;
  uint8_t width;
  bool sparse = false;
};

// Rows that can be items (grow_packed.h); others never are, whatever this says.
template <class Rows>
struct ItemRowsOf {
  using Type = NarrowRows;
};
template <class G, class H, uint32_t flush>
struct ItemRowsOf<PackedRows<G, H, flush>> {
  using Type = PackedRows<G, H, flush>;
};

// What a fit of many trees keeps from tree to tree; absent parts are made for the tree.
template <class Rows>
struct Kept {
  const Tiles* tiles = nullptr;  // rows are items, which `items` has
  ItemBuffers<typename ItemRowsOf<Rows>::Type>* items = nullptr;
  const SparseOrder* sparse_order = nullptr;
  DenseOrder* dense_order = nullptr;  // filled by the first tree that has all rows
};

// Where a subtree hangs in its tree.
struct Place {
  uint64_t path = 0;
  int64_t depth = 0;
  int64_t tree_weight = 0;  // units, of the whole tree; 0: this is the whole tree
  double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
  std::vector<int32_t> used = {};          // columns split on above it, where interactions are limited
  RankedWhole whole = {};                  // what its rows were taken from, if that has ranks
  std::span<const TreeOrder> orders = {};  // of the whole tree, per column; empty: not asked for
  std::vector<int32_t> lanes = {};         // compact lanes: which of the tree's each of its own is; empty: the same
};

template <class Rows, class Criterion>
class Grower {
 public:
  // `ids`: the rows to grow on, ascending, all below n_rows. With tiles kept, these are in the items instead.
  Grower(std::vector<GrowColumn> columns, size_t n_rows, std::vector<uint32_t> ids, Rows rows,
         const Criterion& criterion, Spread spread, const GrowOptions& options, Run& run, Place place = {},
         const Kept<Rows>& kept = {});

  GrownTree grow();

 private:
  static constexpr int N = Rows::fixed_lanes;
  static constexpr bool by_rows = ByRows<Criterion>;
  struct Nothing {};
  // What a search by rows has instead of lanes: the order of the targets, a node of it, the scan that reads it.
  template <class C>
  struct Parts {
    using Scanner = Scan<C, N>;
    using Order = Nothing;
    using Targets = Nothing;
  };
  template <ByRows C>
  struct Parts<C> {
    using Scanner = AbsoluteScan<typename C::Sum>;
    using Order = std::unique_ptr<TargetOrder<typename C::Sum>>;
    using Targets = TargetNode<typename C::Sum>;
  };
  using ColumnScan = typename Parts<Criterion>::Scanner;

  // Histograms go back to where a fit of many trees keeps them, which has room for all (new_cells): this runs while
  // exceptions are on their way, std::bad_alloc too.
  struct ReturnCells {
    std::vector<std::unique_ptr<int64_t[]>>* spare = nullptr;
    void operator()(int64_t* cells) const noexcept {
      std::unique_ptr<int64_t[]> owned(cells);
      if (spare != nullptr && spare->size() < spare->capacity()) spare->push_back(std::move(owned));
    }
  };
  using Cells = std::unique_ptr<int64_t[], ReturnCells>;

  struct Node {
    int32_t record = 0;
    size_t begin = 0, end = 0;  // rows ids_[begin, end)
    int64_t depth = 0;
    uint64_t path = 0;
    double worth = 0;  // gain in units of the score: never overflows
    // What the node may predict under monotone constraints, in units of Criterion::value.
    double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
    Split split;
    std::vector<SparseRange> sparse;  // sparse columns that are not constant here (carried mode), ascending
    [[no_unique_address]] typename Parts<Criterion>::Targets targets;
    std::vector<int32_t> active;   // columns that are not constant here (carried mode)
    Cells cells;                   // histograms of the columns in that state; may be absent
    bool in_second = false;        // items only: which buffer has its rows
    bool inherits = false;         // `cells` holds the parent's sums until the sibling's are subtracted
    std::vector<uint8_t> allowed;  // per column, if the rules differ from node to node
    std::vector<int32_t> used;     // columns split on above, where interactions are limited
    std::string turns;             // best-first only: the way from the root, 0 = left
    bool may_use(int32_t j) const { return allowed.empty() || allowed[static_cast<size_t>(j)] != 0; }
    size_t size() const { return end - begin; }
    bool preorder_before(const Node& other) const { return turns < other.turns; }
  };

  struct Worker {
    std::unique_ptr<ColumnScan> scan;
    PresentCategories present;
    std::vector<Entry> entries, scratch;
    std::vector<Entry> all_rows;  // a sparse column with the rows it does not list
    std::vector<int64_t> cells, sibling_cells, unpacked;
    std::vector<uint64_t> words;                      // of the columns of one group
    std::vector<std::pair<double, uint32_t>> values;  // of a combination, with their rows
    std::vector<uint64_t> bits;                       // of ranks, all 0 between columns
    std::vector<uint8_t> usable;                      // of some flags
    Split best[2];
  };

  struct Aside {
    int32_t record;
    std::vector<uint32_t> ids;
    int64_t depth;
    uint64_t path;
    double lower, upper;
    std::vector<int32_t> used;
    std::vector<typename ItemRowsOf<Rows>::Type::Value> values;  // items only
  };

  // grow_search.h: the best split of new nodes
  bool in_order(int32_t j, size_t n_rows) const;
  size_t rows_for_histogram(int32_t j) const;
  template <class Body>
  void for_columns(size_t n, size_t work, Body body);
  void search(std::span<Node*> children, Node* parent);
  void search_all(std::span<Node*> children, Node* parent);
  void take_best(std::span<Node*> children, const std::vector<int32_t>& active);
  void take_histogram_memory(std::span<Node*> children, Node* parent);
  Cells new_cells();
  void put_in_order(int32_t j, const Node& node, Entry* to, Worker& worker);
  void search_column(int32_t j, size_t position, std::span<Node*> children, Node* parent, Worker& worker);
  void build_cells(int32_t j, size_t begin, size_t end, bool in_second, const int64_t* total, int64_t* cells,
                   const Worker& worker);
  template <class Build>
  int64_t* child_cells(size_t start, size_t n, Node& child, const Node* parent, const int64_t* sibling, Worker& worker,
                       Build build);
  Ties ties_of(const Node& node) const { return {options_, column_draws(options_, node.path)}; }
  void search_drawn(Node& node);
  void search_combined(Node& node);
  void search_combination(std::vector<Term> terms, int32_t first, const Node& node, Worker& worker, Split& best);
  double combined_value(std::span<const Term> terms, uint32_t row) const;
  std::span<const Entry> ordered(int32_t j, const Node& node, Worker& worker);
  void search_alone(int32_t j, const Node& node, Worker& worker, Split& best);
  void search_random(int32_t j, const Node& node, Worker& worker, Split& best);
  void begin_scan(int32_t j, const Node& node, Worker& worker);
  void scan_entries(int32_t j, std::span<const Entry> entries, const Node& node, Worker& worker, Split& best);
  void scan_targets(int32_t j, std::span<const Entry> entries, const Node& node, Worker& worker, Split& best);
  void scan_cells(int32_t j, const int64_t* cells, const Node& node, Worker& worker, Split& best);
  void offer_drawn(int32_t j, const DrawnCut& cut, Worker& worker, Split& best);
  CategoryRules category_rules(int32_t j, const Node& node) const {
    const uint32_t n_codes = columns_[static_cast<size_t>(j)].n_codes;
    const NodeRecord& record = tree_.nodes[static_cast<size_t>(node.record)];
    return {n_codes < options_.one_hot_categories,
            options_.max_categories,
            options_.rare_rows,
            options_.group_rows,
            category_chance(options_, spread_, record.impurity, record.weight, record.n_rows),
            options_.rare_weight,
            options_.free_categories,
            in_tree(place_.orders, j)};
  }
  uint64_t word_of(int32_t j, const Node& node) const {
    return draw(options_.seed, Purpose::random_split, node.path, static_cast<uint64_t>(j));
  }

  // grow_sparse.h: sparse columns
  void take_sparse_entries(const SparseOrder* order);
  std::span<Entry> load_sparse(const SparseRange& range, Worker& worker) const;
  std::span<Entry> collect_sparse(int32_t j, const Node& node, Worker& worker);
  void search_sparse(std::span<Node*> children, Node* parent);
  void search_sparse_column(const SparseRange& range, size_t position, std::span<Node*> children, const Node* parent,
                            Worker& worker);
  void scan_listed(int32_t j, std::span<const Entry> entries, const Node& node, Worker& worker, Split& best);
  void list_all_rows(int32_t j, std::span<const Entry> listed, const Node& node, std::vector<Entry>& out) const;
  size_t mark_rows(Node& node, const Router& router);
  size_t mark_combined(const Node& node, const NodeRecord& record);

  // grow_packed.h: rows that carry their statistics with them
  using ItemRows = typename ItemRowsOf<Rows>::Type;
  using Item = RowItem<ItemRows>;
  static constexpr bool packable = std::is_same_v<Rows, ItemRows>;
  static constexpr bool words = std::is_same_v<Rows, WordRows>;  // with tiles: cells are words
  std::span<Item> items(size_t begin, size_t end, bool in_second) const;
  size_t part_items(const Node& node, const Router& router);
  template <class LeftOf>
  void mark_items(std::span<const Item> rows, std::vector<uint64_t>& left_before, LeftOf left_of);
  void sum_items(std::span<const Item> rows);
  void scan_words(int32_t j, const int64_t* cells, const Node& node, Worker& worker, Split& best);
  void search_flags(std::span<Node*> children, Node* parent);
  void build_flags(size_t first, size_t n, size_t begin, size_t end, bool in_second, int64_t* cells) const;
  void scan_flags(size_t first, size_t n, const int64_t* cells, const Node& node, Worker& worker, Split& best);
  void make_groups();
  void search_groups(std::span<Node*> children, Node* parent, const std::vector<int32_t>& active);
  void add_item_histogram(int32_t j, std::span<const Item> rows, int64_t* cells) const;
  void fill_default(int32_t j, const int64_t* total, int64_t* cells) const;
  void put_aside(const Node& child);
  void collect_ids();

  // grow_nodes.h: nodes, leaves, subtrees
  void lay_out_histograms();
  void add_record(const Node& node, const int64_t* lanes);
  bool all_rows_alike(const Node& node) const;
  bool is_leaf(const Node& node) const;
  bool worth_it(Node& node) const;
  void search_and_push(std::span<Node*> children, Node* parent);
  void expand(Node node);
  double add_medians(const Node& node);
  void add_leaf_means();
  void bound_children(const Node& node, Node* children) const;
  double held_score(const Node& node, const int64_t* lanes) const;
  Router write_split(const Node& node, NodeRecord& record);
  void flip_listed(std::span<const uint32_t> codes);
  double threshold(const GrowColumn& column, const Split& split) const;
  uint32_t last_code(const GrowColumn& column, const Split& split, double threshold) const;
  static constexpr bool compacts = std::is_same_v<Rows, ClassRows>;
  void keep_some_lanes();
  void grow_aside();
  GrownTree grow_part(const Aside& part);

  std::span<const uint32_t> ids_of(const Node& node) const { return {ids_.data() + node.begin, node.size()}; }
  const int64_t* lanes_of(int32_t record) const {
    return tree_.lanes.data() + static_cast<size_t>(record) * static_cast<size_t>(n_lanes_);
  }
  size_t cell_stride() const {
    return words && tiles_ != nullptr ? 1 : static_cast<size_t>(n_lanes_) + (counted_ ? 1 : 0);
  }
  bool has_flags() const { return packable && tiles_ != nullptr && !tiles_->flags().empty(); }
  bool listed(int32_t j) const { return columns_[static_cast<size_t>(j)].sparse && tiles_ != nullptr; }
  size_t cells_of(int32_t j) const {
    return (static_cast<size_t>(columns_[static_cast<size_t>(j)].n_codes) + 1) * cell_stride();
  }

  std::vector<GrowColumn> columns_;
  size_t n_rows_;
  std::vector<uint32_t> ids_;
  Rows rows_;
  const Criterion& criterion_;
  Spread spread_;
  const GrowOptions& options_;
  Run& run_;
  Place place_;
  ColumnRules column_rules_;
  int n_lanes_;
  bool counted_;  // histograms count rows: min_rows_leaf asks, or lanes of 0 may be rows, and the weight is no count
  bool all_;      // all columns are searched in every node
  bool sparse_ = false;  // some columns are sparse, and not in the tiles
  size_t subtree_rows_ = 0;
  Search search_;
  const Tiles* tiles_;  // present: rows are items
  ItemBuffers<ItemRows>* buffers_;
  DenseOrder* dense_order_;
  struct Group {
    size_t tile, first, n;  // columns of a tile, or
    int32_t alone = -1;     // one that is in none
  };
  std::vector<Group> groups_;         // words of dense columns only: each is built, subtracted and scanned as a whole
  std::vector<int32_t> in_group_;     // per column: its place in its group
  std::vector<int32_t> position_of_;  // per column: where it is in the active list, −1: nowhere
  size_t summed_begin_ = 0, summed_end_ = 0;  // rows whose sums the workers hold

  GrownTree tree_;
  int64_t n_leaves_ = 1;
  Frontier<Node> frontier_;
  std::vector<Aside> aside_;
  std::vector<uint8_t> side_;
  std::vector<uint32_t> id_scratch_;
  std::vector<uint64_t> listed_;                   // one bit a category, all 0 between splits; grows as needed
  std::vector<std::unique_ptr<Entry[]>> entries_;  // per column, made when first needed
  std::vector<Worker> workers_;
  std::vector<TreeOrder> orders_;  // of the whole tree: what place_.orders, also of its subtrees, points to
  std::vector<int32_t> all_columns_;
  std::vector<uint8_t> constant_[2];  // per child and active column
  SparseEntries sparse_entries_;      // of all sparse columns, if all columns are searched
  std::vector<size_t> sparse_start_;
  std::vector<SparseRange> sparse_columns_;  // at the root
  std::vector<uint32_t> sparse_middle_;      // per range of the parent: where the right child's part begins
  std::vector<uint8_t> sparse_constant_[2];
  DrawnColumns drawn_;
  Ranks ranks_;                       // columns drawn, few rows: filled as columns are asked for
  std::vector<uint32_t> number_of_;   // per row: its number in the part it was put aside with
  std::vector<int32_t> node_of_row_;  // sparse columns drawn: the record whose rows a row is among
  [[no_unique_address]] typename Parts<Criterion>::Order order_;
  std::vector<size_t> cell_start_;  // where a column's histogram lies in Node::cells
  size_t flags_start_ = 0;          // and where those of flags do
  size_t cells_total_ = 0;
  size_t smallest_histogram_rows_ = 0;
  int64_t cells_in_use_ = 0;  // bytes
};

}  // namespace weald

#include "core/tree/grow/combined.h"
#include "core/tree/grow/nodes.h"
#include "core/tree/grow/packed.h"
#include "core/tree/grow/search.h"
#include "core/tree/grow/sparse.h"
#include "core/tree/grow/subtrees.h"
