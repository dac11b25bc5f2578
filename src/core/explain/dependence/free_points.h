// Columns set free: each is given one value after another, its points. Which points a side of a split takes depends on
// the splits above it on the same column and on nothing else, so it is found once for the forest, not for each row.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "core/predict/laid_out_forest.h"
#include "core/predict/predict.h"

namespace weald {

struct FreeColumn {
  int32_t column = 0;              // its number in the table
  std::span<const double> values;  // ascending numbers; of levels their codes, from 1 up, in any order
  bool missing = false;            // whether there is one more point, the last: a missing value
};

// Some points of one column: those from `low` to before `high` and perhaps the missing one, or a set of bits.
struct PointPart {
  int32_t low = 0, high = 0;
  bool missing = false;
  bool any = false;        // false: no point at all
  int64_t first_word = 0;  // where columns have sets; n_words(column) words
};

class FreePoints {
 public:
  // The splits of `trees`; every other node counts as one that reads no free column.
  FreePoints(const LaidOutForest& forest, TreeRange trees, std::vector<FreeColumn> columns);

  size_t n_columns() const { return columns_.size(); }
  int64_t n_points(size_t free) const { return n_points_[free]; }
  bool by_set(size_t free) const { return by_set_[free] != 0; }
  int64_t n_values(size_t free) const { return static_cast<int64_t>(columns_[free].values.size()); }
  // Whether a tree reads a free column at all.
  bool reads(size_t tree) const { return reads_[tree] != 0; }
  // What a walk asks of a node, in one place.
  struct Node {
    int32_t right;  // the other child; the node itself for leaves
    int32_t free;   // which of the free columns its split reads, −1 for none and for leaves
    int32_t parts;  // where its pair of parts is
  };
  const Node& node(int32_t id) const { return nodes_[static_cast<size_t>(id)]; }
  const PointPart& left(const Node& node) const { return parts_[2 * static_cast<size_t>(node.parts)]; }
  const PointPart& right(const Node& node) const { return parts_[2 * static_cast<size_t>(node.parts) + 1]; }
  // All points of a column.
  const PointPart& whole(size_t free) const { return whole_[free]; }

  // What to add where, so that after `integrate` every point of the part has got it: calls use(point, sign).
  template <class Use>
  void for_deltas(size_t free, const PointPart& part, Use use) const {
    const auto n = static_cast<int32_t>(columns_[free].values.size());
    if (by_set_[free]) {
      for (int64_t w = 0; w < n_words(free); ++w) {
        for (uint64_t bits = words_[static_cast<size_t>(part.first_word + w)]; bits != 0; bits &= bits - 1) {
          use(64 * w + std::countr_zero(bits), 1.0);
        }
      }
      return;
    }
    if (part.low < part.high) {
      use(int64_t{part.low}, 1.0);
      if (part.high < n) use(int64_t{part.high}, -1.0);
    }
    if (part.missing) use(int64_t{n}, 1.0);
  }
  // Sums along the points of a column, which lie `stride` apart, each of `lanes` numbers.
  void integrate(size_t free, double* points, int64_t stride, int64_t lanes) const;

 private:
  int64_t n_words(size_t free) const { return (n_points_[free] + 63) / 64; }
  void add_tree(const LaidOutForest& forest, size_t tree);
  void add_split(const LaidOutForest& forest, int32_t id, size_t free, const PointPart& above);
  PointPart with_words(size_t free, std::span<const uint64_t> bits);

  std::vector<FreeColumn> columns_;
  std::vector<int64_t> n_points_;
  std::vector<uint8_t> by_set_;  // per column: whether one of its splits is by a set of categories
  std::vector<uint8_t> reads_;   // per tree
  std::vector<Node> nodes_;
  std::vector<PointPart> parts_;  // left and right of every split on a free column
  std::vector<PointPart> whole_;  // per column
  std::vector<uint64_t> words_;
};

}  // namespace weald
