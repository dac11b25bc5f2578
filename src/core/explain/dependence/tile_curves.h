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
    const auto n_nodes = static_cast<int32_t>(forest_.leaf.size());
    for (size_t tree = trees.first; tree < trees.last; ++tree) {
      if (!points_.reads(tree)) continue;
      output_ = forest_.output[tree];
      tree_weight_ = forest_.weight[tree];
      tile_.enter((tree + 1 < forest_.n_trees() ? forest_.roots[tree + 1] : n_nodes) - forest_.roots[tree]);
      find_own(forest_.roots[tree]);
      if (pair_) {
        follow_pair(forest_.roots[tree]);
        continue;
      }
      for (const Meeting& meeting : meetings_) {
        const FreePoints::Node& node = points_.node(meeting.node);
        const PointPart &left = points_.left(node), &right = points_.right(node);
        if (meeting.right != 0 && left.any) follow(node.free, meeting.node + 1, meeting.right, &left);
        if (meeting.left != 0 && right.any) follow(node.free, node.right, meeting.left, &right);
      }
    }
  }

  // The curves of one column and output as differences, which `integrate` would sum along: where they are, the first of
  // them, how many are summed one after another (the rest stand alone), and how many there are.
  struct Run {
    double* value;
    int64_t first, n_summed, n;
  };
  Run run(size_t free, int64_t output) {
    const int64_t summed = points_.by_set(free) ? 0 : points_.n_values(free);
    return {at(first_point_[free], output), first_point_[free], summed, points_.n_points(free)};
  }
  size_t n_columns() const { return points_.n_columns(); }

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

  // Where each row comes to with its own values, and the splits on free columns that it passes.
  void find_own(int32_t root) {
    meetings_.clear();
    walk({root, rows_, nullptr, nullptr}, [&](Step& step) {
      if (forest_.is_leaf(step.node)) {
        const double* value = forest_.leaf_value(step.node);
        for (int64_t k = 0; k < forest_.width; ++k) {
          const double here = tree_weight_ * value[k];
          for_rows(step.rows, [&](int row) { own_[static_cast<size_t>(k * tile_rows + row)] = here; });
        }
        return false;
      }
      const FreePoints::Node& node = points_.node(step.node);
      const uint64_t left = tile_.left(step.node, step.rows);
      if (!pair_ && node.free >= 0) meetings_.push_back({step.node, left, step.rows & ~left});
      part_rows(step, node, left);
      return true;
    });
  }

  // Some rows from a node on, where one column is free and has these points.
  void follow(int32_t free, int32_t start, uint64_t rows, const PointPart* part) {
    const int64_t first = first_point_[static_cast<size_t>(free)];
    walk({start, rows, part, nullptr}, [&](Step& step) {
      if (forest_.is_leaf(step.node)) {
        if (Lanes > 1 && !points_.by_set(static_cast<size_t>(free))) {
          add_run(step.node, step.rows, *step.part, first, points_.n_values(static_cast<size_t>(free)));
          return false;
        }
        come_to(step.node, step.rows);
        points_.for_deltas(static_cast<size_t>(free), *step.part,
                           [&](int64_t point, double sign) { add(step.rows, first + point, sign); });
        return false;
      }
      const FreePoints::Node& node = points_.node(step.node);
      if (node.free != free) {
        part_rows(step, node, tile_.left(step.node, step.rows));
        return true;
      }
      const PointPart &left = points_.left(node), &right = points_.right(node);
      if (left.any && right.any) steps_.push_back({node.right, step.rows, &right, nullptr});
      step = left.any ? Step{step.node + 1, step.rows, &left, nullptr} : Step{node.right, step.rows, &right, nullptr};
      return left.any || right.any;
    });
  }

  // All rows from the root on, where two columns are free.
  void follow_pair(int32_t root) {
    const int64_t inner = points_.n_points(1);
    walk({root, rows_, &points_.whole(0), &points_.whole(1)}, [&](Step& step) {
      if (forest_.is_leaf(step.node)) {
        come_to(step.node, step.rows);
        points_.for_deltas(0, *step.part, [&](int64_t p, double sign) {
          points_.for_deltas(1, *step.other,
                             [&](int64_t q, double also) { add(step.rows, p * inner + q, sign * also); });
        });
        return false;
      }
      const FreePoints::Node& node = points_.node(step.node);
      if (node.free < 0) {
        part_rows(step, node, tile_.left(step.node, step.rows));
        return true;
      }
      const auto taking = [&](int32_t child, const PointPart& part) {
        return node.free == 0 ? Step{child, step.rows, &part, step.other} : Step{child, step.rows, step.part, &part};
      };
      const PointPart &left = points_.left(node), &right = points_.right(node);
      if (left.any && right.any) steps_.push_back(taking(node.right, right));
      step = left.any ? taking(step.node + 1, left) : taking(node.right, right);
      return left.any || right.any;
    });
  }

  // Goes on from a step as long as `go` says so, then from those that it has left behind.
  template <class Go>
  void walk(Step step, Go go) {
    steps_.clear();
    for (;;) {
      while (go(step)) {
      }
      if (steps_.empty()) return;
      step = steps_.back();
      steps_.pop_back();
    }
  }

  // Rows to the left go on; those to the right follow later, unless there are no others.
  void part_rows(Step& step, const FreePoints::Node& node, uint64_t left) {
    if (left == 0) {
      step.node = node.right;
      return;
    }
    if (left != step.rows) steps_.push_back({node.right, step.rows & ~left, step.part, step.other});
    step.rows = left;
    ++step.node;
  }

  // The same as `come_to` and `add` of a part without sets, in one loop over the rows.
  void add_run(int32_t leaf, uint64_t rows, const PointPart& part, int64_t first, int64_t n) {
    const double* value = forest_.leaf_value(leaf);
    for (int64_t k = 0; k < forest_.width; ++k) {
      const double* own = own_.data() + k * tile_rows;
      const double here = tree_weight_ * value[k];
      double* low = at(first + part.low, output_ + k);
      double* high = at(first + part.high, output_ + k);
      double* missing = at(first + n, output_ + k);
      const bool some = part.low < part.high, inside = some && part.high < n;
      if (some && !part.missing && inside) {
        for_rows(rows, [&](int row) {
          const double gap = here - own[row];
          low[row] += gap;
          high[row] -= gap;
        });
      } else if (some && !part.missing) {
        for_rows(rows, [&](int row) { low[row] += here - own[row]; });
      } else {
        for_rows(rows, [&](int row) {
          const double gap = here - own[row];
          if (some) low[row] += gap;
          if (inside) high[row] -= gap;
          missing[row] += gap;
        });
      }
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
