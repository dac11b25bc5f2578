#include "core/neighbors/dense_filter.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/base/simd.h"

namespace weald::neighbors {

using body::group;
using body::panel;
using body::Sum;

namespace {

template <Sum sum, bool categories, bool both>
int64_t open_baseline(const body::Panels& panels, const body::Group& queries, const body::Mirror& mirror, int64_t at,
                      int64_t end, body::Open& out) {
  return body::next_open<sum, 16, categories, both>(panels, queries, mirror, at, end, out);
}
template <Sum sum, bool categories, bool both>
WEALD_TARGET_AVX2 int64_t open_avx2(const body::Panels& panels, const body::Group& queries, const body::Mirror& mirror,
                                    int64_t at, int64_t end, body::Open& out) {
  return body::next_open<sum, 32, categories, both>(panels, queries, mirror, at, end, out);
}
template <Sum sum, bool categories, bool both>
WEALD_TARGET_AVX512 int64_t open_avx512(const body::Panels& panels, const body::Group& queries,
                                        const body::Mirror& mirror, int64_t at, int64_t end, body::Open& out) {
  return body::next_open<sum, body::longest_vector, categories, both>(panels, queries, mirror, at, end, out);
}

template <Sum sum, bool both>
DenseFilter::NextOpen chosen(bool categories) {
  if (wide_vectors()) return categories ? open_avx512<sum, true, both> : open_avx512<sum, false, both>;
  const bool avx2 = simd_level() == Simd::avx2;
  if (categories) return avx2 ? open_avx2<sum, true, both> : open_baseline<sum, true, both>;
  return avx2 ? open_avx2<sum, false, both> : open_baseline<sum, false, both>;
}

template <bool both>
DenseFilter::NextOpen chosen_of(Sum sum, bool categories) {
  if (sum == Sum::dot) return chosen<Sum::dot, both>(categories);
  return sum == Sum::absolute ? chosen<Sum::absolute, both>(categories) : chosen<Sum::largest, both>(false);
}

// Panels of a tile take about so many bytes, which stay in the second-level cache.
constexpr int64_t tile_bytes = 1 << 16;
// Sizes, scaled, beyond which float sums may overflow; columns beyond which their error is no longer small.
constexpr double largest_size = 1e30;
constexpr int64_t most_columns = 1 << 20;
// More than all that float and its products lose near 0, for numbers scaled to at most 1.
constexpr double tiny = 0x1p-100;

constexpr int64_t pack_block = 64;  // panels

}  // namespace

DenseFilter::DenseFilter(const Metric& metric, const Rows& fitted, const Categories& categories, Run& run)
    : metric_(metric),
      term_(term_of(metric)),
      sum_(term_ == Term::absolute  ? Sum::absolute
           : term_ == Term::largest ? Sum::largest
                                    : Sum::dot),
      fitted_(fitted),
      categories_(categories),
      n_columns_(fitted.points.n_columns + (term_ == Term::product && categories.n() > 0 ? 1 : 0)),
      n_categorical_(term_ == Term::square || term_ == Term::absolute ? categories.n() : 0),
      centre_(static_cast<size_t>(fitted.points.n_columns)) {
  double largest = 0.0;
  if (term_ != Term::product) {
    centre_ = svm::middles_of(fitted.points);
    for (int64_t i = 0; i < fitted.n(); ++i) {
      const double* row = fitted.points.dense + i * fitted.points.n_columns;
      for (size_t k = 0; k < centre_.size(); ++k) largest = std::max(largest, std::abs(row[k] - centre_[k]));
    }
    for (int64_t c = 0; c < n_categorical_; ++c) {
      largest = std::max(largest, distance_of(metric, categories.cost[static_cast<size_t>(c)]));
    }
    if (largest > 0) std::frexp(largest, &exponent_);
    exponent_ = std::max(exponent_, -1000);  // 2^1000 is a number, 2^1074 is none
    scale_ = std::ldexp(1.0, -exponent_);
  }
  usable_ = largest < infinity && n_columns_ < most_columns;
  prepare_levels();
  if (usable_) pack(run);
}

// A share of what a sum is at most, which its rounding errors stay below: 2^-24 for each of the columns and some more.
double DenseFilter::slack(double size) const {
  const auto n = static_cast<double>(n_columns_ + n_categorical_);
  return (2.2 * n + 16.0) * float_unit * size + (n + 1.0) * tiny;
}

void DenseFilter::pack(Run& run) {
  const int64_t n = fitted_.n(), n_panels = (n + panel - 1) / panel, d = fitted_.points.n_columns;
  const Scattered order(n);
  row_.assign(static_cast<size_t>(n_panels * panel), -1);
  size_.assign(row_.size(), 0.0F);
  values_ = svm::Aligned<float>(static_cast<size_t>(n_panels * panel * n_columns_));
  start_ = svm::Aligned<float>(static_cast<size_t>(n_panels * panel));
  codes_ = svm::Aligned<int32_t>(static_cast<size_t>(n_panels * panel * n_categorical_));
  against_ = svm::Aligned<float>(static_cast<size_t>(n_panels * panel * n_categorical_));
  const int power = metric_.rule == Rule::powers && metric_.p == 2 ? 2 : 1;
  double own = 0.0;
  for (const double each : categories_.cost) own += each / 2;
  for (int64_t c = 0; c < n_categorical_; ++c) {
    const double scaled = std::ldexp(categories_.cost[static_cast<size_t>(c)], -power * exponent_);
    cost_.push_back(rounded_down(scaled));
    total_cost_ += scaled;
  }
  parallel_for(run, (n_panels + pack_block - 1) / pack_block, [&](int64_t at, int) {
    for (int64_t j = at * pack_block * panel; j < std::min((at + 1) * pack_block, n_panels) * panel; ++j) {
      if (j >= n) {
        start_.data()[j] = std::numeric_limits<float>::infinity();
        continue;
      }
      const int64_t i = order(j);
      row_[static_cast<size_t>(j)] = i;
      const double* row = fitted_.points.dense + i * d;
      float* to = values_.data() + j / panel * panel * n_columns_ + j % panel;
      double size = 0.0;  // ‖x‖², Σ |x| or max |x|
      for (int64_t k = 0; k < d; ++k) {
        const auto x = static_cast<float>((row[k] - centre_[static_cast<size_t>(k)]) * scale_);
        to[k * panel] = x;
        const double whole = std::abs(double{x});
        size = sum_ == Sum::dot ? size + whole * whole : sum_ == Sum::absolute ? size + whole : std::max(size, whole);
      }
      if (n_columns_ > d) to[d * panel] = static_cast<float>(std::sqrt(own) * fitted_.weight[static_cast<size_t>(i)]);
      size_[static_cast<size_t>(j)] = rounded_up(size);
      const double start = term_ == Term::product ? 1.0 : sum_ == Sum::dot ? size - 2.0 * slack(size) : -slack(size);
      start_.data()[j] = rounded_down(start);
      for (int64_t c = 0; c < n_categorical_; ++c) {
        const int32_t code = fitted_.codes[i * n_categorical_ + c];
        const int64_t place = (j / panel * n_categorical_ + c) * panel + j % panel;
        codes_.data()[place] = code;
        against_.data()[place] = rounded_down(std::ldexp(categories_.term(c, 0, code), -power * exponent_));
      }
    }
  });
}

DenseFilter::NextOpen DenseFilter::next_open(bool both) const {
  return both ? chosen_of<true>(sum_, n_categorical_ > 0) : chosen_of<false>(sum_, n_categorical_ > 0);
}

body::Panels DenseFilter::panels() const {
  return {n_columns_, n_categorical_, values_.data(), start_.data(), codes_.data(), against_.data()};
}

int64_t DenseFilter::panels_of_tile() const {
  const int64_t bytes = panel * (n_columns_ + 2 * n_categorical_ + 1) * static_cast<int64_t>(sizeof(float));
  return std::max<int64_t>(1, tile_bytes / bytes);
}

void DenseFilter::load(const Rows& queries, int64_t first, int64_t last, bool packed, Scratch& scratch) const {
  const int64_t d = queries.points.n_columns, n_groups = (last - first + group - 1) / group;
  if (scratch.values.size() == 0) {
    scratch.values = svm::Aligned<float>(static_cast<size_t>(block * n_columns_));
    scratch.level = svm::Aligned<float>(static_cast<size_t>(block));
    scratch.codes.resize(static_cast<size_t>(block * n_categorical_));
    scratch.against.resize(static_cast<size_t>(block * n_categorical_));
    scratch.base.resize(static_cast<size_t>(block));
    scratch.size.resize(static_cast<size_t>(block));
  }
  double own = 0.0;
  for (const double each : categories_.cost) own += each / 2;
  for (int64_t j = 0; j < n_groups * group; ++j) {
    const bool there = first + j < last;
    const int64_t at = there ? first + j : first, q = packed ? row_[static_cast<size_t>(at)] : at;
    const double* row = queries.points.dense + q * d;
    float* to = scratch.values.data() + j / group * group * n_columns_ + j % group;
    double size = 0.0;
    for (int64_t k = 0; k < d; ++k) {
      const double x = (row[k] - centre_[static_cast<size_t>(k)]) * scale_;
      const double near = static_cast<double>(static_cast<float>(x));
      const double whole = std::abs(near);
      size = sum_ == Sum::dot ? size + whole * whole : sum_ == Sum::absolute ? size + whole : std::max(size, whole);
      to[k * group] = static_cast<float>(term_ == Term::product ? -x : sum_ == Sum::dot ? -2.0 * near : near);
    }
    if (n_columns_ > d) {
      to[d * group] = static_cast<float>(-std::sqrt(own) * queries.weight[static_cast<size_t>(q)]);
    }
    double base = slack(size) + slack(total_cost_);
    if (term_ == Term::product) {
      base = 2.0 * slack(1.0);
    } else if (sum_ == Sum::dot) {
      base = 2.0 * (slack(size) + slack(total_cost_)) - size;
    }
    const bool far = !(size < largest_size);
    if (far) {
      for (int64_t k = 0; k < n_columns_; ++k) to[k * group] = 0.0F;
      base = infinity;
    }
    scratch.base[static_cast<size_t>(j)] = base;
    scratch.size[static_cast<size_t>(j)] = size;
    scratch.level.data()[j] = (there ? 1.0F : -1.0F) * std::numeric_limits<float>::infinity();
  }
  load_codes(queries, first, last, packed, scratch);
}

void DenseFilter::load_codes(const Rows& queries, int64_t first, int64_t last, bool packed, Scratch& scratch) const {
  const int power = metric_.rule == Rule::powers && metric_.p == 2 ? 2 : 1;
  for (int64_t j = 0; j < last - first; ++j) {
    const int64_t q = packed ? row_[static_cast<size_t>(first + j)] : first + j;
    for (int64_t c = 0; c < n_categorical_; ++c) {
      const int32_t code = queries.codes[q * n_categorical_ + c];
      const auto place = static_cast<size_t>((j / group * n_categorical_ + c) * group + j % group);
      scratch.codes[place] = code;
      scratch.against[place] = rounded_down(std::ldexp(categories_.term(c, code, 0), -power * exponent_));
    }
  }
}

// What makes a level of a farthest sum, errors of the float64 sums included.
void DenseFilter::prepare_levels() {
  const auto n = static_cast<double>(n_columns_ + n_categorical_);
  const double room = 1.0 + 4.0 * (n + 4.0) * double_unit;
  if (term_ == Term::product) {
    more_ = (n + 8.0) * 8.0 * double_unit;
  } else if (sum_ != Sum::dot) {
    times_ = room * scale_;
  } else if (term_ == Term::square) {
    more_ = lost_powers(fitted_.points.n_columns + n_categorical_);
    times_ = room * scale_ * scale_;
  } else {
    times_ = room;
  }
}

// The level for a farthest sum of `most`.
float DenseFilter::level(double base, double most) const {
  if (sum_ != Sum::dot || term_ == Term::square || term_ == Term::product) {
    return rounded_up((most + more_) * times_ + base);
  }
  const double length = most_length(metric_, most, fitted_.points.n_columns + n_categorical_) * scale_;
  return rounded_up(length * length * times_ + base);
}

body::Group DenseFilter::group_of(const Scratch& scratch, int64_t g) const {
  return {scratch.values.data() + g * group * n_columns_, scratch.level.data() + g * group,
          scratch.codes.data() + g * group * n_categorical_, cost_.data(),
          scratch.against.data() + g * group * n_categorical_};
}

void DenseFilter::search(const Distance& distance, const Rows& queries, int64_t first, int64_t last, bool exclude_self,
                         std::span<Best> best, Scratch& scratch, Run& run) const {
  const int64_t n = fitted_.n();
  if (!usable_) {
    for (int64_t q = first; q < last; ++q) {
      run.check();
      for (int64_t i = 0; i < n; ++i) {
        if (!(exclude_self && i == q)) best[static_cast<size_t>(q - first)].offer(distance.sum(q, i), i);
      }
    }
    return;
  }
  load(queries, first, last, false, scratch);
  const int64_t n_panels = (n + panel - 1) / panel, n_groups = (last - first + group - 1) / group;
  const int64_t tile = panels_of_tile();
  const body::Panels all = panels();
  const NextOpen next = next_open(false);
  body::Open& open = scratch.open;
  for (int64_t from = 0; from < n_panels; from += tile) {
    run.check();
    const int64_t end = std::min(from + tile, n_panels);
    for (int64_t g = 0; g < n_groups; ++g) {
      float* level_of = scratch.level.data() + g * group;
      const body::Group members = group_of(scratch, g);
      for (int64_t at = next(all, members, {}, from, end, open); at < end;
           at = next(all, members, {}, at + 1, end, open)) {
        for (int64_t r = 0; r < group && first + g * group + r < last; ++r) {
          const int64_t q = first + g * group + r;
          offer_panel(distance, q, at, open.near[r], open.sums + r * panel, exclude_self,
                      scratch.base[static_cast<size_t>(q - first)], best[static_cast<size_t>(q - first)], level_of[r]);
        }
      }
    }
  }
}

// Offers the rows of a panel that may be near enough to query q, and lowers its level.
void DenseFilter::offer_panel(const Distance& distance, int64_t q, int64_t at, uint32_t open, const float* sums,
                              bool exclude_self, double base, Best& best, float& level_of) const {
  for (; open != 0; open &= open - 1) {
    const int l = std::countr_zero(open);
    if (sums[l] > level_of) continue;
    const int64_t i = row_[static_cast<size_t>(at * panel + l)];
    if (i < 0 || (exclude_self && i == q)) continue;
    if (best.farthest().sum == 0 && i > best.farthest().row) continue;  // no nearer; of equal rows there may be many
    if (best.offer(distance.sum(q, i), i)) level_of = level(base, best.farthest().sum);
  }
}

}  // namespace weald::neighbors
