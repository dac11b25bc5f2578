#include "core/svm/linear/solvers/interior.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "core/svm/linear/loss.h"
#include "core/svm/linear/solvers/cholesky.h"
#include "core/svm/linear/solvers/gram.h"

namespace weald::linear {

namespace {

constexpr double start_slack = 10;   // slacks at the start, in units of the mean |t|
constexpr double step_share = 0.99;  // of the way to the nearest bound
constexpr double short_step = 0.7;   // below, centrality is corrected (Gondzio)
constexpr int most_corrections = 2;
constexpr double longer_step = 0.3;                       // what a correction hopes to add to the step, and
constexpr double least_longer = 0.03;                     // what it must
constexpr double least_product = 0.1, most_product = 10;  // of μ, which corrections aim at
constexpr double hopeless_step = 1e-10;

using Values = std::vector<double>;

// One part's place on the path: α + β = C, ξ − s = t − σf; s α and ξ β go to 0.
struct State {
  Values alpha, beta, s, xi;
};

// What the four change by, and the products sα and ξβ they aim at.
struct Change {
  double alpha, s, xi;
};

// Sums over a block of rows.
struct PathSums {
  double loss = 0, gain = 0, product = 0;  // Σ C z₊, Σ t α, Σ sα + ξβ
};
// The longest step (at most 1) and the sum of products after a step of size m: a + m b + m² c.
struct Reach {
  double step = 1, a = 0, b = 0, c = 0;

  void meet(double value, double change) {
    if (value + step * change < 0) step = -value / change;
  }
  void add(const Reach& other) {
    step = std::min(step, other.step);
    a += other.a;
    b += other.b;
    c += other.c;
  }
};

class Interior {
 public:
  Interior(const Problem& problem, const Limits& limits, Progress& progress, Run& run)
      : p_(problem),
        limits_(limits),
        progress_(progress),
        run_(run),
        n_(problem.rows.n_rows),
        width_(problem.rows.width()),
        blocks_(n_),
        hessian_(width_) {
    start();
  }

  Solution solve() {
    int64_t iteration = 0;
    bool converged = false, stuck = false;
    for (;; ++iteration) {
      const PathSums sums = linearise();
      measure(sums);
      progress_.tell(iteration, gap_ / std::max(primal_, floor_));
      converged = gap_ <= 0.01 * limits_.tol * std::max(primal_, floor_);
      if (converged || stuck || iteration >= limits_.max_iter || limits_.late()) break;
      stuck = !advance(sums.product / static_cast<double>(2 * n_parts()));
    }
    return solution(iteration, converged);
  }

 private:
  int64_t n_parts() const { return p_.n_sides() * n_; }

  template <class Body>
  void for_blocks(Body body) {
    parallel_for(run_, blocks_.count(), [&](int64_t b, int) { body(b, blocks_.first(b), blocks_.last(b)); });
  }

  // v = 0 and α in the middle; slacks large, so that the complementary products outweigh what is infeasible.
  void start() {
    const auto n = static_cast<size_t>(n_), parts = static_cast<size_t>(n_parts()), width = static_cast<size_t>(width_);
    for (Values* each : {&now_.alpha, &now_.beta, &now_.s, &now_.xi, &toward_s_, &toward_xi_, &next_s_, &next_xi_}) {
      each->assign(parts, 0.0);
    }
    for (Values* each : {&f_, &change_f_, &next_f_, &curvature_, &of_alpha_, &of_z_}) each->assign(n, 0.0);
    for (Values* each : {&weight_, &change_, &next_change_, &residual_}) each->assign(width, 0.0);
    sums_.assign(2 * width, 0.0);
    double size = 0;
    for (int side = 0; side < p_.n_sides(); ++side) {
      for (int64_t i = 0; i < n_; ++i) {
        const double t = p_.threshold(side, i);
        size += std::abs(t);
        floor_ += p_.upper[static_cast<size_t>(i)] * std::max(t, 0.0);
      }
    }
    floor_ *= least_primal;
    const double slack = start_slack * std::max(size / static_cast<double>(n_parts()), 1e-100);
    for (int side = 0; side < p_.n_sides(); ++side) {
      for (int64_t i = 0; i < n_; ++i) {
        const auto k = static_cast<size_t>(side * n_ + i);
        const double t = p_.threshold(side, i);
        now_.alpha[k] = now_.beta[k] = p_.upper[static_cast<size_t>(i)] / 2;
        now_.xi[k] = std::max(t, 0.0) + slack;
        now_.s[k] = std::max(-t, 0.0) + slack;
      }
    }
  }

