#include "core/neighbors/index.h"

#include <algorithm>
#include <numeric>

#include "core/base/check.h"

namespace weald::neighbors {

namespace {

// Queries that one thread takes at a time; of trees and compressed rows.
constexpr int64_t query_block = 64;

void write_nearest(const Metric& metric, std::span<const Neighbor> nearest, double* out_distance, int64_t* out_row) {
  for (size_t i = 0; i < nearest.size(); ++i) {
    out_distance[i] = distance_of(metric, nearest[i].sum);
    out_row[i] = nearest[i].row;
  }
}

// Room for the k nearest of some queries.
class Places {
 public:
  Places(int64_t n_queries, int64_t k)
      : k_(static_cast<size_t>(k)), found_(static_cast<size_t>(n_queries * k)), best_(static_cast<size_t>(n_queries)) {
    for (size_t j = 0; j < best_.size(); ++j) best_[j] = Best(std::span(found_).subspan(j * k_, k_));
  }
  std::span<Best> best() { return best_; }
  void write(size_t j, const Metric& metric, double* out_distance, int64_t* out_row) {
    write_nearest(metric, best_[j].sorted(), out_distance, out_row);
  }

 private:
  size_t k_;
  std::vector<Neighbor> found_;
  std::vector<Best> best_;
};

// Queries of a block of tiles: fewer if there are few, so that all threads have some.
int64_t dense_block(int64_t n_queries) {
  const int64_t groups = std::clamp<int64_t>(n_queries / (16 * body::group), 1, DenseFilter::block / body::group);
  return groups * body::group;
}

}  // namespace

Index::Index(const Metric& metric, const Rows& fitted, const Categories& categories, bool tree, int64_t leaf_size,
             Run& run)
    : metric_(metric), fitted_(fitted), categories_(categories) {
  if (fitted.points.sparse) {
    sparse_ = std::make_unique<SparseFilter>(metric, fitted_, categories_);
  } else if (tree && metric.rule != Rule::cosine && fitted.points.n_columns > 0) {
    tree_ = std::make_unique<Tree>(metric, fitted_, leaf_size, run);
  } else {
    dense_ = std::make_unique<DenseFilter>(metric, fitted_, categories_, run);
  }
}

void Index::search(const Rows& queries, int64_t k, bool exclude_self, Run& run, double* out_distance,
                   int64_t* out_row) const {
  require(queries.points.n_columns == fitted_.points.n_columns && queries.points.sparse == fitted_.points.sparse,
          "queries have the columns of the fitted rows");
  require(!exclude_self || queries.n() == fitted_.n(), "only the fitted rows have themselves to exclude");
  require(k >= 1 && k + (exclude_self ? 1 : 0) <= fitted_.n(), "there are as many rows as neighbours");
  const Distance distance(metric_, queries, fitted_, categories_);
  if (tree_ != nullptr) return search_tree(distance, queries, k, exclude_self, run, out_distance, out_row);
  if (exclude_self && dense_ != nullptr && dense_->can_search_self(k, run.n_threads())) {
    return dense_->search_self(distance, k, run, [&](int64_t row, std::span<const Neighbor> nearest) {
      write_nearest(metric_, nearest, out_distance + row * k, out_row + row * k);
    });
  }
  const int64_t n = queries.n(), size = dense_ != nullptr ? dense_block(n) : query_block;
  std::vector<DenseFilter::Scratch> scratch(static_cast<size_t>(run.n_threads()));
  std::vector<std::vector<double>> products(static_cast<size_t>(run.n_threads()));
  parallel_for(run, (n + size - 1) / size, [&](int64_t block, int worker) {
    const int64_t first = block * size, last = std::min(first + size, n);
    Places places(last - first, k);
    if (dense_ != nullptr) {
      dense_->search(distance, queries, first, last, exclude_self, places.best(), scratch[static_cast<size_t>(worker)],
                     run);
    } else {
      std::vector<double>& sums = products[static_cast<size_t>(worker)];
      sums.resize(static_cast<size_t>(fitted_.n()));
      for (int64_t q = first; q < last; ++q) {
        run.check();
        sparse_->search(distance, queries, q, exclude_self, places.best()[static_cast<size_t>(q - first)], sums);
      }
    }
    for (int64_t q = first; q < last; ++q) {
      places.write(static_cast<size_t>(q - first), metric_, out_distance + q * k, out_row + q * k);
    }
  });
}

// Queries in the order of the leaves they fall into: those that follow each other look at the same nodes.
void Index::search_tree(const Distance& distance, const Rows& queries, int64_t k, bool exclude_self, Run& run,
                        double* out_distance, int64_t* out_row) const {
  const int64_t n = queries.n(), n_blocks = (n + query_block - 1) / query_block;
  std::vector<std::pair<int64_t, int64_t>> order(static_cast<size_t>(n));
  parallel_for(run, n_blocks, [&](int64_t block, int) {
    for (int64_t q = block * query_block; q < std::min((block + 1) * query_block, n); ++q) {
      order[static_cast<size_t>(q)] = {tree_->leaf_of(queries.points.dense + q * queries.points.n_columns), q};
    }
  });
  std::sort(order.begin(), order.end());
  parallel_for(run, n_blocks, [&](int64_t block, int) {
    run.check();
    const int64_t first = block * query_block, last = std::min(first + query_block, n);
    Places places(last - first, k);
    for (int64_t j = first; j < last; ++j) {
      const int64_t q = order[static_cast<size_t>(j)].second;
      tree_->search(distance, queries, q, exclude_self, places.best()[static_cast<size_t>(j - first)]);
      places.write(static_cast<size_t>(j - first), metric_, out_distance + q * k, out_row + q * k);
    }
  });
}

}  // namespace weald::neighbors
