#include "core/rows/statistic/node_means.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/tree/statistics/quantise.h"

namespace weald {

namespace {

constexpr size_t together = 4096;
constexpr int most_scale = 1023;  // the exponent of the largest power of two

// Calls f(row, weight) for the rows of a part of the block that count.
template <class F>
void for_rows(const StatisticRows& rows, size_t n_targets, size_t first, size_t last, const F& f) {
  for (size_t row = first; row < last; ++row) {
    int64_t weight = rows.lanes[row * (n_targets + 1) + n_targets];
    if (!rows.count.empty()) weight *= rows.count[row];
    if (weight != 0) f(row, weight);
  }
}

}  // namespace

void NodeMeans::Top::add(uint64_t of_row, double target) {
  add(Top{target, std::abs(target), of_row, true, true});
}

void NodeMeans::Top::add(const Top& other) {
  if (!other.any) return;
  if (!any) {
    *this = other;
    return;
  }
  largest = std::max(largest, other.largest);
  equal = equal && other.equal && first == other.first;
  if (other.row < row) row = other.row, first = other.first;  // 0 and −0 are equal
}

NodeMeans::NodeMeans(std::vector<int32_t> parent_of, std::vector<uint8_t> wanted, size_t n_targets)
    : parent_of_(std::move(parent_of)), wanted_(std::move(wanted)), n_targets_(n_targets) {}

bool NodeMeans::next() {
  constexpr int n_passes = 2;
  return pass_ < n_passes && std::any_of(wanted_.begin(), wanted_.end(), [](uint8_t each) { return each != 0; });
}

template <class Number>
void NodeMeans::add(const StatisticRows& rows, uint64_t first_row, std::span<const Number> number, Run& run) {
  const auto n_threads = static_cast<size_t>(run.n_threads());
  const size_t n = number.size(), n_cells = parent_of_.size() * n_targets_;
  if (pass_ == 0) {
    tops_.resize(std::max(tops_.size(), n_threads), std::vector<Top>(n_cells));
  } else {
    std::vector<Sum> none(sums_[0]);
    for (Sum& each : none) each.units = 0;
    sums_.resize(std::max(sums_.size(), n_threads), none);
  }
  parallel_for(run, static_cast<int64_t>((n + together - 1) / together), [&](int64_t block, int worker) {
    const size_t first = static_cast<size_t>(block) * together, last = std::min(n, first + together);
    if (pass_ == 0) {
      std::vector<Top>& tops = tops_[static_cast<size_t>(worker)];
      for_rows(rows, n_targets_, first, last, [&](size_t row, int64_t) {
        for (size_t o = 0; o < n_targets_; ++o) {
          tops[at(number[row], o)].add(first_row + row, rows.targets[row * n_targets_ + o]);
        }
      });
      return;
    }
    std::vector<Sum>& sums = sums_[static_cast<size_t>(worker)];
    for_rows(rows, n_targets_, first, last, [&](size_t row, int64_t weight) {
      for (size_t o = 0; o < n_targets_; ++o) {
        const double target = rows.targets[row * n_targets_ + o];
        const size_t cell = at(number[row], o);
        for (size_t s = start_[cell]; s < start_[cell + 1]; ++s) {
          const int power = 62 - sums[s].exponent;
          const double scale = std::ldexp(1.0, std::min(power, most_scale));
          const double scaled = power <= most_scale ? target : std::ldexp(target, power - most_scale);
          sums[s].units += static_cast<__int128>(weight) * in_units(scaled, scale);
        }
      }
    });
  });
}

template void NodeMeans::add(const StatisticRows&, uint64_t, std::span<const uint16_t>, Run&);
template void NodeMeans::add(const StatisticRows&, uint64_t, std::span<const uint32_t>, Run&);

void NodeMeans::take() {
  if (pass_++ == 0) return find_sums();
  units_.assign(parent_of_.size() * n_targets_, 0);
  for (size_t number = 0; number < parent_of_.size(); ++number) {
    for (size_t o = 0; o < n_targets_; ++o) {
      for (size_t s = start_[at(number, o)]; s < start_[at(number, o) + 1]; ++s) {
        __int128 units = 0;
        for (const std::vector<Sum>& each : sums_) units += each[s].units;
        for (auto above = static_cast<int32_t>(number); above >= 0; above = parent_of_[static_cast<size_t>(above)]) {
          const size_t cell = at(static_cast<size_t>(above), o);
          if (exponent_[cell] == sums_[0][s].exponent) units_[cell] += units;
        }
      }
    }
  }
}

// The rows of a number, and those above it: one sum for all whose largest targets are about as large.
void NodeMeans::find_sums() {
  std::vector<Top>& tops = tops_[0];
  for (size_t t = 1; t < tops_.size(); ++t) {
    for (size_t i = 0; i < tops.size(); ++i) tops[i].add(tops_[t][i]);
  }
  const std::vector<Top> own = tops;
  for (size_t number = parent_of_.size(); number-- > 1;) {
    for (size_t o = 0; o < n_targets_; ++o) {
      tops[at(static_cast<size_t>(parent_of_[number]), o)].add(tops[at(number, o)]);
    }
  }
  exponent_.resize(tops.size());
  for (size_t i = 0; i < tops.size(); ++i) std::frexp(tops[i].largest, &exponent_[i]);
  start_.assign(1, 0);
  sums_.assign(1, {});
  for (size_t number = 0; number < parent_of_.size(); ++number) {
    for (size_t o = 0; o < n_targets_; ++o) {
      auto above = own[at(number, o)].any ? static_cast<int32_t>(number) : -1;
      for (; above >= 0; above = parent_of_[static_cast<size_t>(above)]) {
        const size_t cell = at(static_cast<size_t>(above), o);
        if (wanted_[static_cast<size_t>(above)] == 0 || tops[cell].equal) continue;
        const auto first = sums_[0].begin() + static_cast<std::ptrdiff_t>(start_.back());
        const bool known =
            std::any_of(first, sums_[0].end(), [&](const Sum& s) { return s.exponent == exponent_[cell]; });
        if (!known) sums_[0].push_back({exponent_[cell], 0});
      }
      start_.push_back(sums_[0].size());
    }
  }
}

double NodeMeans::mean(int32_t number, size_t output, int64_t weight) const {
  const size_t cell = at(static_cast<size_t>(number), output);
  const Top& top = tops_[0][cell];
  if (top.equal) return top.first;
  return std::ldexp(static_cast<double>(units_[cell]) / static_cast<double>(weight), exponent_[cell] - 62);
}

}  // namespace weald
