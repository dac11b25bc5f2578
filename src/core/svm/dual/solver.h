// The solver of the dual problem (problem.h; docs/methods/svm.md, D1–D9).
//
// Again and again: a working set of the most violating variables, their kernel block, steps on that block (smo.h), and
// then the gradient of the active rows by the kernel rows of what has moved. A small problem is one block, whose
// gradients need no more rows. Kernel values are float where that is safe, all sums double. When no active variable
// violates by more than the tolerance, the gradient of all is added up with double kernel values; if the gap is then
// above the tolerance the work goes on from there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/svm/dual/active.h"
#include "core/svm/dual/pace.h"
#include "core/svm/dual/problem.h"
#include "core/svm/dual/smo.h"
#include "core/svm/dual/sources.h"
#include "core/svm/dual/working_set.h"

namespace weald::svm {

// `stuck`: violations are left, or may be, but they are lost in rounding. `hopeless`: they close too slowly.
enum class Stop : int { not_yet = 0, tolerance = 1, max_steps = 2, unbounded = 3, stuck = 4, hopeless = 5 };

struct SolverOptions {
  double tolerance = 1e-3;
  int64_t max_steps = -1;  // pair updates; -1: no limit
  bool shrinking = true;
  int64_t working_set = 512;
};

class DualSolver {
 public:
  // The source must outlive it, and serve one solver at a time.
  DualSolver(RowSource& source, const DualProblem& problem, const SolverOptions& options, Run& run);

  // Works until it stops or some seconds are over.
  void advance(double seconds, Run& run);
  // One step at a time, for sources that must be given rows: those that the next step reads, none once it has stopped;
  // then the step.
  std::vector<int32_t> wanted(Run& run);
  void step(Run& run);

  Stop stopped() const { return stopped_; }
  double gap() const { return gap_; }
  int64_t n_steps() const { return n_steps_; }
  // If it has not stopped by the tolerance, the gradient is added up exactly first.
  Solution solution(Run& run);

 private:
  void choose(Run& run);
  double rounding() const;
  double least_gap() const;
  bool small() const;
  void shrink(Run& run);
  template <class Float>
  void work(LocalProblem<Float>& local, Run& run);
  void widen_or_throw(Run& run);
  template <class Float>
  bool load(LocalProblem<Float>& local, Run& run);
  template <class Float>
  void take_over(const LocalProblem<Float>& local, Run& run);
  template <class Float>
  void find_spread(LocalProblem<Float>& local);
  bool hulls_touch() const;
  void verify(Run& run);
  void refresh(Run& run);
  bool hopeless(Run& run);
  void add_up_exactly(Run& run);
  void use_columns(std::span<const double> g, Run& run);
  void fill_gradients();

  RowSource& source_;
  SolverOptions options_;
  Variables variables_;
  bool unbounded_;
  std::vector<int32_t> rows_;   // of the problem, each once, ascending
  std::vector<uint8_t> tiles_;  // tiles of all columns that have such a row
  ActiveSet active_;
  std::vector<double> g_;  // Kβ by column of the active set
  std::vector<double> F_;  // gradients by variable
  WorkingSets sets_;
  std::vector<int32_t> set_, set_rows_;  // the variables of the next step, and their rows
  bool covers_ = false;                  // they are all that are active
  LocalProblem<float> floats_;
  LocalProblem<double> doubles_;
  std::vector<double> exact_g_, exact_beta_;  // by row: the last exact Kβ, and the β that it belongs to
  double spread_ = -1.0;                      // of rows in the space of the kernel, squared
  double largest_constant_ = 0.0;             // what is added to the sums of kernel values
  double largest_kernel_ = 0.0;               // of the values of rows with themselves that were seen
  double gap_, drift_;
  Pace pace_;
  int64_t n_steps_ = 0, n_failed_checks_ = 0;
  Stop stopped_ = Stop::not_yet;
};

}  // namespace weald::svm
