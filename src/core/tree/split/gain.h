// THE split gain. Every tree method scores a set of rows by one number; a split is worth
//
//   gain = (score(left) + score(right)) − score(node)                                    (docs/methods/trees.md, 4)
//
// and the best split has the largest score(left) + score(right). Scores are one fixed float64 expression of the integer
// lanes: sums and differences are taken in integers, then converted. Higher is better; a criterion C brings
//
//   score(cell)         the number above, in units of the lanes
//   weight(cell)        Σ w (or Σ h) in units: decides the larger child, compared with min_weight
//   pure(cell)          no split can help (regression: never known from sums; the grower asks `alike` of the rows)
//   alike(a, b)         the same mean (regression only)
//   rows_may_be_zero    a row's lanes may all be 0 (Newton: g = h = 0), so only a count tells whether a cell has rows
//   profile(cell, out)  what categories are ordered by when they have no single mean; only if not `ordered`
//   less(a, b)          a's mean below b's, compared as integers; only if `ordered` (two classes, one target, Newton)
//   value(cell)         what the cell predicts, in units that only comparisons see: monotone constraints ask for it.
//                       Only if `ordered`
//   by_value            value() is what less() compares, divided and rounded as float64; only if it is
//   score_at(cell, v)   the score if the cell must predict v; only if constraints hold scores back, not just values
//   refused(cell)       no side may be such a cell (Poisson: a sum of 0); only if there are such. The order of
//                       categories is then no longer sure to hold the best partition
//   most                no score exceeds it; only if there is such a number
//   mean_lane           the lane whose mean it compares, and
//   mean_gain           how often the gain has (S_l − W_l·S/W)²·W / (W_l·W_r), of this lane S and the weight W: the
//   test of
//                       mean_filter.h then stands in for hopeless(); only if it is such a criterion
//   hopeless(l, r, s)   true only if score(l) + score(r) surely is below s: a test without divisions, which are most of
//                       the cost of a candidate. Its rounding errors are below 2^-49 of its terms; `caution` is 2^-44
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/base/mathematics.h"

namespace weald {

// a / b < c / d for positive b, d, exactly.
inline bool ratio_less(int64_t a, int64_t b, int64_t c, int64_t d) {
  return static_cast<__int128>(a) * d < static_cast<__int128>(c) * b;
}

inline constexpr double caution = 0x1p-44;

// x · log2 x in units, from a table where the counts are small (same bits either way).
class EntropyTerms {
 public:
  // `largest`: no argument will exceed it.
  explicit EntropyTerms(int64_t largest) {
    constexpr int64_t table_limit = int64_t{1} << 20;
    if (largest > table_limit) return;
    table_.resize(static_cast<size_t>(largest) + 1);
    for (int64_t n = 1; n <= largest; ++n) table_[static_cast<size_t>(n)] = compute(n);
  }
  double operator()(int64_t n) const {
    return static_cast<size_t>(n) < table_.size() ? table_[static_cast<size_t>(n)] : compute(n);
  }

 private:
  static double compute(int64_t n) {
    if (n == 0) return 0.0;
    const double x = static_cast<double>(n);
    return x * log2(x);
  }
  std::vector<double> table_;
};

// Two classes: lanes n₀, n₁.
struct TwoClasses {
  static constexpr double most = 0;  // no score is larger
  static constexpr bool ordered = true, by_value = true, rows_may_be_zero = false;
  static int64_t weight(const int64_t* cell) { return cell[0] + cell[1]; }
  static bool pure(const int64_t* cell) { return cell[0] == 0 || cell[1] == 0; }
  static bool alike(const int64_t*, const int64_t*) { return false; }
  static bool less(const int64_t* a, const int64_t* b) { return ratio_less(a[1], weight(a), b[1], weight(b)); }
  static double value(const int64_t* cell) { return static_cast<double>(cell[1]) / static_cast<double>(weight(cell)); }
};

// −Σ n_c (n − n_c) / n                                                                                            (1)
struct GiniTwo : TwoClasses {
  static constexpr int mean_lane = 1;
  static constexpr double mean_gain = 2;
  static double score(const int64_t* cell) {
    const double zero = static_cast<double>(cell[0]), one = static_cast<double>(cell[1]);
    return -(zero * one + one * zero) / static_cast<double>(cell[0] + cell[1]);
  }
  // 2 l₀l₁/l + 2 r₀r₁/r > −s, multiplied by l·r
  static bool hopeless(const int64_t* l, const int64_t* r, double s) {
    const double l0 = static_cast<double>(l[0]), l1 = static_cast<double>(l[1]);
    const double r0 = static_cast<double>(r[0]), r1 = static_cast<double>(r[1]);
    const double ln = l0 + l1, rn = r0 + r1;
    return 2 * (l0 * l1 * rn + r0 * r1 * ln) * (1 - caution) > -s * (ln * rn);
  }
};

// −(n log2 n − Σ n_c log2 n_c)                                                                                    (2)
// or, without terms, −(n − the largest n_c)                                                                      (10)
// One type for both: a criterion is compiled with every kind of rows, and neither has a filter to lose by a branch.
struct EntropyOrErrorsTwo : TwoClasses {
  const EntropyTerms* terms;  // nullptr: errors
  explicit EntropyOrErrorsTwo(const EntropyTerms* shared) : terms(shared) {}
  double score(const int64_t* cell) const {
    if (terms == nullptr) return -static_cast<double>(std::min(cell[0], cell[1]));
    return -((*terms)(cell[0] + cell[1]) - ((*terms)(cell[0]) + (*terms)(cell[1])));
  }
  static bool hopeless(const int64_t*, const int64_t*, double) { return false; }
};

// Any number of classes and outputs: output o owns the lanes [start[o], start[o + 1]).
//
// With hundreds of classes and more (ClassRows::compact) a score is worked out from one integer per output, the
// sum of inner(n_c) over its lanes: a row that changes sides then changes one term of it, not all (running.h).
struct ManyClasses {
  static constexpr double most = 0;
  static constexpr bool ordered = false, rows_may_be_zero = false;
  std::vector<int> start;
  bool by_inner = false;

