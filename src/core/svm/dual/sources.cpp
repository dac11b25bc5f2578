#include "core/svm/dual/sources.h"

#include <algorithm>
#include <numeric>

#include "core/svm/kernel/accumulate.h"

namespace weald::svm {

namespace {

constexpr double float_precision = 0x1p-24, double_precision = 0x1p-53;
// Rows whose terms are added to a tile of g together, so that g is read once for all of them.
constexpr int64_t rows_at_once = 48;
constexpr int64_t piece_bytes = int64_t{16} << 20;
// Getting new memory for a kernel value takes as long as so many products of columns, the function of their sum as long
// as some of them.
constexpr int64_t products_of_new_memory = 400, products_of_function = 20;

std::vector<int32_t> all_rows(int64_t n) {
  std::vector<int32_t> ids(static_cast<size_t>(n));
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

// Memory for some whole rows.
template <class Float>
int64_t piece_size(int64_t row_length) {
  const int64_t row = padded(row_length, panel_size<Float>) * static_cast<int64_t>(sizeof(Float));
  return row * std::max<int64_t>(piece_bytes / std::max<int64_t>(row, 1), 1);
}

// The use at which a row is kept: when computing it has cost as much as room for it. Room for all rows of a small
// problem costs little, and compressed rows are slow to compute.
template <class Float>
int kept_at(const Points<Float>& points, int64_t row_length) {
  const int64_t all = points.n_rows() * row_length * static_cast<int64_t>(sizeof(Float));
  if (points.sparse() || all <= piece_bytes) return 1;
  return static_cast<int>(1 + products_of_new_memory / (points.n_columns() + products_of_function));
}

}  // namespace

// ---- computed rows of one precision
// ----------------------------------------------------------------------------------

template <class Float>
struct ComputedRows<Float>::Worker {
  TileScratch<Float> scratch;
  Aligned<Float> tile{static_cast<size_t>(rows_at_once * tile_columns)};  // rows that find no place in the cache
  std::vector<int32_t> lacking;
  std::vector<Float*> out;
  std::vector<const Float*> terms;
};

template <class Float>
struct ComputedRows<Float>::Columns {
  KernelColumns<Float> columns;
  RowCache<Float> cache;
};

// Half of the memory is for rows of all columns, which problems share, half for those of the chosen ones.
template <class Float>
ComputedRows<Float>::ComputedRows(const Program& program, bool squares, const MatrixView& matrix,
                                  std::span<const double> centre, int64_t cache_bytes, Run& run)
    : program_(program),
      squares_(squares),
      cache_bytes_(cache_bytes / 2),
      points_(matrix, centre, run),
      pieces_(piece_size<Float>(matrix.n_rows)),
      all_(new Columns{
          KernelColumns<Float>(program, squares, points_, all_rows(matrix.n_rows), run),
          RowCache<Float>(matrix.n_rows, matrix.n_rows, cache_bytes_, kept_at(points_, matrix.n_rows), pieces_)}),
      present_(all_.get()) {}

template <class Float>
ComputedRows<Float>::~ComputedRows() = default;

template <class Float>
void ComputedRows<Float>::choose(std::span<const int32_t> columns, Run& run) {
  const auto n = static_cast<int64_t>(columns.size());
  chosen_.reset();
  chosen_.reset(new Columns{KernelColumns<Float>(program_, squares_, points_, columns, run),
                            RowCache<Float>(points_.n_rows(), n, cache_bytes_, kept_at(points_, n), pieces_)});
  present_ = chosen_.get();
}

template <class Float>
void ComputedRows<Float>::choose_all() {
  chosen_.reset();
  present_ = all_.get();
}

template <class Float>
void ComputedRows<Float>::block(std::span<const int32_t> rows, int64_t stride, Float* out, Run& run) const {
  constexpr int64_t group = 48;
  const KernelColumns<Float> columns(program_, squares_, points_, rows, run);
  const auto n = static_cast<int64_t>(rows.size());
  const int64_t n_tiles = (n + tile_columns - 1) / tile_columns;
  std::vector<std::optional<TileScratch<Float>>> scratch(static_cast<size_t>(run.n_threads()));
  parallel_for(run, (n + group - 1) / group * n_tiles, [&](int64_t task, int worker) {
    auto& mine = scratch[static_cast<size_t>(worker)];
    if (!mine) mine.emplace(columns.scratch());
    const int64_t from = task / n_tiles * group;
    const int64_t n_left = std::min(group, n - from);
    const int64_t first = task % n_tiles * tile_columns;
    Float* to[group];
    for (int64_t r = 0; r < n_left; ++r) to[r] = out + (from + r) * stride + first;
    columns.fill(points_, rows.subspan(static_cast<size_t>(from), static_cast<size_t>(n_left)), first,
                 std::min(first + tile_columns, n), to, *mine);
  });
}

template <class Float>
void ComputedRows<Float>::add_tile(std::span<const int32_t> rows, std::span<const double> factors, int64_t tile,
                                   Worker& worker, double* g) {
  auto& [columns, cache] = *present_;
  const int64_t first = tile * tile_columns;
  const int64_t last = std::min(first + tile_columns, columns.size());
  for (size_t from = 0; from < rows.size(); from += rows_at_once) {
    const size_t n = std::min(static_cast<size_t>(rows_at_once), rows.size() - from);
    worker.lacking.clear();
    worker.out.clear();
    worker.terms.clear();
    for (size_t r = 0; r < n; ++r) {
      const int32_t slot = slots_[from + r];
      Float* at = slot < 0 ? worker.tile.data() + static_cast<int64_t>(r) * tile_columns : cache.row(slot) + first;
      worker.terms.push_back(at);
      if (slot >= 0 && cache.filled(slot)[tile] != 0) continue;
      if (slot >= 0) cache.filled(slot)[tile] = 1;
      worker.lacking.push_back(rows[from + r]);
      worker.out.push_back(at);
    }
    columns.fill(points_, worker.lacking, first, last, worker.out.data(), worker.scratch);
    accumulate(worker.terms.data(), factors.data() + from, static_cast<int64_t>(n), last - first, g + first);
  }
}

template <class Float>
void ComputedRows<Float>::add(std::span<const int32_t> rows, std::span<const double> factors,
                              std::span<const uint8_t> tiles, double* g, Run& run) {
  present_->cache.begin();
  slots_.clear();
  for (const int32_t row : rows) slots_.push_back(present_->cache.claim(row));
  std::vector<int64_t> wanted;
  for (int64_t tile = 0; tile * tile_columns < present_->columns.size(); ++tile) {
    if (chosen_ || tiles[static_cast<size_t>(tile)] != 0) wanted.push_back(tile);
  }
  workers_.resize(std::max(workers_.size(), static_cast<size_t>(run.n_threads())));
  parallel_for(run, static_cast<int64_t>(wanted.size()), [&](int64_t task, int worker) {
    auto& mine = workers_[static_cast<size_t>(worker)];
    if (!mine) {
      mine = std::make_unique<Worker>();
      mine->scratch = present_->columns.scratch();
    }
    add_tile(rows, factors, wanted[static_cast<size_t>(task)], *mine, g);
  });
}

template class ComputedRows<float>;
template class ComputedRows<double>;

// ---- a program
// --------------------------------------------------------------------------------------------------------

ProgramRows::ProgramRows(Program program, const MatrixView& matrix, int64_t cache_bytes, Run& run)
    : program_(std::move(program)),
      matrix_(matrix),
      cache_bytes_(cache_bytes),
      centre_(centre_of(matrix, program_)),
      sizes_(sizes_of(matrix, centre_, run)) {
  narrow(run);
}

void ProgramRows::narrow(Run& run) {
  if (floats_) return;
  if (!program_.float_is_safe(sizes_, matrix_.sparse)) return widen(run);
  doubles_.reset();
  floats_.emplace(program_, !matrix_.sparse && program_.needs_squares(sizes_, float_precision), matrix_, centre_,
                  cache_bytes_, run);
}

void ProgramRows::widen(Run& run) {
  if (doubles_) return;
  floats_.reset();
  doubles_.emplace(program_, !matrix_.sparse && program_.needs_squares(sizes_, double_precision), matrix_, centre_,
                   cache_bytes_, run);
}

// All columns are worth their room if every row of them can be kept, or if the problem has most of them anyway.
bool ProgramRows::prefers(int64_t n_columns) const {
  const int64_t all = n_rows() * n_rows() * static_cast<int64_t>(sizeof(float));
  return 2 * n_columns < n_rows() && all > cache_bytes_ / 2;
}

void ProgramRows::choose(std::span<const int32_t> columns, Run& run) {
  if (floats_) return floats_->choose(columns, run);
  doubles_->choose(columns, run);
}

void ProgramRows::choose_all() {
  if (floats_) return floats_->choose_all();
  doubles_->choose_all();
}

void ProgramRows::block(std::span<const int32_t> rows, int64_t stride, float* out, Run& run) {
  floats_->block(rows, stride, out, run);
}

void ProgramRows::block(std::span<const int32_t> rows, int64_t stride, double* out, Run& run) {
  doubles_->block(rows, stride, out, run);
}

void ProgramRows::add(std::span<const int32_t> rows, std::span<const double> factors, std::span<const uint8_t> tiles,
                      double* g, Run& run) {
  if (floats_) return floats_->add(rows, factors, tiles, g, run);
  doubles_->add(rows, factors, tiles, g, run);
}

bool ProgramRows::add_exactly(std::span<const int32_t> rows, std::span<const double> factors,
                              std::span<const int32_t> columns, double* g, Run& run) {
  if (!exact_) exact_.emplace(matrix_, centre_, run);
  const bool squares = !matrix_.sparse && program_.needs_squares(sizes_, double_precision);
  const KernelColumns<double> kernel(program_, squares, *exact_, columns, run);
  Coefficients coefficients;
  for (size_t i = 0; i < rows.size(); ++i) {
    coefficients.begin_row(rows[i]);
    coefficients.add(0, factors[i]);
  }
  std::vector<double> sums(columns.size(), 0.0);
  add_scores(kernel, *exact_, coefficients, 1, run, sums.data());
  for (size_t j = 0; j < columns.size(); ++j) g[columns[j]] += sums[j];
  return true;
}

// ---- given rows
// -------------------------------------------------------------------------------------------------------

void GivenRows::give(std::span<const int32_t> ids, const double* rows) {
  std::fill(given_.begin(), given_.end(), nullptr);
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= n_rows()) throw BadInput("a given row has a number out of range");
    given_[static_cast<size_t>(ids[i])] = rows + static_cast<int64_t>(i) * n_rows();
  }
}