  double z_of(int side, int64_t i) const {
    return p_.threshold(side, i) - p_.sign(side, i) * f_[static_cast<size_t>(i)];
  }

  // H = R + Σ D x xᵀ with 1/D = s/α + ξ/β (equation 7), the sums Xᵀ(σα) and Xᵀ(σDz), and what measures the gap.
  PathSums linearise() {
    std::vector<PathSums> found(static_cast<size_t>(blocks_.count()));
    for_blocks([&](int64_t b, int64_t first, int64_t last) {
      PathSums sums;
      std::fill(curvature_.begin() + first, curvature_.begin() + last, 0.0);
      std::fill(of_alpha_.begin() + first, of_alpha_.begin() + last, 0.0);
      std::fill(of_z_.begin() + first, of_z_.begin() + last, 0.0);
      for (int side = 0; side < p_.n_sides(); ++side) {
        for (int64_t i = first; i < last; ++i) {
          const auto row = static_cast<size_t>(i), k = static_cast<size_t>(side * n_ + i);
          const double alpha = now_.alpha[k], beta = now_.beta[k], s = now_.s[k], xi = now_.xi[k];
          const double z = z_of(side, i), sign = p_.sign(side, i), d = alpha * beta / (xi * alpha + s * beta);
          curvature_[row] += d;
          of_alpha_[row] += sign * alpha;
          of_z_[row] += sign * d * z;
          sums.loss += p_.upper[row] * std::max(z, 0.0);
          sums.gain += p_.threshold(side, i) * alpha;
          sums.product += alpha * s + beta * xi;
        }
      }
      found[static_cast<size_t>(b)] = sums;
    });
    const std::span<const double> factors[] = {of_alpha_, of_z_};
    weighted_gram(p_.rows, curvature_, factors, run_, hessian_, sums_);
    for (int64_t j = 0; j < width_; ++j) hessian_.row(j)[j] += p_.ridge(j);
    PathSums total;
    for (const PathSums& each : found) {
      total.loss += each.loss;
      total.gain += each.gain;
      total.product += each.product;
    }
    return total;
  }

  // Both objectives, and r = R v − Xᵀ(σα), which the dual's v would make 0.
  void measure(const PathSums& sums) {
    double own = 0, of_alpha = 0, open = 0;
    for (int64_t j = 0; j < width_; ++j) {
      const auto at = static_cast<size_t>(j);
      const double ridge = p_.ridge(j), from_alpha = sums_[at];
      own += ridge * weight_[at] * weight_[at];
      of_alpha += ridge * from_alpha * from_alpha;
      residual_[at] = ridge * weight_[at] - from_alpha;
      if (ridge == 0) open += std::abs(from_alpha) * (std::abs(weight_[at]) + 1);  // Σ σα should be 0
    }
    primal_ = own / 2 + sums.loss;
    dual_ = sums.gain - of_alpha / 2 - open;
    gap_ = primal_ - dual_;
  }

  // The change of one part where f changes by df and the products aim at `to_s` and `to_xi` less than they are
  // (equation 8).
  Change change_of(int side, int64_t i, double df, double to_s, double to_xi) const {
    const auto k = static_cast<size_t>(side * n_ + i);
    const double alpha = now_.alpha[k], beta = now_.beta[k], s = now_.s[k], xi = now_.xi[k];
    const double sign = p_.sign(side, i), open = z_of(side, i) - xi + s;
    const double da = (alpha * beta * (open - sign * df) + (to_xi * alpha - to_s * beta)) / (xi * alpha + s * beta);
    return {da, -(to_s + s * da) / alpha, (xi * da - to_xi) / beta};
  }

