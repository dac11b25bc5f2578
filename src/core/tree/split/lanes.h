// What a set of rows adds up to: lanes of a cell, held in registers where their number is known.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weald {

// Lanes of a cell: an array in registers when their number is fixed, else a vector kept between scans.
template <int N>
struct Lanes {
  std::array<int64_t, static_cast<size_t>(N)> lane{};
  explicit Lanes(int) {}
  static constexpr int size() { return N; }
  int64_t* data() { return lane.data(); }
  const int64_t* data() const { return lane.data(); }
};
template <>
struct Lanes<0> {
  std::vector<int64_t> lane;
  explicit Lanes(int n) : lane(static_cast<size_t>(n)) {}
  int size() const { return static_cast<int>(lane.size()); }
  int64_t* data() { return lane.data(); }
  const int64_t* data() const { return lane.data(); }
};

template <int N>
void set_lanes(Lanes<N>& to, const int64_t* from) {
  for (int l = 0; l < to.size(); ++l) to.data()[l] = from[l];
}
template <int N>
void clear_lanes(Lanes<N>& to) {
  for (int l = 0; l < to.size(); ++l) to.data()[l] = 0;
}
template <int N>
void add_lanes(Lanes<N>& to, const int64_t* from) {
  for (int l = 0; l < to.size(); ++l) to.data()[l] += from[l];
}

// Whether a histogram cell has rows: by its count where it has one, else by its lanes.
template <int N>
bool has_rows(const int64_t* cell, int lanes, bool counted) {
  if (counted) return cell[lanes] != 0;
  int64_t any = 0;
  for (int l = 0; l < (N > 0 ? N : lanes); ++l) any |= cell[l];
  return any != 0;
}

// What is left of some rows without others.
template <int N>
Lanes<N> without(const Lanes<N>& all, const Lanes<N>& some) {
  Lanes<N> out(all);
  for (int l = 0; l < out.size(); ++l) out.data()[l] -= some.data()[l];
  return out;
}

}  // namespace weald
