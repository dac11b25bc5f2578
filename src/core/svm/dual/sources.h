// Where the solver gets kernel values from: a program on the rows of a matrix, computed and kept (`ProgramRows`), or
// rows that somebody hands over (`GivenRows`: a matrix of all of them, or some at a time).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/svm/dual/row_cache.h"
#include "core/svm/kernel/points.h"
#include "core/svm/kernel/program.h"
#include "core/svm/kernel/scores.h"
#include "core/svm/kernel/tiles.h"

namespace weald::svm {

class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual int64_t n_rows() const = 0;

  // Whether kernel values are float for now; `widen` makes them double. A new problem begins with one of them.
  virtual bool is_float() const = 0;
  virtual void narrow(Run& run) = 0;
  virtual void widen(Run& run) = 0;

  // Whether a set of columns may be chosen: `choose` those that `add` is about from now on, ascending, until all are
  // chosen again.
  virtual bool has_choice() const = 0;
  // Whether a problem with so many rows should have columns of its own rather than share all with other problems.
  virtual bool prefers(int64_t n_columns) const = 0;
  virtual void choose(std::span<const int32_t> columns, Run& run) = 0;
  virtual void choose_all() = 0;

  // The kernel of rows with rows: out (n, stride). The one for `is_float()`.
  virtual void block(std::span<const int32_t> rows, int64_t stride, float* out, Run& run) = 0;
  virtual void block(std::span<const int32_t> rows, int64_t stride, double* out, Run& run) = 0;
  // g += Σ factor · row of the kernel matrix, in the order of rows, for the chosen columns; of all columns only the
  // tiles that count.
  virtual void add(std::span<const int32_t> rows, std::span<const double> factors, std::span<const uint8_t> tiles,
                   double* g, Run& run) = 0;
  // The same with double kernel values for some columns; g by row. False if this source adds in double anyway.
  virtual bool add_exactly(std::span<const int32_t> rows, std::span<const double> factors,
                           std::span<const int32_t> columns, double* g, Run& run) = 0;
};

// Rows of one precision.
template <class Float>
class ComputedRows {
 public:
  ComputedRows(const Program& program, bool squares, const MatrixView& matrix, std::span<const double> centre,
               int64_t cache_bytes, Run& run);
  ~ComputedRows();
  void choose(std::span<const int32_t> columns, Run& run);
  void choose_all();
  void block(std::span<const int32_t> rows, int64_t stride, Float* out, Run& run) const;
  void add(std::span<const int32_t> rows, std::span<const double> factors, std::span<const uint8_t> tiles, double* g,
           Run& run);

 private:
  struct Worker;
  struct Columns;
  void add_tile(std::span<const int32_t> rows, std::span<const double> factors, int64_t tile, Worker& worker,
                double* g);

  const Program& program_;
  bool squares_;
  int64_t cache_bytes_;
  Points<Float> points_;
  Pieces pieces_;
  std::unique_ptr<Columns> all_, chosen_;
  Columns* present_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<int32_t> slots_;  // of the rows of the running `add`, or -1
};

class ProgramRows final : public RowSource {
 public:
  // The matrix must outlive it.
  ProgramRows(Program program, const MatrixView& matrix, int64_t cache_bytes, Run& run);

  int64_t n_rows() const override { return matrix_.n_rows; }
  bool is_float() const override { return floats_.has_value(); }
  void narrow(Run& run) override;
  void widen(Run& run) override;
  bool has_choice() const override { return true; }
  bool prefers(int64_t n_columns) const override;
  void choose(std::span<const int32_t> columns, Run& run) override;
  void choose_all() override;
  void block(std::span<const int32_t> rows, int64_t stride, float* out, Run& run) override;
  void block(std::span<const int32_t> rows, int64_t stride, double* out, Run& run) override;
  void add(std::span<const int32_t> rows, std::span<const double> factors, std::span<const uint8_t> tiles, double* g,
           Run& run) override;
  bool add_exactly(std::span<const int32_t> rows, std::span<const double> factors, std::span<const int32_t> columns,
                   double* g, Run& run) override;

 private:
  Program program_;
  MatrixView matrix_;
  int64_t cache_bytes_;
  std::vector<double> centre_;
  RowSizes sizes_;
  std::optional<ComputedRows<float>> floats_;
  std::optional<ComputedRows<double>> doubles_;
  std::optional<Points<double>> exact_;
};

class GivenRows : public RowSource {
 public:
  explicit GivenRows(int64_t n_rows) : given_(static_cast<size_t>(n_rows), nullptr) {}
  // Rows (ids, n_rows), which must live as long as they are used; they replace those given before.
  void give(std::span<const int32_t> ids, const double* rows);

  int64_t n_rows() const override { return static_cast<int64_t>(given_.size()); }
  bool is_float() const override { return false; }
  void narrow(Run&) override {}
  void widen(Run&) override {}
  bool has_choice() const override { return false; }
  bool prefers(int64_t) const override { return false; }
  void choose(std::span<const int32_t>, Run&) override;
  void choose_all() override {}
  void block(std::span<const int32_t> rows, int64_t stride, float* out, Run& run) override;
  void block(std::span<const int32_t> rows, int64_t stride, double* out, Run& run) override;
  void add(std::span<const int32_t> rows, std::span<const double> factors, std::span<const uint8_t> tiles, double* g,
           Run& run) override;
  bool add_exactly(std::span<const int32_t>, std::span<const double>, std::span<const int32_t>, double*,
                   Run&) override {
    return false;
  }

 private:
  const double* row(int32_t id) const;

  std::vector<const double*> given_;  // of each row, or nullptr
};

}  // namespace weald::svm
