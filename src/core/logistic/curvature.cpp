#include "core/logistic/curvature.h"

#include <algorithm>
#include <cstring>

namespace weald::logistic {

namespace {

constexpr int64_t most_coupled = 400;         // weights in one matrix
constexpr int64_t most_columns = 1024;        // columns in one matrix
constexpr int64_t least_sample = 8192;        // rows
constexpr double most_multiplications = 4e9;  // for one Hessian
constexpr double much_cheaper = 8;            // pairs of entries of sparse rows than of all columns: more rows pay
constexpr int64_t least_per_column = 4;       // rows: with fewer, a matrix tells too little

}  // namespace

Sample::Sample(const Problem& problem, int64_t n_rows) : whole_(n_rows >= problem.rows.n_rows), problem_(problem) {
  if (whole_) return;
  const int64_t step = problem.rows.n_rows / n_rows;
  problem_.rows.n_rows = (problem.rows.n_rows + step - 1) / step;
  const auto n = static_cast<double>(problem.rows.n_rows), few = static_cast<double>(problem_.rows.n_rows);
  for (int64_t i = 0; i < problem.rows.n_rows; i += step) {
    label_.push_back(problem.label[static_cast<size_t>(i)]);
    cost_.push_back(problem.cost[static_cast<size_t>(i)] * (n / few));
  }
  if (problem.rows.sparse()) {
    take_sparse(step);
  } else {
    take_dense(step);
  }
  problem_.label = label_;
  problem_.cost = cost_;
  problem_.start = {};
}

void Sample::take_dense(int64_t step) {
  const linear::Rows all = problem_.rows;
  const auto d = static_cast<size_t>(all.n_columns);
  dense_.resize(static_cast<size_t>(all.n_rows) * d);
  for (int64_t i = 0; i < all.n_rows; ++i) {
    std::memcpy(dense_.data() + static_cast<size_t>(i) * d, all.row(i * step), d * sizeof(double));
  }
  problem_.rows.dense = dense_.data();
}

void Sample::take_sparse(int64_t step) {
  const linear::Rows all = problem_.rows;
  start_.push_back(0);
  for (int64_t i = 0; i < all.n_rows; ++i) {
    const int64_t from = all.start[i * step], to = all.start[i * step + 1];
    index_.insert(index_.end(), all.index + from, all.index + to);
    value_.insert(value_.end(), all.value + from, all.value + to);
    start_.push_back(static_cast<int64_t>(index_.size()));
  }
  problem_.rows.start = start_.data();
  problem_.rows.index = index_.data();
  problem_.rows.value = value_.data();
}

bool fits_coupled(const Problem& p) {
  return p.n_lines == 1 ? p.rows.width() <= most_columns : p.n_lines * p.rows.width() <= most_coupled;
}

int64_t rows_to_sample(const Problem& p, double per_column) {
  const auto width = static_cast<double>(p.rows.width()), lines = static_cast<double>(p.n_lines);
  if (p.rows.width() > most_columns) return 0;
  const bool coupled = fits_coupled(p);
  const double size = coupled ? width * lines : width;
  const double products = coupled ? size * size / 2 : lines * size * size / 2;
  double wanted = std::max(static_cast<double>(least_sample), per_column * size);
  const auto n = static_cast<double>(p.rows.n_rows);
  if (!p.rows.sparse()) {
    wanted = std::min(wanted, most_multiplications / products);
  } else {
    const double entries = static_cast<double>(p.rows.n_entries()) / n;
    if (entries * entries * much_cheaper < width * width) wanted = std::max(wanted, 2 * per_column * size);
  }
  if (wanted * 1.5 >= n) wanted = n;
  if (wanted < std::min(least_per_column * size, n)) return 0;
  return static_cast<int64_t>(wanted);
}

void hessian(const Problem& p, const Passes& passes, bool coupled, Run& run, std::vector<linear::Square>& out) {
  const int64_t width = p.rows.width(), lines = p.n_lines, stride = p.stride();
  const auto n = static_cast<size_t>(p.rows.n_rows);
  const Values& c = passes.curvature();
  if (out.empty()) {
    if (coupled) {
      out.emplace_back(lines * width);
    } else {
      out.assign(static_cast<size_t>(lines), linear::Square(width));
    }
  }
  linear::Square part(width);
  Values factor(n);
  for (int64_t k = 0; k < lines; ++k) {
    for (int64_t l = coupled ? 0 : k; l <= k; ++l) {
      for (size_t i = 0; i < n && lines > 1; ++i) {
        const double* row = c.data() + i * static_cast<size_t>(stride);
        factor[i] = p.cost[i] * (k == l ? row[k] * (1.0 - row[k]) : -row[k] * row[l]);
      }
      linear::weighted_gram(p.rows, lines == 1 ? c : factor, {}, run, part, {});
      linear::Square& to = coupled ? out.front() : out[static_cast<size_t>(k)];
      const int64_t down = coupled ? k * width : 0, right = coupled ? l * width : 0;
      for (int64_t i = 0; i < width; ++i) {
        for (int64_t j = 0; j < (k == l ? i + 1 : width); ++j) {
          to.row(down + i)[right + j] = j <= i ? part.row(i)[j] : part.row(j)[i];
        }
      }
    }
  }
  for (int64_t k = 0; k < lines; ++k) {
    linear::Square& to = coupled ? out.front() : out[static_cast<size_t>(k)];
    const int64_t down = coupled ? k * width : 0;
    for (int64_t j = 0; j < width; ++j) {
      double& own = to.row(down + j)[down + j];
      if (p.penalised(j)) own += p.ridge;
    }
  }
}

void hold_shifts(const Problem& p, linear::Square& coupled) {
  const int64_t width = p.rows.width(), lines = p.n_lines;
  for (int64_t j = 0; j < width && lines > 1; ++j) {
    double mean = 0;
    for (int64_t k = 0; k < lines; ++k) mean += coupled.row(k * width + j)[k * width + j];
    mean /= static_cast<double>(lines * lines);
    for (int64_t k = 0; k < lines; ++k) {
      for (int64_t l = 0; l <= k; ++l) coupled.row(k * width + j)[l * width + j] += mean;
    }
  }
}

}  // namespace weald::logistic
