#include "core/svm/kernel/pivoted_root.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/check.h"
#include "core/svm/linear/solvers/cholesky.h"

namespace weald::svm {

namespace {

constexpr int64_t panel_width = 32, rows_at_once = 16, columns_at_once = 64;
// No entry of a matrix without negative eigenvalues is larger than the largest of the diagonal: what is, by more than
// this share of the whole, is no rounding.
constexpr double surely_indefinite = 1e-8;

using Values = std::vector<double>;

class Factor {
 public:
  Factor(std::span<const double> kernel, int64_t n, double floor)
      : n_(n), rest_(kernel.begin(), kernel.end()), ids_(static_cast<size_t>(n)) {
    std::iota(ids_.begin(), ids_.end(), int64_t{0});
    double trace = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double own = kernel[static_cast<size_t>(i * n + i)];
      trace += std::max(own, 0.0);
      largest_ = std::max(largest_, std::abs(own));
    }
    least_ = floor * trace;
  }

  bool definite() const { return definite_; }
  const std::vector<int64_t>& order() const { return order_; }

  void run(Run& run) {
    bool more = true;
    while (more && definite_ && !ids_.empty()) {
      run.check();
      more = factorise_panel();
      if (definite_) subtract_panel(run);
    }
    definite_ = definite_ && remainder_is_rounding();
  }

  // L of the rows in their new order, row after row.
  Values lower() const {
    const size_t r = order_.size(), n = static_cast<size_t>(n_);
    Values out(r * r, 0.0);
    for (size_t t = 0; t < r; ++t) {
      for (size_t s = t; s < r; ++s) out[s * r + t] = lines_[t * n + static_cast<size_t>(order_[s])];
    }
    return out;
  }

 private:
  // Up to `panel_width` columns of L; false if what remains is rounding.
  bool factorise_panel() {
    const auto n = static_cast<int64_t>(ids_.size());
    turned_.assign(static_cast<size_t>(panel_width * n), 0.0);
    done_.assign(static_cast<size_t>(n), 0);
    Values diagonal(static_cast<size_t>(n)), factors(panel_width);
    for (int64_t i = 0; i < n; ++i) diagonal[static_cast<size_t>(i)] = rest_[static_cast<size_t>(i * n + i)];
    for (n_panel_ = 0; n_panel_ < panel_width; ++n_panel_) {
      int64_t pivot = -1;
      for (int64_t i = 0; i < n; ++i) {
        const auto at = static_cast<size_t>(i);
        if (done_[at] == 0 && (pivot < 0 || diagonal[at] > diagonal[static_cast<size_t>(pivot)])) pivot = i;
      }
      if (pivot < 0 || !(diagonal[static_cast<size_t>(pivot)] > least_)) return false;
      if (!add_line(pivot, diagonal, factors)) return false;
    }
    return true;
  }

  // One column of L, as a line; false if the matrix cannot be one of a kernel.
  bool add_line(int64_t pivot, Values& diagonal, Values& factors) {
    const auto n = static_cast<int64_t>(ids_.size());
    const auto at = static_cast<size_t>(pivot);
    double* line = turned_.data() + n_panel_ * n;
    std::copy_n(rest_.data() + pivot * n, n, line);
    for (int64_t t = 0; t < n_panel_; ++t) {
      factors[static_cast<size_t>(t)] = turned_[static_cast<size_t>(t * n + pivot)];
    }
    linear::subtract_products(factors.data(), n_panel_, turned_.data(), n, n, line);
    const double own = diagonal[at], root = std::sqrt(own);
    lines_.resize(lines_.size() + static_cast<size_t>(n_), 0.0);
    double* kept = lines_.data() + static_cast<int64_t>(order_.size()) * n_;
    done_[at] = 1;
    for (int64_t i = 0; i < n; ++i) {
      const auto other = static_cast<size_t>(i);
      if (done_[other] != 0) {
        line[i] = 0.0;
        continue;
      }
      const double size = std::abs(line[i]);
      if (!(size <= 2 * own) && !(size <= surely_indefinite * largest_)) return definite_ = false;
      line[i] /= root;
      diagonal[other] -= line[i] * line[i];
      kept[ids_[other]] = line[i];
    }
    line[pivot] = root;
    kept[ids_[at]] = root;
    order_.push_back(ids_[at]);
    return true;
  }

