// What a descent still looks at, in an order drawn anew for each pass: a function of the seed and the pass alone.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/random.h"

namespace weald::linear {

class Order {
 public:
  Order(size_t n, uint64_t seed, Purpose purpose) : places_(n), n_(n), seed_(seed), purpose_(purpose) {
    std::iota(places_.begin(), places_.end(), int32_t{0});
  }
  void shuffle(int64_t pass) {
    const Draws draws(seed_, purpose_, static_cast<uint64_t>(pass));
    for (size_t s = 0; s + 1 < n_; ++s) {
      const auto drawn = static_cast<size_t>((static_cast<unsigned __int128>(draws(s)) * (n_ - s)) >> 64);
      std::swap(places_[s], places_[s + drawn]);
    }
  }
  size_t count() const { return n_; }
  int64_t operator[](size_t s) const { return places_[s]; }
  void set_aside(size_t s) { std::swap(places_[s], places_[--n_]); }
  bool whole() const { return n_ == places_.size(); }
  void take_all() { n_ = places_.size(); }

 private:
  std::vector<int32_t> places_;
  size_t n_;
  uint64_t seed_;
  Purpose purpose_;
};

}  // namespace weald::linear
