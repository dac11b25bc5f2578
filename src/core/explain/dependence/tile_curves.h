// The curves of one tile of rows: differences between points are gathered tree by tree, then summed along the points.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "core/explain/dependence/curves.h"

namespace weald {

// Lanes: 64 keeps the rows apart; 1 adds them up, each times its weight.
template <int Lanes>
class TileCurves {
 public:
  TileCurves(const LaidOutForest& forest, const FreePoints& points, bool pair)
      : forest_(forest), points_(points), pair_(pair), tile_(forest) {
    for (size_t f = 0; f < points.n_columns(); ++f)
      first_point_.push_back(f == 0 ? 0 : first_point_[f - 1] + points.n_points(f - 1));
    n_points_ =
        pair ? points.n_points(0) * points.n_points(1) : first_point_.back() + points.n_points(points.n_columns() - 1);
    curves_.assign(static_cast<size_t>(n_points_ * forest.n_outputs() * Lanes), 0.0);
    own_.resize(static_cast<size_t>(forest.width) * tile_rows);
    gap_.resize(static_cast<size_t>(forest.width) * Lanes);
  }

  int64_t n_points() const { return n_points_; }
  // After `add_trees` and `integrate`: how far the scores of each row are from what it has; `Lanes` numbers.
  double* at(int64_t point, int64_t output) { return curves_.data() + (output * n_points_ + point) * Lanes; }

  void load(const SlotColumns& columns, const double* weight, int64_t first, int64_t n) {
    tile_.load(columns, first, n);
    rows_ = n == tile_rows ? ~uint64_t{0} : (uint64_t{1} << n) - 1;
    for (int64_t i = 0; i < n; ++i) weight_[static_cast<size_t>(i)] = weight == nullptr ? 1.0 : weight[first + i];
  }
  void clear() { std::ranges::fill(curves_, 0.0); }

  void add_trees(TreeRange trees) {
    for (size_t tree = trees.first; tree < trees.last; ++tree) {
      if (!points_.reads(tree)) continue;
      output_ = forest_.output[tree];
      tree_weight_ = forest_.weight[tree];
      find_own(forest_.roots[tree]);
      if (pair_) {
        follow_pair(forest_.roots[tree]);
        continue;
      }
      for (const Meeting& meeting : meetings_) {
        const auto free = static_cast<size_t>(points_.free_of(meeting.node));
        const PointPart &left = points_.left(meeting.node), &right = points_.right(meeting.node);
        if (meeting.right != 0 && left.any) follow(free, meeting.node + 1, meeting.right, left);
        if (meeting.left != 0 && right.any) follow(free, right_of(meeting.node), meeting.left, right);
      }
    }
  }

  void integrate() {
    for (int64_t k = 0; k < forest_.n_outputs(); ++k) {
      if (!pair_) {
        for (size_t f = 0; f < points_.n_columns(); ++f) points_.integrate(f, at(first_point_[f], k), Lanes, Lanes);
        continue;
      }
      const int64_t inner = points_.n_points(1);
      for (int64_t p = 0; p < points_.n_points(0); ++p) points_.integrate(1, at(p * inner, k), Lanes, Lanes);
      points_.integrate(0, at(0, k), inner * Lanes, inner * Lanes);
    }
  }

  // Every curve less its first point.
  void centre() {
    std::array<double, Lanes> start;
    for (int64_t k = 0; k < forest_.n_outputs(); ++k) {
      const size_t n_curves = pair_ ? 1 : points_.n_columns();
      for (size_t f = 0; f < n_curves; ++f) {
        const int64_t n = pair_ ? n_points_ : points_.n_points(f);
        double* value = at(first_point_[f], k);
        if (n > 0) std::copy_n(value, Lanes, start.begin());
        for (int64_t p = 0; p < n; ++p, value += Lanes) {
          for (size_t i = 0; i < start.size(); ++i) value[i] -= start[i];
        }
      }
    }
  }

 private:
  // A split on a free column on the way of some rows: those that go left there, and right.
  struct Meeting {
    int32_t node;
    uint64_t left, right;
  };
  struct Step {
    int32_t node;
    uint64_t rows;
    const PointPart *part, *other;  // of the free column, or of the first and the second
  };

  int32_t right_of(int32_t node) const { return forest_.by_column.nodes[static_cast<size_t>(node)].right; }

  // Where each row comes to with its own values, and the splits on free columns that it passes.
  void find_own(int32_t root) {
    meetings_.clear();
    steps_.assign(1, {root, rows_, nullptr, nullptr});
    while (!steps_.empty()) {
      const auto [node, rows, part, other] = steps_.back();
      steps_.pop_back();
      if (forest_.is_leaf(node)) {
        const double* value = forest_.leaf_value(node);
        for (int64_t k = 0; k < forest_.width; ++k) {
          for_rows(rows, [&](int row) { own_[static_cast<size_t>(k * tile_rows + row)] = tree_weight_ * value[k]; });
        }
        continue;
      }
      const uint64_t left = tile_.left(node, rows), right = rows & ~left;
      if (!pair_ && points_.free_of(node) >= 0) meetings_.push_back({node, left, right});
      if (right != 0) steps_.push_back({right_of(node), right, nullptr, nullptr});
      if (left != 0) steps_.push_back({node + 1, left, nullptr, nullptr});
    }
  }

