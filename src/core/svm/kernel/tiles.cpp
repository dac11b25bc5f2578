#include "core/svm/kernel/tiles.h"

#include <algorithm>

#include "core/base/simd.h"
#include "core/svm/kernel/tile_body.h"

namespace weald::svm {

using body::dense_rows;
using body::Segment;

namespace {

// ---- two builds ----------------------------------------------------------------------------------------------------

template <class Float>
using DenseSums = void (*)(const Float*, const Float*, int64_t, int64_t, Float*);
template <class Float>
using SparseSums = void (*)(const Float*, const Points<Float>&, const int32_t*, int64_t, const Float*, Float*);

template <Sum sum, class Float>
void dense_baseline(const Float* left, const Float* panels, int64_t n_panels, int64_t n_columns, Float* out) {
  body::dense_sums<sum, Float, 16>(left, panels, n_panels, n_columns, out);
}
template <Sum sum, class Float>
WEALD_TARGET_AVX2 void dense_avx2(const Float* left, const Float* panels, int64_t n_panels, int64_t n_columns,
                                  Float* out) {
  body::dense_sums<sum, Float, 32>(left, panels, n_panels, n_columns, out);
}
template <Sum sum, class Float>
void sparse_baseline(const Float* spread, const Points<Float>& points, const int32_t* ids, int64_t n,
                     const Float* start, Float* out) {
  body::sparse_sums<sum, Float, 16>(spread, points, ids, n, start, out);
}
template <Sum sum, class Float>
WEALD_TARGET_AVX2 void sparse_avx2(const Float* spread, const Points<Float>& points, const int32_t* ids, int64_t n,
                                   const Float* start, Float* out) {
  body::sparse_sums<sum, Float, 32>(spread, points, ids, n, start, out);
}
template <class Float>
void evaluate_baseline(const Program& program, const Segment<Float>& s, bool squares, Float* stack, Float* out) {
  body::evaluate(program, s, squares, stack, out);
}
template <class Float>
WEALD_TARGET_AVX2 void evaluate_avx2(const Program& program, const Segment<Float>& s, bool squares, Float* stack,
                                     Float* out) {
  body::evaluate(program, s, squares, stack, out);
}

template <class Float>
bool is_finite(Float x) {
  return x <= std::numeric_limits<Float>::max();
}

template <class F>
void with_sum(Sum sum, F&& f) {
  switch (sum) {
    case Sum::dot:
      return f.template operator()<Sum::dot>();
    case Sum::squares:
      return f.template operator()<Sum::squares>();
    case Sum::absolute:
      return f.template operator()<Sum::absolute>();
    case Sum::chi:
      return f.template operator()<Sum::chi>();
    default:
      return f.template operator()<Sum::minimum>();
  }
}

// ---- compressed left rows ------------------------------------------------------------------------------------------

// Spreads a group out, or takes it away again.
template <class Float>
void spread_rows(const Points<Float>& left, std::span<const int32_t> rows, bool take_away, Float* spread) {
  for (size_t r = 0; r < rows.size(); ++r) {
    const auto row = left.entries(rows[r]);
    for (int64_t e = 0; e < row.n; ++e) {
      spread[int64_t{row.column[e]} * panel_size<Float> + static_cast<int64_t>(r)] =
          take_away ? Float{0} : row.value[e];
    }
  }
}

// Σ t(0, z) of each left row.
template <Sum sum, class Float>
void start_sums(const Points<Float>& left, std::span<const int32_t> rows, Float* start) {
  std::fill_n(start, panel_size<Float>, Float{0});
  if (sum == Sum::dot) return;
  for (size_t r = 0; r < rows.size(); ++r) {
    const auto row = left.entries(rows[r]);
    for (int64_t e = 0; e < row.n; ++e) start[r] += body::term<sum>(Float{0}, row.value[e]);
  }
}

}  // namespace

template <class Float>
KernelColumns<Float>::KernelColumns(const Program& program, bool squares, const Points<Float>& points,
                                    std::span<const int32_t> ids, Run& run)
    : program_(&program),
      squares_(squares),
      sums_(sums_of(program, squares)),
      points_(&points),
      ids_(ids.begin(), ids.end()),
      norms_(static_cast<size_t>(padded(size(), panel_size<Float>))) {
  const int64_t d = points.n_columns();
  const int64_t n_panels = padded(size(), panel_size<Float>) / panel_size<Float>;
  for (int64_t j = 0; j < size(); ++j) {
    norms_.data()[j] = points.norm(ids_[static_cast<size_t>(j)]);
    finite_ = finite_ && is_finite(norms_.data()[j]);
  }
  if (points.sparse()) return;
  panels_ = Aligned<Float>(static_cast<size_t>(n_panels * panel_size<Float> * d));
  constexpr int64_t block = tile_columns / panel_size<Float>;
  parallel_for(run, (n_panels + block - 1) / block, [&](int64_t at, int) {
    for (int64_t j = at * tile_columns; j < std::min((at + 1) * tile_columns, size()); ++j) {
      const Float* row = points.row(ids_[static_cast<size_t>(j)]);
      Float* panel = panels_.data() + j / panel_size<Float> * panel_size<Float> * d + j % panel_size<Float>;
      for (int64_t k = 0; k < d; ++k) panel[k * panel_size<Float>] = row[k];
    }
  });
}

template <class Float>
TileScratch<Float> KernelColumns<Float>::scratch() const {
  TileScratch<Float> made;
  const auto d = static_cast<size_t>(points_->n_columns());
  const size_t rows = points_->sparse() ? static_cast<size_t>(panel_size<Float>) : static_cast<size_t>(dense_rows);
  made.sums = Aligned<Float>(n_sums * rows * static_cast<size_t>(tile_columns));
  made.stack = Aligned<Float>(static_cast<size_t>(program_->depth()) * static_cast<size_t>(tile_columns));
  if (points_->sparse()) {
    made.spread = Aligned<Float>(d * static_cast<size_t>(panel_size<Float>));
  } else {
    made.left = Aligned<Float>(d * static_cast<size_t>(dense_rows));
  }
  return made;
}

template <class Float>
struct KernelColumns<Float>::Tile {
  const Points<Float>& left;
  std::span<const int32_t> rows;
  int64_t first, last;
  Float* const* out;
  TileScratch<Float>& scratch;
};

template <class Float>
void KernelColumns<Float>::fill_group(const Tile& tile) const {
  const int64_t d = points_->n_columns();
  const int64_t n = tile.last - tile.first;
  const bool avx2 = simd_level() == Simd::avx2;
  const bool sparse = points_->sparse();
  const int64_t group = sparse ? panel_size<Float> : dense_rows;
  if (sparse) {
    spread_rows(tile.left, tile.rows, false, tile.scratch.spread.data());
  } else {
    for (int64_t r = 0; r < dense_rows; ++r) {
      const bool there = r < static_cast<int64_t>(tile.rows.size());
      const Float* row = there ? tile.left.row(tile.rows[static_cast<size_t>(r)]) : nullptr;
      for (int64_t k = 0; k < d; ++k) tile.scratch.left.data()[k * dense_rows + r] = there ? row[k] : Float{0};
    }
  }
  for (int s = 0; s < n_sums; ++s) {
    if (!sums_[static_cast<size_t>(s)]) continue;
    Float* out = tile.scratch.sums.data() + s * group * tile_columns;
    with_sum(static_cast<Sum>(s), [&]<Sum sum>() {
      if (sparse) {
        alignas(64) Float start[panel_size<Float>];
        start_sums<sum>(tile.left, tile.rows, start);
        const SparseSums<Float> add = avx2 ? sparse_avx2<sum, Float> : sparse_baseline<sum, Float>;
        add(tile.scratch.spread.data(), *points_, ids_.data() + tile.first, n, start, out);
      } else {
        const DenseSums<Float> add = avx2 ? dense_avx2<sum, Float> : dense_baseline<sum, Float>;
        add(tile.scratch.left.data(), panels_.data() + tile.first * d, padded(n, panel_size<Float>) / panel_size<Float>,
            d, out);
      }
    });
  }
  if (sparse) spread_rows(tile.left, tile.rows, true, tile.scratch.spread.data());
  for (size_t r = 0; r < tile.rows.size(); ++r) {
    const Float norm = tile.left.norm(tile.rows[r]);
    Segment<Float> segment{{}, norms_.data() + tile.first, norm, finite_ && is_finite(norm), n};
    for (int s = 0; s < n_sums; ++s) {
      segment.sums[s] = tile.scratch.sums.data() + (s * group + static_cast<int64_t>(r)) * tile_columns;
    }
    (avx2 ? evaluate_avx2<Float> : evaluate_baseline<Float>)(*program_, segment, squares_, tile.scratch.stack.data(),
                                                             tile.out[r]);
  }
}

template <class Float>
void KernelColumns<Float>::fill(const Points<Float>& left, std::span<const int32_t> rows, int64_t first, int64_t last,
                                Float* const* out, TileScratch<Float>& scratch) const {
  const auto group = static_cast<size_t>(points_->sparse() ? panel_size<Float> : dense_rows);
  for (size_t at = 0; at < rows.size(); at += group) {
    const size_t n = std::min(group, rows.size() - at);
    fill_group({left, rows.subspan(at, n), first, last, out + at, scratch});
  }
}

template class KernelColumns<float>;
template class KernelColumns<double>;

}  // namespace weald::svm
