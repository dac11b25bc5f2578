// Nearest rows of compressed tables: the products of a query with all fitted rows by way of the columns it stores, in
// float64, and from them ‖x − z‖² = ‖x‖² + ‖z‖² − 2 x·z as a filter; what passes is decided as everywhere.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/pool.h"
#include "core/neighbors/best.h"
#include "core/neighbors/bounds.h"
#include "core/neighbors/distance.h"

namespace weald::neighbors {

class SparseFilter {
 public:
  SparseFilter(const Metric& metric, const Rows& fitted, const Categories& categories);

  // Offers to `best` every fitted row that may be among the nearest of query q. `products` has a number per fitted row,
  // all 0 before and after.
  void search(const Distance& distance, const Rows& queries, int64_t q, bool exclude_self, Best& best,
              std::vector<double>& products) const;

 private:
  Metric metric_;
  Term term_;
  const Rows& fitted_;
  double most_alike_ = 0;       // of categories, for the cosine
  std::vector<int64_t> start_;  // by column: the rows that store it, ascending, and their numbers
  std::vector<int32_t> row_;
  std::vector<double> value_;
  std::vector<double> norm_;  // ‖z‖²
  Scattered order_;           // of blocks of rows
};

}  // namespace weald::neighbors
