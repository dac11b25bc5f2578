// The patterns of background rows at a leaf whose columns are too many for a table: those that occur, and what they
// make of a row's pattern by the closed form of the integrals (equation S10 of docs/methods/explain.md).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace weald {

// ∫ tⁱ (1 − t)ʲ dt over [0, 1] = i! j! / (i + j + 1)!, for i, j < size.
class BetaTable {
 public:
  explicit BetaTable(size_t size);
  double operator()(size_t i, size_t j) const { return value_[i * size_ + j]; }

 private:
  size_t size_;
  std::vector<double> value_;
};

class BackgroundPatterns {
 public:
  void add(uint64_t pattern, double weight) { rows_.push_back({pattern, weight}); }
  // Brings equal patterns together; their weights are added in the order in which they came.
  void close();

  // out += what a leaf of value 1 adds by each of its d columns, then, if asked for, by each pair (leaf_table.h), to a
  // row of this pattern.
  void explain(uint64_t pattern, size_t d, bool pairs, const BetaTable& beta, std::span<double> out) const;

 private:
  struct Row {
    uint64_t pattern;
    double weight;
  };
  struct Asked;
  void descend(size_t begin, size_t end, int bit, Asked& asked) const;

  std::vector<Row> rows_;
};

}  // namespace weald