  // Some rows from a node on, where one column is free and has these points.
  void follow(size_t free, int32_t start, uint64_t start_rows, const PointPart& start_part) {
    steps_.assign(1, {start, start_rows, &start_part, nullptr});
    while (!steps_.empty()) {
      const auto [node, rows, part, other] = steps_.back();
      steps_.pop_back();
      if (forest_.is_leaf(node)) {
        const int64_t first = first_point_[free];
        come_to(node, rows);
        points_.for_deltas(free, *part, [&](int64_t point, double sign) { add(rows, first + point, sign); });
      } else if (points_.free_of(node) == static_cast<int32_t>(free)) {
        const PointPart &left = points_.left(node), &right = points_.right(node);
        if (right.any) steps_.push_back({right_of(node), rows, &right, nullptr});
        if (left.any) steps_.push_back({node + 1, rows, &left, nullptr});
      } else {
        const uint64_t left = tile_.left(node, rows);
        if (left != rows) steps_.push_back({right_of(node), rows & ~left, part, nullptr});
        if (left != 0) steps_.push_back({node + 1, left, part, nullptr});
      }
    }
  }

  // All rows from the root on, where two columns are free.
  void follow_pair(int32_t root) {
    steps_.assign(1, {root, rows_, &points_.whole(0), &points_.whole(1)});
    while (!steps_.empty()) {
      const auto [node, rows, part, other] = steps_.back();
      steps_.pop_back();
      if (forest_.is_leaf(node)) {
        const int64_t inner = points_.n_points(1);
        come_to(node, rows);
        points_.for_deltas(0, *part, [&](int64_t p, double sign) {
          points_.for_deltas(1, *other, [&](int64_t q, double also) { add(rows, p * inner + q, sign * also); });
        });
        continue;
      }
      const int32_t free = points_.free_of(node);
      if (free < 0) {
        const uint64_t left = tile_.left(node, rows);
        if (left != rows) steps_.push_back({right_of(node), rows & ~left, part, other});
        if (left != 0) steps_.push_back({node + 1, left, part, other});
        continue;
      }
      const PointPart &left = points_.left(node), &right = points_.right(node);
      if (right.any) steps_.push_back({right_of(node), rows, free == 0 ? &right : part, free == 0 ? other : &right});
      if (left.any) steps_.push_back({node + 1, rows, free == 0 ? &left : part, free == 0 ? other : &left});
    }
  }

  // What the tree gives some rows in a leaf beyond what it gives them as they are, or the sum of that.
  void come_to(int32_t leaf, uint64_t rows) {
    const double* value = forest_.leaf_value(leaf);
    for (int64_t k = 0; k < forest_.width; ++k) {
      const double* own = own_.data() + k * tile_rows;
      const double here = tree_weight_ * value[k];
      double* gap = gap_.data() + k * Lanes;
      if constexpr (Lanes == 1) {
        *gap = 0;
        for_rows(rows, [&](int row) { *gap += weight_[static_cast<size_t>(row)] * (here - own[row]); });
      } else {
        for_rows(rows, [&](int row) { gap[row] = here - own[row]; });
      }
    }
  }

  void add(uint64_t rows, int64_t point, double sign) {
    for (int64_t k = 0; k < forest_.width; ++k) {
      double* to = at(point, output_ + k);
      const double* gap = gap_.data() + k * Lanes;
      if constexpr (Lanes == 1) {
        *to += sign * *gap;
      } else {
        for_rows(rows, [&](int row) { to[row] += sign * gap[row]; });
      }
    }
  }

  template <class Use>
  static void for_rows(uint64_t rows, Use use) {
    for (; rows != 0; rows &= rows - 1) use(std::countr_zero(rows));
  }

  const LaidOutForest& forest_;
  const FreePoints& points_;
  bool pair_;
  RowTile tile_;
  std::vector<int64_t> first_point_;  // per free column
  int64_t n_points_ = 0;
  std::vector<double> curves_;  // (outputs, points, lanes)
  std::vector<double> own_;     // (width, 64): what the tree gives each row as it is
  std::vector<double> gap_;     // (width, lanes)
  std::array<double, tile_rows> weight_{};
  uint64_t rows_ = 0;
  int32_t output_ = 0;
  double tree_weight_ = 0;
  std::vector<Meeting> meetings_;
  std::vector<Step> steps_;
};

}  // namespace weald