  // What remains of the rows that are not done, packed together.
  void subtract_panel(Run& run) {
    const auto n = static_cast<int64_t>(ids_.size());
    std::vector<int64_t> left, ids;
    for (int64_t i = 0; i < n; ++i) {
      if (done_[static_cast<size_t>(i)] != 0) continue;
      left.push_back(i);
      ids.push_back(ids_[static_cast<size_t>(i)]);
    }
    const auto n_left = static_cast<int64_t>(left.size());
    Values next(static_cast<size_t>(n_left * n_left));
    parallel_for(run, (n_left + rows_at_once - 1) / rows_at_once, [&](int64_t block, int) {
      Values factors(panel_width), row(static_cast<size_t>(n));
      for (int64_t k = block * rows_at_once; k < std::min(n_left, (block + 1) * rows_at_once); ++k) {
        const int64_t i = left[static_cast<size_t>(k)];
        std::copy_n(rest_.data() + i * n, n, row.data());
        for (int64_t t = 0; t < n_panel_; ++t) {
          factors[static_cast<size_t>(t)] = turned_[static_cast<size_t>(t * n + i)];
        }
        linear::subtract_products(factors.data(), n_panel_, turned_.data(), n, n, row.data());
        for (int64_t j = 0; j < n_left; ++j) {
          next[static_cast<size_t>(k * n_left + j)] = row[static_cast<size_t>(left[static_cast<size_t>(j)])];
        }
      }
    });
    rest_ = std::move(next);
    ids_ = std::move(ids);
  }

  bool remainder_is_rounding() const {
    return std::all_of(rest_.begin(), rest_.end(),
                       [&](double value) { return std::abs(value) <= surely_indefinite * largest_; });
  }

  int64_t n_;
  double largest_ = 0, least_ = 0;
  Values rest_;               // of the rows in `ids_`, square
  std::vector<int64_t> ids_;  // the rows that are not done
  Values turned_;             // the columns of L of this panel, each a line over `ids_`
  std::vector<char> done_;    // of `ids_`: within this panel
  int64_t n_panel_ = 0;
  Values lines_;  // all columns of L, each a line over all rows
  std::vector<int64_t> order_;
  bool definite_ = true;
};

// L⁻¹ column block by column block, laid out as the projection.
Values inverse_of(const Values& lower, const std::vector<int64_t>& order, int64_t n, Run& run) {
  const auto r = static_cast<int64_t>(order.size());
  Values out(static_cast<size_t>(n * r), 0.0);
  parallel_for(run, (r + columns_at_once - 1) / columns_at_once, [&](int64_t block, int) {
    const int64_t first = block * columns_at_once, width = std::min(columns_at_once, r - first);
    Values solved(static_cast<size_t>((r - first) * columns_at_once), 0.0);
    for (int64_t k = first; k < r; ++k) {
      if (k % 256 == 0) run.check();
      double* row = solved.data() + (k - first) * columns_at_once;
      if (k < first + width) row[k - first] = 1.0;
      const double* factors = lower.data() + k * r;
      linear::subtract_products(factors + first, k - first, solved.data(), columns_at_once, columns_at_once, row);
      for (int64_t j = 0; j < width; ++j) {
        row[j] /= factors[k];
        out[static_cast<size_t>(order[static_cast<size_t>(first + j)] * r + k)] = row[j];
      }
    }
  });
  return out;
}

}  // namespace

PivotedRoot pivoted_root(std::span<const double> kernel, int64_t n, double floor, Run& run) {
  require(n > 0 && static_cast<int64_t>(kernel.size()) == n * n, "a kernel matrix is square");
  Factor factor(kernel, n, floor);
  factor.run(run);
  PivotedRoot found;
  found.definite = factor.definite();
  if (!found.definite) return found;
  found.n_kept = static_cast<int64_t>(factor.order().size());
  found.projection = inverse_of(factor.lower(), factor.order(), n, run);
  return found;
}

}  // namespace weald::svm
