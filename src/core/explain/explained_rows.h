// What is asked of an explanation: which rows stand for what is not known, and where the values go.
#pragma once

#include <cstdint>
#include <span>

#include "core/predict/fill_rows.h"

namespace weald {

// Rows that columns are taken from where they are not known, and the share of each in the mean.
struct Background {
  const PredictTable* table = nullptr;  // null: path-dependent values
  std::span<const double> weight;
};

// (n_rows, n_outputs, n_columns), of pairs (n_rows, n_outputs, n_columns, n_columns): zeros that are filled in.
struct ExplainedRows {
  double* out;
  bool pairs;
};

}  // namespace weald
