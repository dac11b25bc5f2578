// Kernel values as a matrix, and sums of them: what a fitted machine predicts for new rows, and what the solver
// compares its gradient with. Double all the way (docs/methods/svm.md, equation P1).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/svm/kernel/points.h"
#include "core/svm/kernel/program.h"
#include "core/svm/kernel/tiles.h"

namespace weald::svm {

// The kernel of each row of A with each of B: out (A.n_rows, B.n_rows).
void kernel_values(const Program& program, const MatrixView& A, const MatrixView& B, Run& run, double* out);

// Σ over support rows of coefficient times kernel: coefficients (n_outputs, support.n_rows), out (X.n_rows, n_outputs).
// The score of a row does not depend on the others that come with it.
void kernel_scores(const Program& program, const MatrixView& X, const MatrixView& support,
                   std::span<const double> coefficients, int64_t n_outputs, Run& run, double* out);

// The coefficients of some rows that are not 0, row by row.
struct Coefficients {
  std::vector<int32_t> rows;    // of the left points
  std::vector<int64_t> start;   // (rows + 1): where the terms of a row begin
  std::vector<int32_t> output;  // of each term
  std::vector<double> value;

  void begin_row(int32_t row);
  void add(int32_t to, double coefficient);
};

// out[o][j] += Σ over left rows of coefficient times kernel with column j; out: (n_outputs, columns.size()). The rows
// are added up in blocks of fixed size, and the blocks in order.
void add_scores(const KernelColumns<double>& columns, const Points<double>& left, const Coefficients& coefficients,
                int64_t n_outputs, Run& run, double* out);

}  // namespace weald::svm
