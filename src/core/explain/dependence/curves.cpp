#include "core/explain/dependence/curves.h"

#include <algorithm>
#include <memory>

#include "core/base/mathematics.h"
#include "core/base/simd.h"
#include "core/explain/dependence/tile_curves.h"

namespace weald {

namespace {

constexpr int64_t least_group = 512, most_groups = 128, fewest_groups = 8, most_numbers = int64_t{1} << 23;

// value = 1 / (1 + exp(−factor · value)), or exp(value): two builds of one body (base/simd.h).
[[gnu::always_inline]] inline void linked(CurveLink link, double factor, double* value, int64_t n) {
  if (link == CurveLink::logistic) {
    for (int64_t i = 0; i < n; ++i) value[i] = sigmoid(factor * value[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) value[i] = exp(factor * value[i]);
  }
}
void linked_baseline(CurveLink link, double factor, double* value, int64_t n) {
  linked(link, factor, value, n);
}
WEALD_TARGET_AVX2 void linked_avx2(CurveLink link, double factor, double* value, int64_t n) {
  linked(link, factor, value, n);
}
void apply_link(CurveLink link, double factor, double* value, int64_t n) {
  simd_level() == Simd::avx2 ? linked_avx2(link, factor, value, n) : linked_baseline(link, factor, value, n);
}

// The sum over the rows of a tile, always in the same order: eight sums side by side, then those.
template <class Term>
[[gnu::always_inline]] inline double sum_of(Term term) {
  std::array<double, 8> sums{};
  for (size_t i = 0; i < tile_rows; i += 8) {
    for (size_t r = 0; r < 8; ++r) sums[r] += term(i + r);
  }
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

// A tile of rows: their raw scores in one output, their weights, and the sum of those.
struct TileRows {
  std::array<double, tile_rows> own{}, weight{};
  double all = 0;
};

// Where the moments of one curve go: point p at p · stride, beside those of `before` weight.
struct MomentsOfCurve {
  double *mean, *m2;
  int64_t stride;
  double before;
};

// From differences between points to the moments of what is asked for, point by point while a point is at hand; the
// differences become 0, for the next tile. The same sums in the same order as one step after another.
template <bool Weighted>
[[gnu::always_inline]] inline void moments_of_run(const TileCurves<tile_rows>::Run& run, const TileRows& rows,
                                                  CurveLink link, double factor, const MomentsOfCurve& to) {
  std::array<double, tile_rows> sum{}, value;
  const double share = rows.all / (to.before + rows.all);
  for (int64_t p = 0; p < run.n; ++p) {
    double* gap = run.value + p * tile_rows;
    if (p == 0 || p >= run.n_summed) sum.fill(0.0);
    for (size_t i = 0; i < sum.size(); ++i) {
      sum[i] = gap[i] + sum[i];
      gap[i] = 0.0;
      value[i] = sum[i] + rows.own[i];
    }
    if (link != CurveLink::identity) linked(link, factor, value.data(), tile_rows);
    const double mean = sum_of([&](size_t i) { return Weighted ? rows.weight[i] * value[i] : value[i]; }) / rows.all;
    const double m2 = sum_of([&](size_t i) {
      const double squared = (value[i] - mean) * (value[i] - mean);
      return Weighted ? rows.weight[i] * squared : squared;
    });
    const double apart = mean - to.mean[p * to.stride];
    to.mean[p * to.stride] += apart * share;
    to.m2[p * to.stride] += m2 + apart * apart * to.before * share;
  }
}
template <bool Weighted>
void moments_baseline(const TileCurves<tile_rows>::Run& run, const TileRows& rows, CurveLink link, double factor,
                      const MomentsOfCurve& to) {
  moments_of_run<Weighted>(run, rows, link, factor, to);
}
template <bool Weighted>
WEALD_TARGET_AVX2 void moments_avx2(const TileCurves<tile_rows>::Run& run, const TileRows& rows, CurveLink link,
                                    double factor, const MomentsOfCurve& to) {
  moments_of_run<Weighted>(run, rows, link, factor, to);
}

// Rows of a group, whose moments are kept apart until all are there: by the sizes of the data alone.
int64_t rows_of_group(int64_t n_rows, int64_t n_numbers) {
  const int64_t groups = std::clamp(most_numbers / std::max<int64_t>(1, n_numbers), fewest_groups, most_groups);
  const int64_t rows = std::max(least_group, (n_rows + groups - 1) / groups);
  return (rows + tile_rows - 1) / tile_rows * tile_rows;
}

// Means and sums of squares of some rows, to which others are added.
struct Moments {
  double weight = 0;
  std::vector<double> mean, m2;

  explicit Moments(int64_t n) : mean(static_cast<size_t>(n), 0.0), m2(static_cast<size_t>(n), 0.0) {}

  // As Chan, Golub and LeVeque put two groups together; `weight` is told after all numbers are in.
  void add(size_t at, double other_weight, double other_mean, double other_m2) {
    const double all = weight + other_weight, share = all > 0 ? other_weight / all : 0.0;
    const double apart = other_mean - mean[at];
    mean[at] += apart * share;
    m2[at] += other_m2 + apart * apart * weight * share;
  }
};

class GroupOfRows {
 public:
  GroupOfRows(const LaidOutForest& forest, const FreePoints& points, const CurveRows& rows, const CurveOptions& options)
      : rows_(rows), options_(options), n_outputs_(forest.n_outputs()) {
    if (options.rows_apart) {
      curves_ = std::make_unique<TileCurves<tile_rows>>(forest, points, options.pair);
    } else {
      sums_ = std::make_unique<TileCurves<1>>(forest, points, options.pair);
    }
  }

  int64_t n_points() const { return curves_ != nullptr ? curves_->n_points() : sums_->n_points(); }

  // Rows begin … end into `moments`, and into `individual` if there is one.
  void run(TreeRange trees, int64_t begin, int64_t end, std::span<const int32_t> outputs, double* individual,
           Moments& moments) {
    if (sums_ != nullptr) return run_sums(trees, begin, end, moments);
    if (!options_.pair && !options_.centred && options_.link != CurveLink::softmax && individual == nullptr) {
      return run_moments(trees, begin, end, moments);
    }
    for (int64_t first = begin; first < end; first += tile_rows) {
      const int64_t n = std::min(tile_rows, end - first);
      curves_->clear();
      curves_->load(rows_.columns, weight(), first, n);
      curves_->add_trees(trees);
      curves_->integrate();
      link(first, n);
      if (options_.centred) curves_->centre();
      add_moments(first, n, moments);
      for (size_t k = 0; individual != nullptr && k < outputs.size(); ++k) {
        double* to = individual + (static_cast<int64_t>(k) * rows_.columns.n_rows + first) * n_points();
        for (int64_t p = 0; p < n_points(); ++p) {
          const double* from = curves_->at(p, outputs[k]);
          for (int64_t i = 0; i < n; ++i) to[i * n_points() + p] = from[i];
        }
      }
    }
  }

 private:
  const double* weight() const { return rows_.weight.empty() ? nullptr : rows_.weight.data(); }
  double weight_of(int64_t row) const { return rows_.weight.empty() ? 1.0 : rows_.weight[static_cast<size_t>(row)]; }
  double raw(int64_t row, int64_t output) const { return rows_.raw[static_cast<size_t>(row * n_outputs_ + output)]; }

  // Where nothing but moments is asked for, and each curve is for itself.
  void run_moments(TreeRange trees, int64_t begin, int64_t end, Moments& moments) {
    for (int64_t first = begin; first < end; first += tile_rows) {
      const int64_t n = std::min(tile_rows, end - first);
      curves_->load(rows_.columns, weight(), first, n);
      TileRows rows;
      for (int64_t i = 0; i < n; ++i) rows.all += rows.weight[static_cast<size_t>(i)] = weight_of(first + i);
      if (rows.all <= 0) continue;
      curves_->add_trees(trees);
      const bool weighted = weight() != nullptr || n < tile_rows;
      for (int64_t k = 0; k < n_outputs_; ++k) {
        for (int64_t i = 0; i < n; ++i) rows.own[static_cast<size_t>(i)] = raw(first + i, k);
        for (size_t f = 0; f < curves_->n_columns(); ++f) add_run(f, k, rows, weighted, moments);
      }
      moments.weight += rows.all;
    }
  }

  void add_run(size_t free, int64_t output, const TileRows& rows, bool weighted, Moments& moments) {
    const TileCurves<tile_rows>::Run run = curves_->run(free, output);
    const auto at = static_cast<size_t>(run.first * n_outputs_ + output);
    const MomentsOfCurve to{moments.mean.data() + at, moments.m2.data() + at, n_outputs_, moments.weight};
    if (simd_level() == Simd::avx2) {
      (weighted ? moments_avx2<true> : moments_avx2<false>)(run, rows, options_.link, options_.factor, to);
    } else {
      (weighted ? moments_baseline<true> : moments_baseline<false>)(run, rows, options_.link, options_.factor, to);
    }
  }

  void run_sums(TreeRange trees, int64_t begin, int64_t end, Moments& moments) {
    sums_->clear();
    for (int64_t first = begin; first < end; first += tile_rows) {
      const int64_t n = std::min(tile_rows, end - first);
      sums_->load(rows_.columns, weight(), first, n);
      sums_->add_trees(trees);
    }
    sums_->integrate();
    double all = 0;
    for (int64_t i = begin; i < end; ++i) all += weight_of(i);
    for (int64_t k = 0; k < n_outputs_; ++k) {
      double own = 0;
      for (int64_t i = begin; i < end; ++i) own += weight_of(i) * raw(i, k);
      for (int64_t p = 0; p < n_points(); ++p) {
        const double mean = all > 0 ? (own + *sums_->at(p, k)) / all : 0.0;
        moments.add(static_cast<size_t>(p * n_outputs_ + k), all, mean, 0.0);
      }
    }
    moments.weight += all;
  }

  // From differences to scores, and on to what is asked for.
  void link(int64_t first, int64_t n) {
    const double factor = options_.factor;
    for (int64_t k = 0; k < n_outputs_; ++k) {
      std::array<double, tile_rows> own{};
      for (int64_t i = 0; i < n; ++i) own[static_cast<size_t>(i)] = raw(first + i, k);
      double* value = curves_->at(0, k);  // the points of an output lie one after another
      for (int64_t p = 0; p < n_points(); ++p) {
        for (int64_t i = 0; i < tile_rows; ++i) value[p * tile_rows + i] += own[static_cast<size_t>(i)];
      }
      if (options_.link == CurveLink::logistic || options_.link == CurveLink::exponential) {
        apply_link(options_.link, factor, value, n_points() * tile_rows);
      }
    }
    if (options_.link != CurveLink::softmax) return;
    for (int64_t p = 0; p < n_points(); ++p) {
      std::array<double, tile_rows> top, sum{};
      for (int64_t k = 0; k < n_outputs_; ++k) {
        const double* value = curves_->at(p, k);
        for (size_t i = 0; i < top.size(); ++i) top[i] = k == 0 ? value[i] : std::max(top[i], value[i]);
      }
      for (int64_t k = 0; k < n_outputs_; ++k) {
        double* value = curves_->at(p, k);
        for (size_t i = 0; i < top.size(); ++i) value[i] -= top[i];
        apply_link(CurveLink::exponential, factor, value, tile_rows);
        for (size_t i = 0; i < top.size(); ++i) sum[i] += value[i];
      }
      for (int64_t k = 0; k < n_outputs_; ++k) {
        double* value = curves_->at(p, k);
        for (size_t i = 0; i < sum.size(); ++i) value[i] /= sum[i];
      }
    }
  }

  void add_moments(int64_t first, int64_t n, Moments& moments) {
    std::array<double, tile_rows> w{};
    double all = 0;
    for (int64_t i = 0; i < n; ++i) all += w[static_cast<size_t>(i)] = weight_of(first + i);
    if (all <= 0) return;
    for (int64_t k = 0; k < n_outputs_; ++k) {
      for (int64_t p = 0; p < n_points(); ++p) {
        const double* value = curves_->at(p, k);
        const double mean = sum_of([&](size_t i) { return w[i] * value[i]; }) / all;
        const double m2 = sum_of([&](size_t i) { return w[i] * ((value[i] - mean) * (value[i] - mean)); });
        moments.add(static_cast<size_t>(p * n_outputs_ + k), all, mean, m2);
      }
    }
    moments.weight += all;
  }

  const CurveRows& rows_;
  const CurveOptions& options_;
  int64_t n_outputs_;
  std::unique_ptr<TileCurves<tile_rows>> curves_;
  std::unique_ptr<TileCurves<1>> sums_;
};

void check_request(const LaidOutForest& forest, const FreePoints& points, const CurveRows& rows,
                   const CurveOptions& options, std::span<const int32_t> outputs) {
  const int64_t n = rows.columns.n_rows;
  require(points.n_columns() > 0 && (!options.pair || points.n_columns() == 2), "free columns");
  require(static_cast<int64_t>(rows.raw.size()) == n * forest.n_outputs(), "raw scores of each row and output");
  require(rows.weight.empty() || static_cast<int64_t>(rows.weight.size()) == n, "one weight per row");
  const bool plain = options.link == CurveLink::identity && !options.centred;
  require(options.rows_apart || plain, "sums are of raw scores");
  for (const int32_t k : outputs) require(k >= 0 && k < forest.n_outputs(), "an output of the forest");
}

}  // namespace

CurveMoments dependence_curves(const LaidOutForest& forest, TreeRange trees, const FreePoints& points,
                               const CurveRows& rows, const CurveOptions& options, std::span<const int32_t> outputs,
                               double* individual, Run& run) {
  check_request(forest, points, rows, options, outputs);
  std::vector<std::unique_ptr<GroupOfRows>> workers(static_cast<size_t>(run.n_threads()));
  workers[0] = std::make_unique<GroupOfRows>(forest, points, rows, options);
  const int64_t n_rows = rows.columns.n_rows, n_numbers = workers[0]->n_points() * forest.n_outputs();
  const int64_t group_rows = rows_of_group(n_rows, n_numbers), n_groups = (n_rows + group_rows - 1) / group_rows;
  std::vector<Moments> found(static_cast<size_t>(n_groups), Moments(0));
  parallel_for(run, n_groups, [&](int64_t group, int worker) {
    auto& mine = workers[static_cast<size_t>(worker)];
    if (mine == nullptr) mine = std::make_unique<GroupOfRows>(forest, points, rows, options);
    Moments& moments = found[static_cast<size_t>(group)] = Moments(n_numbers);
    const int64_t end = std::min(n_rows, (group + 1) * group_rows);
    mine->run(trees, group * group_rows, end, outputs, individual, moments);
  });
  Moments all(n_numbers);
  for (const Moments& part : found) {
    if (part.weight <= 0) continue;
    for (size_t i = 0; i < part.mean.size(); ++i) all.add(i, part.weight, part.mean[i], part.m2[i]);
    all.weight += part.weight;
  }
  return {std::move(all.mean), std::move(all.m2)};
}

}  // namespace weald