  explicit ManyClasses(std::vector<int> output_start) : start(std::move(output_start)) {}
  int64_t weight(const int64_t* cell) const { return sum(cell, 0); }
  int64_t sum(const int64_t* cell, size_t output) const {
    int64_t total = 0;
    for (int l = start[output]; l < start[output + 1]; ++l) total += cell[l];
    return total;
  }
  bool pure(const int64_t* cell) const {
    const int64_t n = weight(cell);
    size_t full = 0;
    for (int l = 0; l < start.back(); ++l) full += cell[l] == n;
    return full == start.size() - 1;
  }
  static bool alike(const int64_t*, const int64_t*) { return false; }
  static bool hopeless(const int64_t*, const int64_t*, double) { return false; }
  int profile_size() const { return start.back(); }
  void profile(const int64_t* cell, double* out) const {
    const double n = static_cast<double>(weight(cell));
    for (int l = 0; l < start.back(); ++l) out[l] = static_cast<double>(cell[l]) / n;
  }
};

// The criterion for cells that have the lanes `kept` alone.
template <class Criterion>
Criterion compacted(const Criterion& criterion, std::span<const int32_t> kept) {
  Criterion out = criterion;
  for (int& first : out.start) {
    first = static_cast<int>(std::lower_bound(kept.begin(), kept.end(), first) - kept.begin());
  }
  return out;
}

// What score() is of a cell whose lanes are seen only through their inner sums.
template <class Criterion>
double score_by_inner(const Criterion& criterion, const int64_t* cell) {
  double total = 0;
  for (size_t o = 0; o + 1 < criterion.start.size(); ++o) {
    typename Criterion::Inner inner = 0;
    for (int l = criterion.start[o]; l < criterion.start[o + 1]; ++l) inner += criterion.inner(cell[l]);
    total -= criterion.loss(criterion.sum(cell, o), inner);
  }
  return total;
}

// Σ n_c (n − n_c) = n² − Σ n_c², exact in 128 bits: with unit weights the same bits as term by term.
struct GiniMany : ManyClasses {
  using ManyClasses::ManyClasses;
  using Inner = __int128;
  static Inner inner(int64_t n) { return static_cast<Inner>(n) * n; }
  static double loss(int64_t n, Inner sum) {
    return static_cast<double>(static_cast<Inner>(n) * n - sum) / static_cast<double>(n);
  }
  double score(const int64_t* cell) const {
    if (by_inner) return score_by_inner(*this, cell);
    double total = 0;
    for (size_t o = 0; o + 1 < start.size(); ++o) {
      const int64_t n = sum(cell, o);
      double loss = 0;
      for (int l = start[o]; l < start[o + 1]; ++l) {
        loss += static_cast<double>(cell[l]) * static_cast<double>(n - cell[l]);
      }
      total -= loss / static_cast<double>(n);
    }
    return total;
  }
};

// Entropy: n_c log2 n_c in fixed point, with more bits than a float64 has for their sum. Or, without terms, errors.
struct EntropyOrErrorsMany : ManyClasses {
  const EntropyTerms* terms;  // nullptr: errors, never by_inner
  EntropyOrErrorsMany(std::vector<int> output_start, const EntropyTerms* shared)
      : ManyClasses(std::move(output_start)), terms(shared) {}
  using Inner = __int128;
  static constexpr double inner_scale = 0x1p52;  // below 2^121 in all
  Inner inner(int64_t n) const { return static_cast<Inner>((*terms)(n)*inner_scale); }
  double loss(int64_t n, Inner sum) const { return static_cast<double>(inner(n) - sum) / inner_scale; }
  double score(const int64_t* cell) const {
    if (by_inner) return score_by_inner(*this, cell);
    double total = 0;
    for (size_t o = 0; o + 1 < start.size(); ++o) total -= terms == nullptr ? errors(cell, o) : entropy(cell, o);
    return total;
  }

