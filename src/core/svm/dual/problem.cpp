#include "core/svm/dual/problem.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"

namespace weald::svm {

namespace {

constexpr double all_but_hard = 1e9;

// The mean gradient of variables between their bounds, or the middle of what the others allow.
double threshold(const Variables& variables, std::span<const double> F, const Gap& gap) {
  double sum = 0.0;
  int64_t n_free = 0;
  for (size_t i = 0; i < F.size(); ++i) {
    if (!variables.free(i)) continue;
    sum += F[i];
    ++n_free;
  }
  if (n_free > 0) return sum / static_cast<double>(n_free);
  const bool bounded_below = gap.largest_down > -infinity;
  if (gap.smallest_up < infinity) return bounded_below ? (gap.smallest_up + gap.largest_down) / 2.0 : gap.smallest_up;
  return bounded_below ? gap.largest_down : 0.0;
}

}  // namespace

Variables::Variables(const DualProblem& problem, int64_t n_rows)
    : row(problem.rows.begin(), problem.rows.end()),
      sign(problem.signs.begin(), problem.signs.end()),
      constant(row.size()),
      low(row.size()),
      high(row.size()),
      beta(row.size(), 0.0) {
  for (size_t i = 0; i < row.size(); ++i) {
    if (row[i] < 0 || row[i] >= n_rows) throw BadInput("a variable has a row out of range");
    if (!(problem.upper[i] >= 0.0) || !std::isfinite(problem.linear[i])) {
      throw BadInput("upper bounds must be at least 0, and linear terms finite");
    }
    const bool positive = problem.signs[i] > 0;
    constant[i] = positive ? problem.linear[i] : -problem.linear[i];
    low[i] = positive ? 0.0 : -problem.upper[i];
    high[i] = positive ? problem.upper[i] : 0.0;
  }
}

bool Variables::reaches(double bound) const {
  for (size_t i = 0; i < row.size(); ++i) {
    if (low[i] <= -bound || high[i] >= bound) return true;
  }
  return false;
}

bool Variables::unbounded() const {
  return reaches(infinity);
}

bool Variables::hard() const {
  return reaches(all_but_hard);
}

std::vector<double> Variables::beta_by_row(int64_t n_rows) const {
  std::vector<double> sums(static_cast<size_t>(n_rows), 0.0);
  for (size_t i = 0; i < row.size(); ++i) sums[static_cast<size_t>(row[i])] += beta[i];
  return sums;
}

Gap gap_of(const Variables& variables, std::span<const int32_t> active, std::span<const double> F) {
  Gap gap;
  for (const int32_t i : active) {
    const auto at = static_cast<size_t>(i);
    gap.finite = gap.finite && std::isfinite(F[at]);
    if (variables.up(at)) gap.smallest_up = std::min(gap.smallest_up, F[at]);
    if (variables.down(at)) gap.largest_down = std::max(gap.largest_down, F[at]);
  }
  return gap;
}

Solution solution_of(const Variables& variables, std::span<const double> F, const Gap& gap, double tolerance) {
  const double rho = threshold(variables, F, gap);
  Solution found;
  found.gap = gap.size();
  found.intercept = -rho;
  for (size_t i = 0; i < F.size(); ++i) {
    const double upper = std::max(variables.high[i], -variables.low[i]);
    const double beta = variables.beta[i];
    const double sign = variables.sign[i] > 0 ? 1.0 : -1.0;
    found.alpha.push_back(std::abs(beta));
    found.gradient.push_back(sign * F[i]);
    found.objective += 0.5 * beta * (F[i] + variables.constant[i]);
    // α (G − ρs) + u max(0, −(G − ρs)): 0 where the variable is where it should be
    const double reduced = sign * (F[i] - rho);
    found.duality_gap += beta * (F[i] - rho);
    if (reduced < (upper < infinity ? 0.0 : -tolerance)) found.duality_gap -= upper * reduced;
  }
  return found;
}

}  // namespace weald::svm
