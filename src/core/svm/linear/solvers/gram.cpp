#include "core/svm/linear/solvers/gram.h"

#include <algorithm>
#include <cstring>

#include "core/base/check.h"
#include "core/base/simd.h"
#include "core/svm/linear/vector.h"

namespace weald::linear {

namespace {

constexpr int64_t panel_rows = 64;    // rows laid out together, in one cache
constexpr int64_t small_width = 128;  // up to here, blocks of rows have a matrix each
constexpr int64_t shared_rows = 256;  // above, all threads work on the same rows, each on tiles of the matrix
constexpr int64_t tile_rows = 32, tile_columns = 96;

// Rows side by side, as given and times their weight, padded with zeros to whole Fours.
struct Panel {
  int64_t stride, n = 0;
  std::vector<double> plain, weighted;

  Panel(int64_t width, int64_t most)
      : stride((width + 3) / 4 * 4),
        plain(static_cast<size_t>(most * stride), 0.0),
        weighted(static_cast<size_t>(most * stride), 0.0) {}

  // Fills the place `at`; what lies beyond the width stays 0.
  void put(int64_t at, const Rows& rows, int64_t i, double weight) {
    double *x = plain.data() + at * stride, *y = weighted.data() + at * stride;
    const int64_t d = rows.n_columns;
    if (rows.sparse()) {
      std::fill(x, x + stride, 0.0);
      for (int64_t k = rows.start[i]; k < rows.start[i + 1]; ++k) x[rows.index[k]] = rows.value[k];
    } else {
      std::memcpy(x, rows.row(i), static_cast<size_t>(d) * sizeof(double));
    }
    if (rows.bias != 0) x[d] = rows.bias;
    for (int64_t j = 0; j < stride; ++j) y[j] = weight * x[j];
  }
};

// out[j][k] += Σ_r a[r][j] b[r][k] for 4 j and 4·fours k, sums in registers.
template <int fours>
[[gnu::always_inline]] inline void tile(const double* a, const double* b, int64_t n, int64_t stride, double* out,
                                        int64_t out_stride) {
  Four sum[4][fours];
  for (int j = 0; j < 4; ++j) {
    for (int k = 0; k < fours; ++k) load_four(out + j * out_stride + 4 * k, sum[j][k]);
  }
  for (int64_t r = 0; r < n; ++r, a += stride, b += stride) {
    Four x[fours];
    for (int k = 0; k < fours; ++k) load_four(b + 4 * k, x[k]);
    for (int j = 0; j < 4; ++j) {
      for (int k = 0; k < fours; ++k) sum[j][k] += a[j] * x[k];
    }
  }
  for (int j = 0; j < 4; ++j) {
    for (int k = 0; k < fours; ++k) store_four(sum[j][k], out + j * out_stride + 4 * k);
  }
}

// The part of the lower triangle with rows first … last and columns low … high, all multiples of four.
[[gnu::always_inline]] inline void triangle(const Panel& panel, int64_t first, int64_t last, int64_t low, int64_t high,
                                            double* out) {
  const int64_t stride = panel.stride;
  for (int64_t j = first; j < last; j += 4) {
    const double* a = panel.weighted.data() + j;
    const int64_t end = std::min(high, j + 4);
    int64_t k = low;
    for (; k + 12 <= end; k += 12) tile<3>(a, panel.plain.data() + k, panel.n, stride, out + j * stride + k, stride);
    const double* b = panel.plain.data() + k;
    if (k + 8 <= end) {
      tile<2>(a, b, panel.n, stride, out + j * stride + k, stride);
    } else if (k + 4 <= end) {
      tile<1>(a, b, panel.n, stride, out + j * stride + k, stride);
    }
  }
}

void triangle_baseline(const Panel& panel, int64_t first, int64_t last, int64_t low, int64_t high, double* out) {
  triangle(panel, first, last, low, high, out);
}
WEALD_TARGET_AVX2 void triangle_avx2(const Panel& panel, int64_t first, int64_t last, int64_t low, int64_t high,
                                     double* out) {
  triangle(panel, first, last, low, high, out);
}
auto triangle_function() {
  return simd_level() == Simd::avx2 ? triangle_avx2 : triangle_baseline;
}

struct Sums {
  std::span<const std::span<const double>> factors;