 private:
  double entropy(const int64_t* cell, size_t o) const {
    double inner = 0;
    for (int l = start[o]; l < start[o + 1]; ++l) inner += (*terms)(cell[l]);
    return (*terms)(sum(cell, o)) - inner;
  }
  double errors(const int64_t* cell, size_t o) const {
    const int64_t largest = *std::max_element(cell + start[o], cell + start[o + 1]);
    return static_cast<double>(sum(cell, o) - largest);
  }
};

// One target: lanes Σ w·y, Σ w.
struct OneTarget {
  static constexpr bool ordered = true, by_value = true, rows_may_be_zero = false;
  static bool alike(const int64_t* a, const int64_t* b) {
    return static_cast<__int128>(a[0]) * b[1] == static_cast<__int128>(b[0]) * a[1];
  }
  static int64_t weight(const int64_t* cell) { return cell[1]; }
  static bool pure(const int64_t*) { return false; }
  static bool less(const int64_t* a, const int64_t* b) { return ratio_less(a[0], a[1], b[0], b[1]); }
  static double value(const int64_t* cell) { return static_cast<double>(cell[0]) / static_cast<double>(cell[1]); }
};

// (Σ w·y)² / Σ w                                                                                                  (3)
struct Squared : OneTarget {
  static constexpr int mean_lane = 0;
  static constexpr double mean_gain = 1;
  static double score(const int64_t* cell) {
    const double s = static_cast<double>(cell[0]);
    return s * s / static_cast<double>(cell[1]);
  }
  // S_l²/W_l + S_r²/W_r < s, multiplied by W_l·W_r
  static bool hopeless(const int64_t* l, const int64_t* r, double s) {
    const double ls = static_cast<double>(l[0]), lw = static_cast<double>(l[1]);
    const double rs = static_cast<double>(r[0]), rw = static_cast<double>(r[1]);
    return (ls * ls * rw + rs * rs * lw) * (1 + caution) < s * (lw * rw);
  }
};

// S log2(S / W) with S = Σ w·y, W = Σ w in real units; −∞ if S = 0, so that every child predicts above 0.        (11)
inline double poisson_term(int64_t sum, int64_t weight, int shift) {
  if (sum <= 0) return -std::numeric_limits<double>::infinity();
  const double s = static_cast<double>(sum);
  return s * (log2(s) - log2(static_cast<double>(weight)) + shift);
}

struct PoissonDeviance : OneTarget {
  int shift = 0;  // log2 of (unit of the sum / unit of the weight)
  explicit PoissonDeviance(int units) : shift(units) {}
  static bool refused(const int64_t* cell) { return cell[0] <= 0; }
  double score(const int64_t* cell) const { return poisson_term(cell[0], cell[1], shift); }
  static bool hopeless(const int64_t*, const int64_t*, double) { return false; }
};

// Several targets: Σ w·y per output, then Σ w. `scale[o]` brings output o to real units.
struct ManyTargets {
  static constexpr bool ordered = false, rows_may_be_zero = false;
  std::vector<double> scale;
  bool alike(const int64_t* a, const int64_t* b) const {
    for (size_t o = 0; o < scale.size(); ++o) {
      if (static_cast<__int128>(a[o]) * weight(b) != static_cast<__int128>(b[o]) * weight(a)) return false;
    }
    return true;
  }
  int64_t weight(const int64_t* cell) const { return cell[scale.size()]; }
  static bool pure(const int64_t*) { return false; }
  static bool hopeless(const int64_t*, const int64_t*, double) { return false; }
  int profile_size() const { return static_cast<int>(scale.size()); }
  void profile(const int64_t* cell, double* out) const {
    const double w = static_cast<double>(weight(cell));
    for (size_t o = 0; o < scale.size(); ++o) out[o] = static_cast<double>(cell[o]) * scale[o] / w;
  }
};

// Σ over outputs of (Σ w·y_o)² / Σ w
struct SquaredMany : ManyTargets {
  double score(const int64_t* cell) const {
    double total = 0;
    for (size_t o = 0; o < scale.size(); ++o) {
      const double s = static_cast<double>(cell[o]) * scale[o];
      total += s * s;
    }
    return total / static_cast<double>(weight(cell));
  }
};

// Σ over outputs of S_o log2(S_o / W)
struct PoissonMany : ManyTargets {
  std::vector<int> shift;  // per output, as in PoissonDeviance
  double score(const int64_t* cell) const {
    double total = 0;
    for (size_t o = 0; o < scale.size(); ++o) total += poisson_term(cell[o], weight(cell), shift[o]) * scale[o];
    return total;
  }
};

}  // namespace weald
