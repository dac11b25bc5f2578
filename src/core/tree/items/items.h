// Rows that carry their packed statistics with them, for boosting.
//
// A node's items lie in one of two buffers; splitting it writes its children's to the other, left before right, both in
// their old order. The smaller child's codes are added up, the larger one's histogram is the parent's less that:
//
//   narrow, or with sparse columns   while a block of rows is written: their codes come into the cache once
//   words of dense columns           by the thread that subtracts and scans the column: histograms stay where they are
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/tree/grow/columns.h"
#include "core/tree/grow/node.h"
#include "core/tree/grow/statistic.h"
#include "core/tree/grow/workers.h"
#include "core/tree/items/row_codes.h"
#include "core/tree/model/forest.h"
#include "core/tree/rows/partition.h"
#include "core/tree/split/newton_gain.h"

namespace weald {

// As the grower sees them; PackedItems below has the items of one width.
class Items {
 public:
  // Columns that one thread builds, subtracts and scans as a whole.
  struct Group {
    size_t tile, first, n;  // columns of a tile, or
    int32_t alone = -1;     // one that is in none
  };

  virtual ~Items() = default;

  const Tiles& tiles() const { return tiles_; }
  bool words() const { return words_; }  // a cell is one word from the histogram to the scan
  bool has_flags() const { return !tiles_.flags().empty(); }
  std::span<const Group> groups() const { return groups_; }
  // Before all else: the columns of the tree, whether cells count rows, and the squares of rows, if they are asked for.
  void begin(const std::vector<GrowColumn>& columns, size_t n_rows, const GrowOptions& options, bool counted,
             const RowSquares& squares, Workers& workers);
  // Words of dense columns: what a thread has built of a column it also subtracts and scans, so that histograms do not
  // travel between processors.
  void make_groups(std::span<const int32_t> all_columns);

  virtual size_t size() const = 0;
  virtual void keep_cells(class Histograms& histograms) = 0;
  // Adds all rows to the root's lanes and, if asked, their codes to its histograms.
  virtual void begin_root(int64_t* lanes, bool sums) = 0;
  // Writes the children's items and, if asked, adds up the smaller child's codes. Returns how many rows go left.
  virtual size_t part(const GrowNode& node, const Router& router, bool sums) = 0;
  // The histogram of a column, or of some flags, over the rows [begin, end) of a node, whose lanes are `total`.
  virtual void build_cells(int32_t j, size_t begin, size_t end, bool in_second, const int64_t* total, int64_t* cells,
                           const Worker& worker) const = 0;
  virtual void build_flags(size_t first, size_t n, size_t begin, size_t end, bool in_second, int64_t* cells) const = 0;
  // Adds up the rows that were summed last, for the columns of a group, into worker.words.
  virtual void build_group(const Group& group, bool in_second, Worker& worker) const = 0;
  size_t n_summed() const { return summed_end_ - summed_begin_; }
  // Of all rows after begin_root(), of the smaller child's after part().
  const RowSquare& summed_squares() const { return summed_squares_; }
  // One per row of a node.
  virtual std::vector<RowSquare> list_squares(const GrowNode& node) const = 0;
  // A node's rows on their own: their numbers, and their statistic.
  virtual std::unique_ptr<Statistic> take(const GrowNode& node, std::vector<uint32_t>& ids) const = 0;
  // The row numbers of all leaves, when the tree is grown, for those who cannot read the items.
  virtual void collect_ids(GrownTree& tree) const = 0;

  std::unique_ptr<class PackedSearch> make_search() const;

 protected:
  Items(const Tiles& tiles, const Newton& criterion, bool words)
      : tiles_(tiles), criterion_(criterion), words_(words) {}
  size_t stride() const { return words_ ? 1 : 2 + (counted_ ? 1 : 0); }
  // What the rows that a sparse column does not list add up to: the rest of the node.
  void fill_default(int32_t j, const int64_t* total, int64_t* cells) const;
  const GrowColumn& column(int32_t j) const { return (*columns_)[static_cast<size_t>(j)]; }

  const Tiles& tiles_;
  const Newton& criterion_;
  bool words_;
  const std::vector<GrowColumn>* columns_ = nullptr;
  size_t n_rows_ = 0;  // of the table
  const GrowOptions* options_ = nullptr;
  bool counted_ = false;
  RowSquares squares_;
  Workers* workers_ = nullptr;
  std::vector<Group> groups_;
  std::vector<int32_t> in_group_;             // per column: its place in its group
  size_t summed_begin_ = 0, summed_end_ = 0;  // rows whose sums the workers hold
  RowSquare summed_squares_;                  // of these rows, if `squares_` are known
};

// For NarrowRows and WordRows.
template <class Rows>
class PackedItems final : public Items {
 public:
  // `buffers.first` has the rows of the tree; `criterion` outlives this.
  PackedItems(const Tiles& tiles, ItemBuffers<Rows>& buffers, const Newton& criterion);

  size_t size() const override { return buffers_.first.size(); }
  void keep_cells(Histograms& histograms) override;
  void begin_root(int64_t* lanes, bool sums) override;
  size_t part(const GrowNode& node, const Router& router, bool sums) override;
  void build_cells(int32_t j, size_t begin, size_t end, bool in_second, const int64_t* total, int64_t* cells,
                   const Worker& worker) const override;
  void build_flags(size_t first, size_t n, size_t begin, size_t end, bool in_second, int64_t* cells) const override;
  void build_group(const Group& group, bool in_second, Worker& worker) const override;
  std::vector<RowSquare> list_squares(const GrowNode& node) const override;
  std::unique_ptr<Statistic> take(const GrowNode& node, std::vector<uint32_t>& ids) const override;
  void collect_ids(GrownTree& tree) const override;

 private:
  using Item = RowItem<Rows>;
  static constexpr bool packed_cells = std::is_same_v<Rows, WordRows>;

  std::span<Item> items(size_t begin, size_t end, bool in_second) const {
    return {(in_second ? buffers_.second : buffers_.first).data() + begin, end - begin};
  }
  template <class LeftOf>
  void mark(std::span<const Item> rows, std::vector<uint64_t>& left_before, LeftOf left_of);
  void mark_sides(std::span<const Item> rows, int32_t j, const Router& router, std::vector<uint64_t>& left_before);
  void write_children(std::span<const Item> rows, const std::vector<uint64_t>& left_before, Item* to, bool small_left,
                      bool sums);
  void add_column(int32_t j, std::span<const Item> rows, int64_t* cells) const;
  RowSquare squares_of(std::span<const Item> rows) const;

  ItemBuffers<Rows>& buffers_;
  std::vector<uint8_t> side_;  // per row of the table, for sparse columns of large nodes
};

extern template class PackedItems<NarrowRows>;
extern template class PackedItems<WordRows>;

}  // namespace weald
