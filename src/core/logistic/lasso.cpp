#include "core/logistic/lasso.h"

#include <algorithm>
#include <cmath>

namespace weald::logistic {

double best_shift(std::span<double> v, double lasso, double ridge) {
  std::sort(v.begin(), v.end());
  const auto n = static_cast<double>(v.size());
  double sum = 0;
  for (const double each : v) sum += each;
  // The derivative by s from the left and from the right; both rise with s.
  const auto slope = [&](double s, bool right) {
    const auto below = static_cast<double>(
        (right ? std::upper_bound(v.begin(), v.end(), s) : std::lower_bound(v.begin(), v.end(), s)) - v.begin());
    return lasso * (2 * below - n) - ridge * (sum - n * s);
  };
  if (slope(0, false) <= 0 && slope(0, true) >= 0) return 0;
  const bool up = slope(0, true) < 0;  // the best lies above 0
  double from = 0;
  for (size_t k = 0; k < v.size(); ++k) {  // the places where the derivative jumps, going away from 0
    const double at = up ? v[k] : v[v.size() - 1 - k];
    if (up ? at <= 0 : at >= 0) continue;
    const double rest = slope(from, up);  // of the stretch between the two places
    if (ridge > 0) {
      const double within = from - rest / (n * ridge);
      if (up ? within <= at : within >= at) return within;
    }
    if (up ? slope(at, true) >= 0 : slope(at, false) <= 0) return at;
    from = at;
  }
  return ridge > 0 ? from - slope(from, up) / (n * ridge) : from;
}

LassoSteps::LassoSteps(const Problem& problem, const linear::Columns* columns, const linear::Limits& limits,
                       linear::Progress& progress, Run& run)
    : p_(problem),
      limits_(limits),
      run_(run),
      passes_(problem, columns, run),
      progress_(progress),
      total_(problem.total_cost()) {
  weight_.assign(static_cast<size_t>(problem.n_values()), 0.0);
  if (!p_.start.empty()) weight_.assign(p_.start.begin(), p_.start.end());
  gradient_.assign(weight_.size(), 0.0);
  change_.assign(weight_.size(), 0.0);
}

Solution LassoSteps::solve() {
  loss_ = passes_.evaluate(weight_, gradient_);
  int64_t iteration = 0;
  bool converged = false, stuck = false;
  double last = linear::infinite;
  for (;; ++iteration) {
    distance_ = distance(p_, weight_, gradient_);
    const double objective = loss_ + distance_.penalty;
    const bool small = distance_.violation <= limits_.tol * total_;
    const bool near = p_.ridge > 0 ? distance_.gap <= gap_share * limits_.tol * objective
                                   : distance_.violation <= limits_.tol / gap_share * p_.lasso;
    converged = stuck ? small || near : small && near;  // where rounding leaves nothing to gain, one mark is enough
    progress_.tell(iteration, distance_.violation / total_);
    if (converged || stuck || iteration >= limits_.max_iter || limits_.late()) break;
    minimise_model(last);
    last = distance_.sum;
    stuck = !search(objective) && !refine();
  }
  const double objective = loss_ + distance_.penalty;
  const double gap = p_.ridge > 0 ? distance_.gap : gap_of_lasso(p_, passes_, weight_, gradient_, objective);
  centre_intercepts();
  return {weight_, objective, gap, distance_.violation / total_, iteration, converged, false};
}

// A shift of all free intercepts changes nothing: of all solutions the one whose intercepts add up to 0.
void LassoSteps::centre_intercepts() {
  if (p_.n_lines == 1 || p_.penalised(p_.rows.width() - 1)) return;
  double* last = weight_.data() + (p_.rows.width() - 1) * p_.stride();
  double sum = 0;
  for (int64_t k = 0; k < p_.n_lines; ++k) sum += last[k];
  for (int64_t k = 0; k < p_.n_lines; ++k) last[k] -= sum / static_cast<double>(p_.n_lines);
}

// Shortens the change until it lowers the objective enough; false if rounding leaves nothing to gain.
bool LassoSteps::search(double before) {
  Values trial(weight_), gradient(weight_.size());
  double promised = linear::dot(gradient_.data(), change_.data(), p_.n_values());
  for (size_t at = 0; at < trial.size(); ++at) trial[at] += change_[at];
  promised += distance(p_, trial, gradient_).penalty - distance_.penalty;
  double step = 1;
  for (int round = 0; round < most_shortened && promised < 0; ++round, step /= 2) {
    for (size_t at = 0; at < trial.size(); ++at) trial[at] = weight_[at] + step * change_[at];
    const double loss = passes_.evaluate(trial, gradient);
    const Distance there = distance(p_, trial, gradient);
    const double value = loss + there.penalty;
    if (value > before + least_of_slope * step * promised + rounding * before) continue;
    if (!(value < before) && !(there.violation < distance_.violation)) break;
    weight_.swap(trial);
    gradient_.swap(gradient);
    loss_ = loss;
    return true;
  }
  loss_ = passes_.evaluate(weight_, gradient_);
  return false;
}

}  // namespace weald::logistic
