#include "core/svm/kernel/scores.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "core/base/simd.h"

namespace weald::svm {

namespace {

constexpr int64_t left_block = 1024;     // rows whose terms are added up before they are added to the rest
constexpr int64_t tile_rows = 24;        // left rows of a tile: with 512 columns it stays in the second cache
constexpr int64_t batch_rows = 16384;    // rows of X that are laid out at once
constexpr int64_t most_apart = 1 << 24;  // sums that wait
constexpr double double_precision = 0x1p-53;

[[gnu::always_inline]] inline void add_times(const double* values, double factor, int64_t n, double* out) {
  for (int64_t j = 0; j < n; ++j) out[j] = std::fma(factor, values[j], out[j]);
}
void add_times_baseline(const double* values, double factor, int64_t n, double* out) {
  add_times(values, factor, n, out);
}
WEALD_TARGET_AVX2 void add_times_avx2(const double* values, double factor, int64_t n, double* out) {
  add_times(values, factor, n, out);
}

std::vector<int32_t> all_rows(int64_t n) {
  std::vector<int32_t> ids(static_cast<size_t>(n));
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

// Rows [first, last) of a matrix.
MatrixView slice(const MatrixView& matrix, int64_t first, int64_t last, std::vector<int64_t>& start) {
  MatrixView part = matrix;
  part.n_rows = last - first;
  if (!matrix.sparse) {
    part.dense = matrix.dense + first * matrix.n_columns;
    return part;
  }
  const int64_t from = matrix.start[static_cast<size_t>(first)];
  const auto n = static_cast<size_t>(matrix.start[static_cast<size_t>(last)] - from);
  start.assign(matrix.start.begin() + first, matrix.start.begin() + last + 1);
  for (int64_t& at : start) at -= from;
  part.start = start;
  part.index = matrix.index.subspan(static_cast<size_t>(from), n);
  part.data = matrix.data.subspan(static_cast<size_t>(from), n);
  return part;
}

// Calls f(part, first row) for the rows of a matrix in batches.
template <class F>
void for_batches(const MatrixView& matrix, F&& f) {
  std::vector<int64_t> start;
  for (int64_t first = 0; first < matrix.n_rows; first += batch_rows) {
    f(slice(matrix, first, std::min(first + batch_rows, matrix.n_rows), start), first);
  }
}

// One column tile and one block of left rows: adds to sums (n_outputs, n).
class TileSums {
 public:
  TileSums(const KernelColumns<double>& columns, const Points<double>& left, const Coefficients& coefficients)
      : columns_(columns), left_(left), coefficients_(coefficients), scratch_(columns.scratch()) {
    for (int64_t r = 0; r < tile_rows; ++r) out_.push_back(values_.data() + r * tile_columns);
  }

  void add(int64_t first, int64_t last, int64_t block, int64_t stride, double* sums) {
    const auto add_row = simd_level() == Simd::avx2 ? add_times_avx2 : add_times_baseline;
    const auto n_rows = static_cast<int64_t>(coefficients_.rows.size());
    const int64_t end = std::min((block + 1) * left_block, n_rows);
    for (int64_t at = block * left_block; at < end; at += tile_rows) {
      const int64_t n = std::min(tile_rows, end - at);
      const std::span rows(coefficients_.rows.data() + at, static_cast<size_t>(n));
      columns_.fill(left_, rows, first, last, out_.data(), scratch_);
      for (int64_t r = 0; r < n; ++r) {
        for (int64_t term = start(at + r); term < start(at + r + 1); ++term) {
          const auto t = static_cast<size_t>(term);
          add_row(out_[static_cast<size_t>(r)], coefficients_.value[t], last - first,
                  sums + coefficients_.output[t] * stride);
        }
      }
    }
  }

 private:
  int64_t start(int64_t row) const { return coefficients_.start[static_cast<size_t>(row)]; }

  const KernelColumns<double>& columns_;
  const Points<double>& left_;
  const Coefficients& coefficients_;
  TileScratch<double> scratch_;
  Aligned<double> values_{static_cast<size_t>(tile_rows * tile_columns)};
  std::vector<double*> out_;
};

// Programs that are x·z alone need one vector per output, not the support rows.
std::vector<double> weight_vectors(const MatrixView& support, std::span<const double> coefficients, int64_t n_outputs,
                                   Run& run) {
  const int64_t d = support.n_columns;
  std::vector<double> w(static_cast<size_t>(n_outputs * d), 0.0);
  parallel_for(run, n_outputs, [&](int64_t output, int) {
    double* sum = w.data() + output * d;
    for (int64_t i = 0; i < support.n_rows; ++i) {
      const double value = coefficients[static_cast<size_t>(output * support.n_rows + i)];
      if (value == 0.0) continue;
      if (support.sparse) {
        for (int64_t e = support.start[static_cast<size_t>(i)]; e < support.start[static_cast<size_t>(i) + 1]; ++e) {
          sum[support.index[static_cast<size_t>(e)]] += value * support.data[static_cast<size_t>(e)];
        }
      } else {
        for (int64_t k = 0; k < d; ++k) sum[k] += value * support.dense[i * d + k];
      }
    }
  });
  return w;
}

// x·w of each row and vector: one row after the other, which memory bounds.
void linear_scores(const MatrixView& X, std::span<const double> w, int64_t n_outputs, Run& run, double* out) {
  constexpr int64_t block = 1024;
  const int64_t d = X.n_columns;
  parallel_for(run, (X.n_rows + block - 1) / block, [&](int64_t at, int) {
    for (int64_t i = at * block; i < std::min((at + 1) * block, X.n_rows); ++i) {
      for (int64_t output = 0; output < n_outputs; ++output) {
        const double* vector = w.data() + output * d;
        double sum = 0.0;
        if (X.sparse) {
          for (int64_t e = X.start[static_cast<size_t>(i)]; e < X.start[static_cast<size_t>(i) + 1]; ++e) {
            sum += X.data[static_cast<size_t>(e)] * vector[X.index[static_cast<size_t>(e)]];
          }
        } else {
          for (int64_t k = 0; k < d; ++k) sum += X.dense[i * d + k] * vector[k];
        }
        out[i * n_outputs + output] = sum;
      }
    }
  });
}

}  // namespace

void Coefficients::begin_row(int32_t row) {
  if (start.empty()) start.push_back(0);
  rows.push_back(row);
  start.push_back(start.back());
}

void Coefficients::add(int32_t to, double coefficient) {
  output.push_back(to);
  value.push_back(coefficient);
  ++start.back();
}

void add_scores(const KernelColumns<double>& columns, const Points<double>& left, const Coefficients& coefficients,
                int64_t n_outputs, Run& run, double* out) {
  const int64_t n = columns.size();
  const int64_t n_tiles = (n + tile_columns - 1) / tile_columns;
  const int64_t n_blocks = (static_cast<int64_t>(coefficients.rows.size()) + left_block - 1) / left_block;
  // Few tiles: blocks of left rows are shared out too, and wait to be added in order, if there is room for that.
  const bool apart = n_tiles < 4 * run.n_threads() && n_blocks * n_outputs * n <= most_apart;
  const int64_t n_parts = apart ? n_blocks : 1;
  std::vector<double> parts(apart ? static_cast<size_t>(n_blocks * n_outputs * n) : 0);
  std::vector<std::optional<TileSums>> workers(static_cast<size_t>(run.n_threads()));
  parallel_for(run, n_tiles * n_parts, [&](int64_t task, int worker) {
    std::optional<TileSums>& mine = workers[static_cast<size_t>(worker)];
    if (!mine) mine.emplace(columns, left, coefficients);
    const int64_t first = task / n_parts * tile_columns;
    const int64_t last = std::min(first + tile_columns, n);
    if (apart) return mine->add(first, last, task % n_parts, n, parts.data() + task % n_parts * n_outputs * n + first);
    std::vector<double> sums(static_cast<size_t>(n_outputs * tile_columns));
    for (int64_t block = 0; block < n_blocks; ++block) {
      std::fill(sums.begin(), sums.end(), 0.0);
      mine->add(first, last, block, tile_columns, sums.data());
      for (int64_t output = 0; output < n_outputs; ++output) {
        for (int64_t j = first; j < last; ++j) {
          out[output * n + j] += sums[static_cast<size_t>(output * tile_columns + j - first)];
        }
      }
      run.check();
    }
  });
  for (size_t at = 0; at < parts.size(); ++at) out[at % static_cast<size_t>(n_outputs * n)] += parts[at];
}

void kernel_values(const Program& program, const MatrixView& A, const MatrixView& B, Run& run, double* out) {
  const std::vector<double> centre = centre_of(B, program);
  const bool squares = !B.sparse && program.needs_squares(sizes_of(B, centre, run), double_precision);
  const Points<double> points(B, centre, run);
  const KernelColumns<double> columns(program, squares, points, all_rows(B.n_rows), run);
  const int64_t n_tiles = (B.n_rows + tile_columns - 1) / tile_columns;
  for_batches(A, [&](const MatrixView& part, int64_t first_row) {
    const Points<double> left(part, centre, run);
    const std::vector<int32_t> ids = all_rows(part.n_rows);
    const int64_t n_groups = (part.n_rows + tile_rows - 1) / tile_rows;
    std::vector<std::optional<TileScratch<double>>> scratch(static_cast<size_t>(run.n_threads()));
    parallel_for(run, n_groups * n_tiles, [&](int64_t task, int worker) {
      auto& mine = scratch[static_cast<size_t>(worker)];
      if (!mine) mine.emplace(columns.scratch());
      const int64_t from = task / n_tiles * tile_rows;
      const int64_t n = std::min(tile_rows, part.n_rows - from);
      const int64_t first = task % n_tiles * tile_columns;
      double* to[tile_rows];
      for (int64_t r = 0; r < n; ++r) to[r] = out + (first_row + from + r) * B.n_rows + first;
      columns.fill(left, std::span(ids).subspan(static_cast<size_t>(from), static_cast<size_t>(n)), first,
                   std::min(first + tile_columns, B.n_rows), to, *mine);
    });
  });
}

void kernel_scores(const Program& program, const MatrixView& X, const MatrixView& support,
                   std::span<const double> coefficients, int64_t n_outputs, Run& run, double* out) {
  if (program.is_linear()) {
    return linear_scores(X, weight_vectors(support, coefficients, n_outputs, run), n_outputs, run, out);
  }
  const std::vector<double> centre = centre_of(support, program);
  const bool squares = !support.sparse && program.needs_squares(sizes_of(support, centre, run), double_precision);
  const Points<double> left(support, centre, run);
  Coefficients terms;
  for (int64_t i = 0; i < support.n_rows; ++i) {
    terms.begin_row(static_cast<int32_t>(i));
    for (int64_t output = 0; output < n_outputs; ++output) {
      const double value = coefficients[static_cast<size_t>(output * support.n_rows + i)];
      if (value != 0.0) terms.add(static_cast<int32_t>(output), value);
    }
  }
  for_batches(X, [&](const MatrixView& part, int64_t first_row) {
    const Points<double> points(part, centre, run);
    const KernelColumns<double> columns(program, squares, points, all_rows(part.n_rows), run);
    std::vector<double> scores(static_cast<size_t>(n_outputs * part.n_rows), 0.0);
    add_scores(columns, left, terms, n_outputs, run, scores.data());
    for (int64_t i = 0; i < part.n_rows; ++i) {
      for (int64_t output = 0; output < n_outputs; ++output) {
        out[(first_row + i) * n_outputs + output] = scores[static_cast<size_t>(output * part.n_rows + i)];
      }
    }
  });
}

}  // namespace weald::svm
