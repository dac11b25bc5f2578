#include "core/svm/dual/solver.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/base/check.h"

namespace weald::svm {

namespace {

// A working set is solved to this share of the violation it begins with.
constexpr double inner_share = 0.1;
constexpr int64_t most_steps_a_variable = 100;
// Hulls nearer than this, in shares of the spread of the rows, are taken to touch.
constexpr double touching = 1e-6;
// Exact gradients in double that do not reach the tolerance: more would not either.
constexpr int64_t most_failed_checks = 100;

std::vector<int32_t> distinct(std::vector<int32_t> rows) {
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

}  // namespace

DualSolver::DualSolver(RowSource& source, const DualProblem& problem, const SolverOptions& options, Run& run)
    : source_(source),
      options_(options),
      variables_(problem, source.n_rows()),
      unbounded_(variables_.unbounded()),
      rows_(distinct(variables_.row)),
      tiles_(static_cast<size_t>((source.n_rows() + tile_columns - 1) / tile_columns), 0),
      active_(variables_, source.n_rows(), source.has_choice() && source.prefers(static_cast<int64_t>(rows_.size()))),
      F_(variables_.constant),
      sets_(variables_.size(), std::min(options.working_set, variables_.size())),
      exact_g_(static_cast<size_t>(source.n_rows()), 0.0),
      exact_beta_(exact_g_),
      gap_(infinity),
      drift_(infinity),
      pace_(variables_.size()) {
  for (const double each : variables_.constant) largest_constant_ = std::max(largest_constant_, std::abs(each));
  for (const int32_t row : rows_) tiles_[static_cast<size_t>(row / tile_columns)] = 1;
  // float would not tell hulls that touch from hulls that nearly do
  if (variables_.hard()) {
    source_.widen(run);
  } else {
    source_.narrow(run);
  }
  use_columns(exact_g_, run);
}

// Tells the source which columns count from now on; g is Kβ by row.
void DualSolver::use_columns(std::span<const double> g, Run& run) {
  g_.clear();
  for (const int32_t row : active_.columns()) g_.push_back(g[static_cast<size_t>(row)]);
  if (active_.whole()) {
    source_.choose_all();
  } else {
    source_.choose(active_.columns(), run);
  }
}

void DualSolver::fill_gradients() {
  for (const int32_t i : active_.variables()) {
    const auto at = static_cast<size_t>(i);
    F_[at] = g_[active_.place(at)] + variables_.constant[at];
  }
}

void DualSolver::shrink(Run& run) {
  std::vector<double> g(static_cast<size_t>(source_.n_rows()), 0.0);
  for (size_t at = 0; at < g_.size(); ++at) g[static_cast<size_t>(active_.columns()[at])] = g_[at];
  active_.shrink(variables_);
  sets_.forget();
  use_columns(g, run);
}

// What to do about values that are not finite.
void DualSolver::widen_or_throw(Run& run) {
  if (!source_.is_float()) {
    throw BadInput("kernel values are too large to be added up in float64: scale the columns");
  }
  source_.widen(run);
  verify(run);
}

// The next working set, or a reason to stop.
void DualSolver::choose(Run& run) {
  while (stopped_ == Stop::not_yet) {
    const Gap gap = gap_of(variables_, active_.variables(), F_);
    gap_ = gap.size();
    if (!gap.finite) {
      widen_or_throw(run);
      continue;
    }
    if (gap_ <= least_gap()) {
      verify(run);
      continue;
    }
    if (options_.max_steps >= 0 && n_steps_ >= options_.max_steps) {
      stopped_ = Stop::max_steps;
      return;
    }
    pace_.saw(gap_);
    if (!unbounded_ && pace_.stalls(n_steps_)) {
      if (hopeless(run)) stopped_ = Stop::hopeless;
      continue;  // its gradients are new
    }
    if (options_.shrinking && source_.has_choice() && !small() && active_.look(variables_, F_, gap)) shrink(run);
    covers_ = small();
    set_ = covers_ ? active_.variables() : sets_.next(variables_, active_.variables(), F_, gap);
    set_rows_.clear();
    for (const int32_t i : set_) set_rows_.push_back(variables_.row[static_cast<size_t>(i)]);
    return;
  }
}

// About what the gradients are off by: sums of kernel values are rounded, and so is what is added to them, which of
// regressions is as large as the targets. Without bounds β may grow until that
// hides everything; then `hulls_touch` is what tells.
double DualSolver::rounding() const {
  if (unbounded_) return 0.0;
  double squares = 0.0;
  for (const double beta : variables_.beta) squares += beta * beta;
  return std::numeric_limits<double>::epsilon() * (std::sqrt(squares) * largest_kernel_ + largest_constant_);
}

// The tolerance, or a gap that rounding alone could make.
double DualSolver::least_gap() const {
  return std::max(options_.tolerance, 4.0 * rounding());
}

// Whether the block of all active variables costs little. Rows that are given cost more than computed ones.
bool DualSolver::small() const {
  const int64_t most = (source_.has_choice() ? 2 : 1) * options_.working_set;
  return static_cast<int64_t>(active_.variables().size()) <= most;
}

// The mean squared distance of rows to their mean, of the first working set.
template <class Float>
void DualSolver::find_spread(LocalProblem<Float>& local) {
  const auto n = static_cast<double>(local.size());
  double diagonal = 0.0, all = 0.0;
  for (int64_t i = 0; i < local.size(); ++i) {
    const Float* row = local.kernel() + i * local.stride();
    diagonal += double{row[i]};
    for (int64_t j = 0; j < local.size(); ++j) all += double{row[j]};
  }
  spread_ = std::max(diagonal / n - all / (n * n), 0.0);
}

// The variables of the set and their kernel block; false if that has values that are not finite.
template <class Float>
bool DualSolver::load(LocalProblem<Float>& local, Run& run) {
  local.resize(static_cast<int64_t>(set_.size()));
  source_.block(set_rows_, local.stride(), local.kernel(), run);
  for (size_t k = 0; k < set_.size(); ++k) {
    const auto i = static_cast<size_t>(set_[k]);
    local.set(static_cast<int64_t>(k), F_[i], variables_.beta[i], variables_.low[i], variables_.high[i]);
  }
  for (int64_t k = 0; k < local.size(); ++k) {
    const double own = local.kernel()[k * local.stride() + k];
    if (!std::isfinite(own)) return false;
    largest_kernel_ = std::max(largest_kernel_, std::abs(own));
  }
  return true;
}

// What has moved, and the gradients that follow from it.
template <class Float>
void DualSolver::take_over(const LocalProblem<Float>& local, Run& run) {
  std::vector<int32_t> rows;
  std::vector<double> factors;
  double slope = 0.0;  // twice the change of the objective: Δβ · (F before + F after)
  for (size_t k = 0; k < set_.size(); ++k) {
    const auto i = static_cast<size_t>(set_[k]);
    double& beta = variables_.beta[i];
    const double change = local.beta(static_cast<int64_t>(k)) - beta;
    if (covers_) g_[active_.place(i)] = local.gradient(static_cast<int64_t>(k)) - variables_.constant[i];
    if (change == 0.0) continue;
    slope += change * (F_[i] + local.gradient(static_cast<int64_t>(k)));
    beta = local.beta(static_cast<int64_t>(k));
    rows.push_back(set_rows_[k]);
    factors.push_back(change);
  }
  if (rows.empty()) stopped_ = Stop::stuck;
  pace_.gained(-slope / 2.0);
  if (!covers_) source_.add(rows, factors, tiles_, g_.data(), run);
  fill_gradients();
}

template <class Float>
void DualSolver::work(LocalProblem<Float>& local, Run& run) {
  if (!load(local, run)) return widen_or_throw(run);
  if (spread_ < 0.0) find_spread(local);
  const int64_t most = most_steps_a_variable * local.size();
  const int64_t left = options_.max_steps < 0 ? most : std::min(most, options_.max_steps - n_steps_);
  n_steps_ += local.solve(least_gap(), covers_ ? 0.0 : inner_share, left);
  take_over(local, run);
}

void DualSolver::step(Run& run) {
  if (source_.is_float()) {
    work(floats_, run);
  } else {
    work(doubles_, run);
  }
  if (unbounded_ && hulls_touch()) stopped_ = Stop::unbounded;
}

// With α scaled to weights, ‖Σ β φ‖ · 2 / Σ |β| is the distance of a point of the hull of one sign to one of the other.
bool DualSolver::hulls_touch() const {
  double mass = 0.0, square = 0.0;
  for (size_t i = 0; i < F_.size(); ++i) {
    mass += std::abs(variables_.beta[i]);
    square += variables_.beta[i] * (F_[i] - variables_.constant[i]);
  }
  return mass > 0.0 && 4.0 * square <= touching * touching * spread_ * mass * mass;
}

std::vector<int32_t> DualSolver::wanted(Run& run) {
  choose(run);
  return stopped_ == Stop::not_yet ? distinct(set_rows_) : std::vector<int32_t>{};
}

void DualSolver::advance(double seconds, Run& run) {
  const auto start = std::chrono::steady_clock::now();
  for (;;) {
    run.check();
    choose(run);
    if (stopped_ != Stop::not_yet) return;
    step(run);
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    if (passed.count() >= seconds) return;
  }
}

// Adds to the last exact Kβ what has changed since, and looks how far the sums of float values were from it. If they
// were off by more than half the tolerance, and no less so than the last time, float does not do.
void DualSolver::add_up_exactly(Run& run) {
  std::vector<double> beta = variables_.beta_by_row(source_.n_rows());
  std::vector<int32_t> rows;
  std::vector<double> factors;
  for (size_t row = 0; row < beta.size(); ++row) {
    if (beta[row] == exact_beta_[row]) continue;
    rows.push_back(static_cast<int32_t>(row));
    factors.push_back(beta[row] - exact_beta_[row]);
  }
  const bool exact = source_.add_exactly(rows, factors, rows_, exact_g_.data(), run);
  double drift = 0.0;
  for (const int32_t i : active_.variables()) {
    const auto at = static_cast<size_t>(i);
    double& sum = exact_g_[static_cast<size_t>(variables_.row[at])];
    if (!exact) sum = g_[active_.place(at)];
    drift = std::max(drift, std::abs(sum - g_[active_.place(at)]));
  }
  exact_beta_ = std::move(beta);
  std::swap(drift, drift_);
  if (drift_ > 0.5 * options_.tolerance && drift_ > 0.5 * drift) source_.widen(run);
}

// All variables again, with gradients of double kernel values.
void DualSolver::refresh(Run& run) {
  add_up_exactly(run);
  active_.restore(variables_);
  use_columns(exact_g_, run);
  fill_gradients();
}

// Whether the end is too far at the pace of the last steps; gradients are exact afterwards.
bool DualSolver::hopeless(Run& run) {
  refresh(run);
  const Gap gap = gap_of(variables_, active_.variables(), F_);
  gap_ = gap.size();
  return gap.finite && pace_.hopeless(solution_of(variables_, F_, gap, options_.tolerance).duality_gap);
}

void DualSolver::verify(Run& run) {
  refresh(run);
  const Gap gap = gap_of(variables_, active_.variables(), F_);
  gap_ = gap.size();
  if (!gap.finite) return;  // `choose` sees to it
  if (gap_ <= options_.tolerance && rounding() <= options_.tolerance) {
    stopped_ = Stop::tolerance;
  } else if (gap_ <= least_gap() || ++n_failed_checks_ > most_failed_checks) {
    stopped_ = Stop::stuck;
  }
}

Solution DualSolver::solution(Run& run) {
  if (stopped_ != Stop::tolerance) verify(run);
  return solution_of(variables_, F_, gap_of(variables_, active_.variables(), F_), options_.tolerance);
}

}  // namespace weald::svm
