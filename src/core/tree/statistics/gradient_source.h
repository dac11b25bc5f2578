// Gradients that are worked out when they are asked for, a block of rows at a time: a million rows of them take 16 MB,
// and reading those costs no less than the arithmetic.
#pragma once

#include <cstddef>

namespace weald {

class GradientSource {
 public:
  virtual ~GradientSource() = default;
  // Fills g and h with those of rows first … first + n − 1. Any thread may ask.
  virtual void fill(size_t first, size_t n, double* g, double* h) const = 0;
};

}  // namespace weald