const double* GivenRows::row(int32_t id) const {
  const double* found = given_[static_cast<size_t>(id)];
  require(found != nullptr, "a kernel row that is needed was not given");
  return found;
}

void GivenRows::choose(std::span<const int32_t>, Run&) {
  throw BrokenInvariant("given rows have all columns");
}

void GivenRows::block(std::span<const int32_t>, int64_t, float*, Run&) {
  throw BrokenInvariant("given rows are double");
}

void GivenRows::block(std::span<const int32_t> rows, int64_t stride, double* out, Run& run) {
  parallel_for(run, static_cast<int64_t>(rows.size()), [&](int64_t i, int) {
    const double* from = row(rows[static_cast<size_t>(i)]);
    for (size_t j = 0; j < rows.size(); ++j) out[i * stride + static_cast<int64_t>(j)] = from[rows[j]];
  });
}

void GivenRows::add(std::span<const int32_t> rows, std::span<const double> factors, std::span<const uint8_t> tiles,
                    double* g, Run& run) {
  std::vector<const double*> found;
  for (const int32_t id : rows) found.push_back(row(id));
  parallel_for(run, static_cast<int64_t>(tiles.size()), [&](int64_t tile, int) {
    if (tiles[static_cast<size_t>(tile)] == 0) return;
    const int64_t first = tile * tile_columns;
    const int64_t last = std::min(first + tile_columns, n_rows());
    std::vector<const double*> terms;
    for (const double* from : found) terms.push_back(from + first);
    accumulate(terms.data(), factors.data(), static_cast<int64_t>(terms.size()), last - first, g + first);
  });
}

}  // namespace weald::svm
