// Nearest rows of dense tables by tiles of float sums. A group of queries meets panels of fitted rows, 6 by 32 sums in
// registers; a row whose sum, less all that rounding may have added, is above the farthest neighbour so far is out.
// What passes, about k log(n / k) rows of n, is decided in float64, so that the result is that of float64 for all
// pairs.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/neighbors/best.h"
#include "core/neighbors/bounds.h"
#include "core/neighbors/distance.h"
#include "core/neighbors/filter_body.h"
#include "core/svm/kernel/tiles.h"

namespace weald::neighbors {

class DenseFilter {
 public:
  DenseFilter(const Metric& metric, const Rows& fitted, const Categories& categories, Run& run);

  // What a thread needs for one block of queries.
  struct Scratch {
    svm::Aligned<float> values;  // [group][column][query]
    svm::Aligned<float> level;   // [group][query]
    std::vector<int32_t> codes;  // [group][category][query]
    std::vector<float> against;  // the same
    std::vector<double> base;    // what is added to the scaled sum of squares, or sum, to make a level
    std::vector<double> size;    // ‖x‖², Σ |x| or max |x|, scaled
    body::Open open;             // of a group and a panel
  };
  using NextOpen = int64_t (*)(const body::Panels&, const body::Group&, const body::Mirror&, int64_t, int64_t,
                               body::Open&);
  static constexpr int64_t block = 64 * body::group;

  // Offers to the best of queries [first, last), at most `block`, every fitted row that may belong there; row q is no
  // neighbour of query q with `exclude_self`.
  void search(const Distance& distance, const Rows& queries, int64_t first, int64_t last, bool exclude_self,
              std::span<Best> best, Scratch& scratch, Run& run) const;

  // The k nearest other fitted rows of every fitted row: each pair is looked at once, for both. `distance` is between
  // the fitted rows; `write(row, nearest)` is called once for every row, by any thread.
  void search_self(const Distance& distance, int64_t k, Run& run,
                   const std::function<void(int64_t, std::span<const Neighbor>)>& write) const;
  // Whether that is worth its room, which every thread needs.
  bool can_search_self(int64_t k, int n_threads) const;

 private:
  struct Mine;
  struct Shared;
  void search_block(const Distance& distance, int64_t first, int64_t last, Mine& mine, Shared& shared, Run& run) const;
  void collect(const Distance& distance, int64_t first, int64_t last, int64_t g, int64_t at, Mine& mine) const;
  void decide(const Distance& distance, int64_t first, Mine& mine) const;
  float mirror_level(int64_t position, const Best& best) const;
  NextOpen next_open(bool both) const;
  body::Panels panels() const;
  body::Group group_of(const Scratch& scratch, int64_t g) const;
  int64_t panels_of_tile() const;
  void pack(Run& run);
  void load(const Rows& queries, int64_t first, int64_t last, bool packed, Scratch& scratch) const;
  void load_codes(const Rows& queries, int64_t first, int64_t last, bool packed, Scratch& scratch) const;
  void offer_panel(const Distance& distance, int64_t q, int64_t at, uint32_t open, const float* sums, bool exclude_self,
                   double base, Best& best, float& level_of) const;
  void prepare_levels();
  float level(double base, double most) const;
  double slack(double size) const;

  Metric metric_;
  Term term_;
  body::Sum sum_;
  const Rows& fitted_;
  const Categories& categories_;
  std::vector<int64_t> row_;  // of each lane; -1 where there is none
  std::vector<float> size_;   // of each lane, rounded up: see Scratch
  int64_t n_columns_;         // of panels: one more than of the points for the cosine with categories
  int64_t n_categorical_;     // of panels
  bool usable_ = true;        // numbers so far apart that float cannot tell
  std::vector<double> centre_;
  int exponent_ = 0;             // numbers are divided by 2^exponent
  double scale_ = 1.0;           // 2^-exponent
  double total_cost_ = 0;        // of all categories, scaled
  double more_ = 0, times_ = 1;  // (sum + more) · times, and what is of a query, is a level
  svm::Aligned<float> values_, start_, against_;
  svm::Aligned<int32_t> codes_;
  std::vector<float> cost_;  // scaled
};

}  // namespace weald::neighbors
