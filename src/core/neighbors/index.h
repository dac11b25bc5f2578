// The nearest rows of tables. An index holds the fitted rows in the form that finds them fastest: a kd-tree for few
// columns, tiles for many, columns for compressed rows. All give the same rows and the same distances to the bit, for
// any number of threads: those of float64 for all pairs, ties by row number.
#pragma once

#include <cstdint>
#include <memory>

#include "core/base/pool.h"
#include "core/neighbors/dense_filter.h"
#include "core/neighbors/rows.h"
#include "core/neighbors/sparse_filter.h"
#include "core/neighbors/tree.h"

namespace weald::neighbors {

class Index {
 public:
  // `fitted` and `categories` must outlive the index; a tree is for dense rows and not for the cosine.
  Index(const Metric& metric, const Rows& fitted, const Categories& categories, bool tree, int64_t leaf_size, Run& run);

  // The k nearest rows of each query, nearest first: out_distance and out_row are (n_queries, k). With `exclude_self`
  // the queries are the fitted rows, and none is its own neighbour. There are at least k (and one more) fitted rows.
  void search(const Rows& queries, int64_t k, bool exclude_self, Run& run, double* out_distance,
              int64_t* out_row) const;

 private:
  void search_tree(const Distance& distance, const Rows& queries, int64_t k, bool exclude_self, Run& run,
                   double* out_distance, int64_t* out_row) const;

  Metric metric_;
  Rows fitted_;
  Categories categories_;
  std::unique_ptr<Tree> tree_;
  std::unique_ptr<DenseFilter> dense_;
  std::unique_ptr<SparseFilter> sparse_;
};

}  // namespace weald::neighbors
