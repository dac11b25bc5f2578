// Prediction: raw values in, leaves and scores out.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/base/pool.h"
#include "core/predict/fill_rows.h"
#include "core/predict/laid_out_forest.h"
#include "core/predict/score_block.h"
#include "core/predict/tops.h"
#include "core/predict/walk.h"

namespace weald {

// Trees first … last − 1.
struct TreeRange {
  size_t first, last;
  size_t size() const { return last - first; }
};

// One forest, for any number of tables. Several threads may ask at once, also while what is made lazily is made.
class Predictor {
 public:
  // Checks every index of the forest, so that no array, whoever made it, can lead a walk outside.
  explicit Predictor(const ForestView& forest) : forest_(forest) {}

  const LaidOutForest& forest() const { return forest_; }
  int64_t n_outputs() const { return forest_.n_outputs(); }
  int64_t n_trees() const { return static_cast<int64_t>(forest_.n_trees()); }
  const std::vector<double>& base_score() const { return forest_.base_score; }

  // out += weight · leaf value of these trees, in order, one addition per tree. The result has the same bits whichever
  // way the rows go (see `add_by_…`).
  void add_scores(const PredictTable& table, TreeRange trees, const ScoreView& out, Run& run) const;
  // out (n_rows, trees.size()) = node id of the leaf, counted from the first node of its tree.
  void leaves(const PredictTable& table, TreeRange trees, int32_t* out, Run& run) const;

 private:
  using Layout = LaidOutForest::Layout;
  struct LazyTops {
    std::once_flag made;
    std::optional<Tops> tops;
  };

  bool large_trees() const;
  int64_t rows_of_block(int64_t n_rows, const Run& run) const;
  void check_columns(const PredictTable& table) const;
  template <class Use>
  void for_blocks(const PredictTable& table, int64_t unit, Run& run, Use use) const;

  // Two ways to the same scores. Codes (tops.h) where there are rows and trees enough to repay them; else null.
  const Tops* tops_for(TreeRange trees, int64_t n_rows) const;
  template <class Code>
  void add_by_codes(const Tops& tops, const PredictTable& table, TreeRange trees, const ScoreView& out, Run& run) const;
  template <class Code, class Rows, class Walker>
  void add_by_tops(const Tops& tops, const Layout& layout, const Rows& rows, const Walker& walk, int64_t n_rows,
                   TreeRange trees, const ScoreView& out) const;
  template <class Rows>
  void add_by_walking(const Walk<Rows>& walk, int64_t n, TreeRange trees, const ScoreView& out) const;

  LaidOutForest forest_;
  std::unique_ptr<LazyTops> tops_ = std::make_unique<LazyTops>();
};

}  // namespace weald