  Reach reach_of(int side, int64_t i, const Change& change) const {
    const auto k = static_cast<size_t>(side * n_ + i);
    const double alpha = now_.alpha[k], beta = now_.beta[k], s = now_.s[k], xi = now_.xi[k];
    Reach reach;
    reach.meet(alpha, change.alpha);
    reach.meet(beta, -change.alpha);
    reach.meet(s, change.s);
    reach.meet(xi, change.xi);
    reach.a = alpha * s + beta * xi;
    reach.b = alpha * change.s + s * change.alpha + beta * change.xi - xi * change.alpha;
    reach.c = change.alpha * change.s - change.alpha * change.xi;
    return reach;
  }

  // H dv = −r + the given sum; then df = X dv, and how far one may go. The products aim at what `target` says.
  template <class Target>
  Reach direction(const double* sum, Values& dv, Values& df, Target target) {
    for (size_t j = 0; j < dv.size(); ++j) dv[j] = sum[j] - residual_[j];
    solve_factored(hessian_, dv);
    std::vector<Reach> found(static_cast<size_t>(blocks_.count()));
    for_blocks([&](int64_t b, int64_t first, int64_t last) {
      multiply(p_.rows, dv.data(), first, last, df.data() + first);
      Reach reach;
      for (int side = 0; side < p_.n_sides(); ++side) {
        for (int64_t i = first; i < last; ++i) {
          const auto k = static_cast<size_t>(side * n_ + i);
          const auto [to_s, to_xi] = target(k);
          reach.add(reach_of(side, i, change_of(side, i, df[static_cast<size_t>(i)], to_s, to_xi)));
        }
      }
      found[static_cast<size_t>(b)] = reach;
    });
    Reach all;
    for (const Reach& each : found) all.add(each);
    return all;
  }

  // Fills to_s and to_xi by aim(side, i, k), which returns both, and Xᵀ of what they bring to the right side.
  template <class Aim>
  void aim_at(Aim aim, Values& to_s, Values& to_xi) {
    const auto width = static_cast<size_t>(width_);
    Values parts(static_cast<size_t>(blocks_.count()) * width, 0.0);
    for_blocks([&](int64_t b, int64_t first, int64_t last) {
      std::fill(of_z_.begin() + first, of_z_.begin() + last, 0.0);
      for (int side = 0; side < p_.n_sides(); ++side) {
        for (int64_t i = first; i < last; ++i) {
          const auto row = static_cast<size_t>(i), k = static_cast<size_t>(side * n_ + i);
          const double alpha = now_.alpha[k], beta = now_.beta[k], s = now_.s[k], xi = now_.xi[k];
          std::tie(to_s[k], to_xi[k]) = aim(side, i, k);
          const double open = z_of(side, i) - xi + s;
          of_z_[row] +=
              p_.sign(side, i) * (alpha * beta * open + (to_xi[k] * alpha - to_s[k] * beta)) / (xi * alpha + s * beta);
        }
      }
      add_transposed(p_.rows, of_z_.data() + first, first, last, parts.data() + static_cast<size_t>(b) * width);
    });
    combine(parts, std::span(sums_).subspan(width, width));
  }

  // One step of Mehrotra's predictor and corrector, with Gondzio's corrections where it would be short. False if it
  // leads nowhere.
  bool advance(double mu) {
    factorise(hessian_, run_);
    const auto now = [&](size_t k) { return std::pair(now_.alpha[k] * now_.s[k], now_.beta[k] * now_.xi[k]); };
    const double* right_side = sums_.data() + width_;
    const Reach plain = direction(right_side, change_, change_f_, now);
    const double after = plain.a + plain.step * (plain.b + plain.step * plain.c);
    const double share = std::max(0.0, after / plain.a), centre = share * share * share * mu;
    const auto second_order = [&](int side, int64_t i, size_t k) {
      const auto [to_s, to_xi] = now(k);
      const Change c = change_of(side, i, change_f_[static_cast<size_t>(i)], to_s, to_xi);
      return std::pair(to_s - centre + c.alpha * c.s, to_xi - centre - c.alpha * c.xi);
    };
    aim_at(second_order, toward_s_, toward_xi_);
    const auto aimed = [&](size_t k) { return std::pair(toward_s_[k], toward_xi_[k]); };
    Reach reach = direction(right_side, change_, change_f_, aimed);
    for (int round = 0; round < most_corrections && reach.step < short_step; ++round) {
      if (!correct(centre, reach)) break;
    }
    const double step = reach.step < 1 ? step_share * reach.step : 1.0;
    const bool finite = std::all_of(change_.begin(), change_.end(), [](double each) { return std::isfinite(each); });
    if (!finite || !(step > hopeless_step)) return false;
    move(step);
    return true;
  }