  bool counts(int64_t i) const {
    return std::any_of(factors.begin(), factors.end(), [&](auto u) { return u[static_cast<size_t>(i)] != 0; });
  }
};

// The entries of sparse rows two by two: cheaper than dense tiles where rows have few.
void scatter(const Rows& rows, int64_t i, double weight, Square& out) {
  const int64_t first = rows.start[i], last = rows.start[i + 1], d = rows.n_columns;
  for (int64_t a = first; a < last; ++a) {
    const double x = weight * rows.value[a];
    double* to = out.row(rows.index[a]);
    for (int64_t b = first; b <= a; ++b) to[rows.index[b]] += x * rows.value[b];  // indices rise within a row
  }
  if (rows.bias == 0) return;
  const double x = weight * rows.bias;
  double* to = out.row(d);
  for (int64_t b = first; b < last; ++b) to[rows.index[b]] += x * rows.value[b];
  to[d] += x * rows.bias;
}

// Σ u_i x_i for each vector of factors, over one block.
void add_sums(const Rows& rows, const Sums& sums, int64_t first, int64_t last, double* out) {
  for (const auto& u : sums.factors) {
    add_transposed(rows, u.data() + first, first, last, out);
    out += rows.width();
  }
}

bool entries_two_by_two(const Rows& rows) {
  if (!rows.sparse() || rows.n_rows == 0) return false;
  const double each = static_cast<double>(rows.n_entries()) / static_cast<double>(rows.n_rows);
  const auto width = static_cast<double>(rows.width());
  return each * each * 8 < width * width;
}

// Blocks of rows, a matrix each.
void by_blocks(const Rows& rows, std::span<const double> g, const Sums& sums, Run& run, Square& out,
               std::span<double> vectors) {
  const int64_t width = rows.width(), n_values = out.stride * out.stride;
  const RowBlocks blocks = RowBlocks::for_sums(rows.n_rows, n_values);
  const bool by_entries = entries_two_by_two(rows);
  const auto fill_triangle = triangle_function();
  std::vector<Square> squares(static_cast<size_t>(blocks.count()), Square(width));
  std::vector<double> parts(static_cast<size_t>(blocks.count()) * vectors.size(), 0.0);
  parallel_for(run, blocks.count(), [&](int64_t b, int) {
    const int64_t first = blocks.first(b), last = blocks.last(b);
    Square& square = squares[static_cast<size_t>(b)];
    double* part = parts.data() + static_cast<size_t>(b) * vectors.size();
    if (by_entries) {
      for (int64_t i = first; i < last; ++i) {
        if (g[static_cast<size_t>(i)] != 0) scatter(rows, i, g[static_cast<size_t>(i)], square);
      }
      return add_sums(rows, sums, first, last, part);
    }
    Panel panel(width, panel_rows);
    for (int64_t at = first; at < last; at += panel_rows) {  // a panel is read once from memory, for all sums
      const int64_t end = std::min(last, at + panel_rows);
      panel.n = 0;
      for (int64_t i = at; i < end; ++i) {
        if (g[static_cast<size_t>(i)] != 0) panel.put(panel.n++, rows, i, g[static_cast<size_t>(i)]);
      }
      fill_triangle(panel, 0, panel.stride, 0, panel.stride, square.values.data());
      add_sums(rows, sums, at, end, part);
    }
  });
  std::fill(out.values.begin(), out.values.end(), 0.0);
  for (const Square& square : squares) {
    for (size_t k = 0; k < square.values.size(); ++k) out.values[k] += square.values[k];
  }
  combine(parts, vectors);
}

// The same rows for all threads, tiles of the matrix for each.
void by_tiles(const Rows& rows, std::span<const double> g, Run& run, Square& out) {
  const int64_t stride = out.stride;
  const auto fill_triangle = triangle_function();
  std::fill(out.values.begin(), out.values.end(), 0.0);
  std::vector<int64_t> used;
  for (int64_t i = 0; i < rows.n_rows; ++i) {
    if (g[static_cast<size_t>(i)] != 0) used.push_back(i);
  }
  Panel panel(rows.width(), shared_rows);
  struct Tile {
    int64_t first, last, low, high;
  };
  std::vector<Tile> tiles;
  for (int64_t j = 0; j < stride; j += tile_rows) {
    const int64_t last = std::min(stride, j + tile_rows);
    for (int64_t k = 0; k < last; k += tile_columns) tiles.push_back({j, last, k, std::min(last, k + tile_columns)});
  }
  constexpr int64_t put_at_once = 32;
  const auto n_used = static_cast<int64_t>(used.size());
  for (int64_t at = 0; at < n_used; at += shared_rows) {
    panel.n = std::min(shared_rows, n_used - at);
    parallel_for(run, (panel.n + put_at_once - 1) / put_at_once, [&](int64_t b, int) {
      for (int64_t r = b * put_at_once; r < std::min(panel.n, (b + 1) * put_at_once); ++r) {
        const int64_t i = used[static_cast<size_t>(at + r)];
        panel.put(r, rows, i, g[static_cast<size_t>(i)]);
      }
    });
    parallel_for(run, static_cast<int64_t>(tiles.size()), [&](int64_t t, int) {
      const Tile& each = tiles[static_cast<size_t>(t)];
      fill_triangle(panel, each.first, each.last, each.low, each.high, out.values.data());
    });
  }
}

}  // namespace

void weighted_gram(const Rows& rows, std::span<const double> g, std::span<const std::span<const double>> factors,
                   Run& run, Square& out, std::span<double> sums) {
  require(out.n == rows.width() && g.size() == static_cast<size_t>(rows.n_rows), "one weight per row");
  require(sums.size() == factors.size() * static_cast<size_t>(rows.width()), "one sum for each column and factor");
  if (rows.width() <= small_width || entries_two_by_two(rows)) {
    return by_blocks(rows, g, {factors}, run, out, sums);
  }
  by_tiles(rows, g, run, out);
  const auto width = static_cast<size_t>(rows.width());
  for (size_t k = 0; k < factors.size(); ++k) {
    transpose_multiply(rows, factors[k], run, sums.subspan(k * width, width));
  }
}

}  // namespace weald::linear
