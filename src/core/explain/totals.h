// What columns, and pairs of columns, add to the scores of a block of rows, while it is added up; and where it goes.
//
// Targets are the slots of the columns that the forest reads, then, if pairs are asked for, the pairs of slots i < j.
#pragma once

#include <cstdint>
#include <vector>

#include "core/explain/explained_forest.h"
#include "core/explain/explained_rows.h"
#include "core/explain/row_values.h"

namespace weald {

class Totals {
 public:
  Totals(const ExplainedForest& forest, bool pairs);

  bool pairs() const { return pairs_; }
  int64_t n_outputs() const { return n_outputs_; }
  int64_t n_targets() const { return n_targets_; }
  // The target of two slots, i ≠ j.
  int64_t pair(int64_t i, int64_t j) const { return i < j ? n_slots_ + j * (j - 1) / 2 + i : pair(j, i); }
  // Rows of a block: as many as keep the totals in the second-level cache; a multiple of bundle_rows.
  int64_t rows_of_block() const;

  // Writes n rows, whose totals are at(row, output, target).
  template <class At>
  void write(const ExplainedRows& to, int64_t first_row, int64_t n, At at) const {
    const auto columns = forest_.laid.used.columns();
    const int64_t n_columns = forest_.laid.n_columns;
    std::vector<double> rest(static_cast<size_t>(n_slots_));
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t k = 0; k < n_outputs_; ++k) {
        const int64_t cell = (first_row + i) * n_outputs_ + k;
        for (int64_t s = 0; s < n_slots_; ++s) rest[static_cast<size_t>(s)] = at(i, k, s);
        if (!pairs_) {
          double* out = to.out + cell * n_columns;
          for (int64_t s = 0; s < n_slots_; ++s) out[columns[static_cast<size_t>(s)]] += rest[static_cast<size_t>(s)];
          continue;
        }
        // Halves of the interaction index on both sides; what is left of a column's value stays on the diagonal (S6).
        double* out = to.out + cell * n_columns * n_columns;
        for (int64_t b = 1; b < n_slots_; ++b) {
          for (int64_t a = 0; a < b; ++a) {
            const double half = at(i, k, pair(a, b)) / 2;
            const int64_t row = columns[static_cast<size_t>(a)], column = columns[static_cast<size_t>(b)];
            out[row * n_columns + column] += half;
            out[column * n_columns + row] += half;
            rest[static_cast<size_t>(a)] -= half;
            rest[static_cast<size_t>(b)] -= half;
          }
        }
        for (int64_t s = 0; s < n_slots_; ++s) {
          out[columns[static_cast<size_t>(s)] * (n_columns + 1)] += rest[static_cast<size_t>(s)];
        }
      }
    }
  }

 private:
  const ExplainedForest& forest_;
  bool pairs_;
  int64_t n_slots_, n_outputs_, n_targets_;
};

}  // namespace weald
