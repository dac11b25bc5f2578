#include "core/logistic/passes.h"

#include <algorithm>
#include <cmath>

#include "core/base/mathematics.h"
#include "core/logistic/kernels.h"

namespace weald::logistic {

namespace {

constexpr int64_t chunk_values = 2048;  // of a few rows that stay in the nearest cache between two uses
constexpr int64_t least_chunk = 16, most_chunk = 512;
constexpr int64_t columns_at_once = 64;

int64_t chunk_rows(const Problem& p) {
  const double each = p.rows.sparse() ? static_cast<double>(p.rows.n_entries()) / static_cast<double>(p.rows.n_rows) + 1
                                      : static_cast<double>(p.rows.n_columns + 1);
  return std::clamp(static_cast<int64_t>(chunk_values / each), least_chunk, most_chunk);
}

// −t log t, and 0 at 0.
double entropy(double t) {
  return t > 1e-300 ? -t * weald::log(t) : 0.0;
}

}  // namespace

Passes::Passes(const Problem& problem, const linear::Columns* columns, Run& run)
    : p_(problem),
      columns_(columns),
      run_(run),
      n_(problem.rows.n_rows),
      stride_(problem.stride()),
      width_(problem.rows.width()) {
  curvature_.assign(static_cast<size_t>(n_ * stride_), 0.0);
  if (columns_ != nullptr) by_row_.assign(static_cast<size_t>(n_ * stride_), 0.0);
  if (stride_ == 1) {
    for (const int32_t each : p_.label) target_.push_back(each == 1 ? 1.0 : 0.0);
  }
}

// out = Xᵀ R, where fill(first, last, block, to) writes the rows first … last of R.
template <class Fill>
void Passes::transposed(Fill fill, Values& out) {
  const int64_t step = chunk_rows(p_);
  if (columns_ == nullptr) {
    const linear::RowBlocks blocks = linear::RowBlocks::for_sums(n_, width_ * stride_);
    const auto n_values = static_cast<size_t>(width_ * stride_);
    Values parts(static_cast<size_t>(blocks.count()) * n_values, 0.0);
    parallel_for(run_, blocks.count(), [&](int64_t b, int) {
      Values few(static_cast<size_t>(step * stride_));
      double* part = parts.data() + static_cast<size_t>(b) * n_values;
      for (int64_t first = blocks.first(b); first < blocks.last(b); first += step) {
        const int64_t last = std::min(blocks.last(b), first + step);
        fill(first, last, b, few.data());
        add_outer(p_.rows, few.data(), stride_, first, last, part);
      }
    });
    return linear::combine(parts, out);
  }
  const linear::RowBlocks blocks(n_);
  parallel_for(run_, blocks.count(), [&](int64_t b, int) {
    for (int64_t first = blocks.first(b); first < blocks.last(b); first += step) {
      fill(first, std::min(blocks.last(b), first + step), b, by_row_.data() + first * stride_);
    }
  });
  if (stride_ == 1) return columns_->transpose_multiply(by_row_, run_, out);
  parallel_for(run_, (width_ + columns_at_once - 1) / columns_at_once, [&](int64_t b, int) {
    column_sums(*columns_, by_row_.data(), stride_, b * columns_at_once, std::min(width_, (b + 1) * columns_at_once),
                out.data());
  });
}

double Passes::evaluate(const Values& weight, Values& gradient) {
  Values losses(64, 0.0);  // by block: there are at most so many
  const auto fill = [&](int64_t first, int64_t last, int64_t block, double* to) {
    double loss[most_chunk], f[most_chunk];
    const int64_t n = last - first;
    const double* cost = p_.cost.data() + first;
    if (stride_ == 1) {
      scores(p_.rows, weight.data(), 1, first, last, f);
      two_classes(f, target_.data() + first, cost, n, loss, to, curvature_.data() + first);
    } else {
      double* p = curvature_.data() + first * stride_;
      scores(p_.rows, weight.data(), stride_, first, last, p);
      many_classes(p, p_.label.data() + first, cost, n, p_.n_lines, stride_, loss, to);
    }
    losses[static_cast<size_t>(block)] += linear::dot(loss, cost, n);
  };
  transposed(fill, gradient);
  double sum = 0;
  for (const double each : losses) sum += each;
  return sum;
}

void Passes::product(const Values& v, Values& out) {
  const auto fill = [&](int64_t first, int64_t last, int64_t, double* to) {
    scores(p_.rows, v.data(), stride_, first, last, to);
    if (stride_ == 1) {
      for (int64_t i = first; i < last; ++i) to[i - first] *= curvature_[static_cast<size_t>(i)];
    } else {
      times_curvature(curvature_.data() + first * stride_, p_.cost.data() + first, last - first, stride_, to);
    }
  };
  transposed(fill, out);
}

double Passes::largest_score(const Values& v) const {
  const linear::RowBlocks blocks(n_);
  const int64_t step = chunk_rows(p_);
  Values largest(static_cast<size_t>(blocks.count()), 0.0);
  parallel_for(run_, blocks.count(), [&](int64_t b, int) {
    Values few(static_cast<size_t>(step * stride_));
    double most = 0;
    for (int64_t first = blocks.first(b); first < blocks.last(b); first += step) {
      const int64_t last = std::min(blocks.last(b), first + step);
      scores(p_.rows, v.data(), stride_, first, last, few.data());
      for (int64_t at = 0; at < (last - first) * stride_; ++at) {
        most = std::max(most, std::abs(few[static_cast<size_t>(at)]));
      }
    }
    largest[static_cast<size_t>(b)] = most;
  });
  return *std::max_element(largest.begin(), largest.end());
}

Values Passes::diagonal() const {
  Values found(static_cast<size_t>(width_ * stride_), 0.0);
  const auto add = [&](int64_t i, int64_t j, double square) {
    const double* p = curvature_.data() + i * stride_;
    double* to = found.data() + j * stride_;
    if (stride_ == 1) {
      *to += *p * square;
      return;
    }
    square *= p_.cost[static_cast<size_t>(i)];
    for (int64_t k = 0; k < stride_; ++k) to[k] += square * (p[k] * (1.0 - p[k]));
  };
  if (columns_ != nullptr) {
    parallel_for(run_, (width_ + columns_at_once - 1) / columns_at_once, [&](int64_t b, int) {
      for (int64_t j = b * columns_at_once; j < std::min(width_, (b + 1) * columns_at_once); ++j) {
        for (int64_t at = columns_->start(j); at < columns_->start(j + 1); ++at) {
          add(columns_->row()[at], j, columns_->value()[at] * columns_->value()[at]);
        }
      }
    });
    return found;
  }
  const linear::Rows& rows = p_.rows;
  for (int64_t i = 0; i < n_; ++i) {
    if (rows.sparse()) {
      for (int64_t at = rows.start[i]; at < rows.start[i + 1]; ++at) {
        add(i, rows.index[at], rows.value[at] * rows.value[at]);
      }
    } else {
      for (int64_t j = 0; j < rows.n_columns; ++j) add(i, j, rows.row(i)[j] * rows.row(i)[j]);
    }
    if (rows.bias != 0) add(i, rows.n_columns, rows.bias * rows.bias);
  }
  return found;
}

double Passes::conjugate(const Values& weight, double s) const {
  const linear::RowBlocks blocks(n_);
  const int64_t step = chunk_rows(p_);
  Values sums(static_cast<size_t>(blocks.count()), 0.0);
  parallel_for(run_, blocks.count(), [&](int64_t b, int) {
    Values few(static_cast<size_t>(step * stride_)), loss(static_cast<size_t>(step)), unused(few);
    double sum = 0;
    for (int64_t first = blocks.first(b); first < blocks.last(b); first += step) {
      const int64_t last = std::min(blocks.last(b), first + step);
      scores(p_.rows, weight.data(), stride_, first, last, few.data());
      if (stride_ > 1) {
        many_classes(few.data(), p_.label.data() + first, p_.cost.data() + first, last - first, p_.n_lines, stride_,
                     loss.data(), nullptr);
      }
      for (int64_t i = first; i < last; ++i) {
        const double* row = few.data() + (i - first) * stride_;
        const int64_t y = p_.label[static_cast<size_t>(i)];
        double own = 0;
        if (stride_ == 1) {
          const double t = (y == 1 ? 1.0 - s : 0.0) + s * weald::sigmoid(row[0]);
          own = entropy(t) + entropy(1.0 - t);
        } else {
          for (int64_t k = 0; k < p_.n_lines; ++k) own += entropy((k == y ? 1.0 - s : 0.0) + s * row[k]);
        }
        sum += p_.cost[static_cast<size_t>(i)] * own;
      }
    }
    sums[static_cast<size_t>(b)] = sum;
  });
  double sum = 0;
  for (const double each : sums) sum += each;
  return sum;
}

}  // namespace weald::logistic