  // Brings products that a longer step would make too small or too large back to the middle; true if that paid.
  bool correct(double centre, Reach& reach) {
    const double longer = std::min(1.0, reach.step + longer_step);
    const double low = least_product * centre, high = most_product * centre;
    const auto back = [&](double product) { return std::max(std::clamp(product, low, high) - product, -high); };
    const auto corrected = [&](int side, int64_t i, size_t k) {
      const Change c = change_of(side, i, change_f_[static_cast<size_t>(i)], toward_s_[k], toward_xi_[k]);
      const double s = (now_.alpha[k] + longer * c.alpha) * (now_.s[k] + longer * c.s);
      const double xi = (now_.beta[k] - longer * c.alpha) * (now_.xi[k] + longer * c.xi);
      return std::pair(toward_s_[k] - back(s), toward_xi_[k] - back(xi));
    };
    aim_at(corrected, next_s_, next_xi_);
    const auto aimed = [&](size_t k) { return std::pair(next_s_[k], next_xi_[k]); };
    const Reach next = direction(sums_.data() + width_, next_change_, next_f_, aimed);
    if (!(next.step >= reach.step + least_longer)) return false;
    reach = next;
    std::swap(change_, next_change_);
    std::swap(change_f_, next_f_);
    std::swap(toward_s_, next_s_);
    std::swap(toward_xi_, next_xi_);
    return true;
  }

  void move(double step) {
    for (size_t j = 0; j < weight_.size(); ++j) weight_[j] += step * change_[j];
    for_blocks([&](int64_t, int64_t first, int64_t last) {
      for (int side = 0; side < p_.n_sides(); ++side) {
        for (int64_t i = first; i < last; ++i) {
          const auto k = static_cast<size_t>(side * n_ + i);
          const Change c = change_of(side, i, change_f_[static_cast<size_t>(i)], toward_s_[k], toward_xi_[k]);
          now_.alpha[k] += step * c.alpha;
          now_.beta[k] -= step * c.alpha;
          now_.s[k] += step * c.s;
          now_.xi[k] += step * c.xi;
        }
      }
      for (int64_t i = first; i < last; ++i) f_[static_cast<size_t>(i)] += step * change_f_[static_cast<size_t>(i)];
    });
  }

  Solution solution(int64_t iteration, bool converged) {
    Solution found{weight_, of_alpha_, primal_, dual_, iteration, converged};
    to_alpha(p_, found.alpha);
    return found;
  }

  const Problem& p_;
  const Limits& limits_;
  Progress& progress_;
  Run& run_;
  int64_t n_, width_;
  RowBlocks blocks_;
  Square hessian_;
  State now_;
  Values weight_, f_;                                // v and X v
  Values change_, change_f_, toward_s_, toward_xi_;  // the direction found, and the products it aims at
  Values next_change_, next_f_, next_s_, next_xi_;   // one that may be better
  Values curvature_, of_alpha_, of_z_;               // by row: Σ D, Σ σα, what goes to the right side
  Values sums_, residual_;                           // Xᵀ of the last two; R v − Xᵀ(σα)
  double primal_ = 0, dual_ = 0, gap_ = 0, floor_ = 0;
};

}  // namespace

Solution solve_interior(const Problem& problem, const Limits& limits, Progress& progress, Run& run) {
  return Interior(problem, limits, progress, run).solve();
}

}  // namespace weald::linear
