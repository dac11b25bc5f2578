#include "core/inspection/proximity.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace weald {

namespace {

constexpr int64_t block_rows = 64;

struct Neighbour {
  double share;
  int32_t row;
};

// Two shares with fewer than 2^26 trees are equal as float64 only if they are equal, so this order is exact.
bool nearer(const Neighbour& a, const Neighbour& b) {
  return a.share > b.share || (a.share == b.share && a.row < b.row);
}

void check(const LeafTable& leaves, const LeafRowsView& groups) {
  const auto n_trees = static_cast<size_t>(leaves.n_trees);
  require(leaves.nodes.size() == static_cast<size_t>(leaves.n_rows) * n_trees, "one node per row and tree");
  require(groups.node_start.size() == n_trees + 1, "every tree has its first node");
  require(groups.start.size() == static_cast<size_t>(groups.node_start.back()) + n_trees, "every node has its rows");
  require(groups.rows.size() == static_cast<size_t>(groups.n_rows) * n_trees, "every tree has room for all rows");
}

// How often one row meets each of the others; only those it has met are looked at again.
class Meetings {
 public:
  void prepare(const LeafRowsView& groups) {
    if (!count_.empty()) return;
    count_.assign(static_cast<size_t>(groups.n_rows), 0);
    met_.resize(static_cast<size_t>(groups.n_rows) + 1);
    ends_.resize(groups.node_start.size() - 1);
  }

  // Counts the meetings of a row; the last row's must have been cleared.
  void gather(const int32_t* nodes, const LeafRowsView& groups) {
    // Where the lists are, before any of them is read: the look-ups then wait for memory side by side.
    const size_t n_trees = ends_.size();
    size_t n_lists = 0;
    for (size_t t = 0; t < n_trees; ++t) {
      if (nodes[t] < 0) continue;
      const auto node = static_cast<int64_t>(nodes[t]);
      require(node < groups.node_start[t + 1] - groups.node_start[t], "a node of the tree");
      const auto at = static_cast<size_t>(groups.node_start[t] + node) + t;
      const int32_t* rows = groups.rows.data() + static_cast<int64_t>(t) * groups.n_rows;
      ends_[n_lists] = {rows + groups.start[at], rows + groups.start[at + 1]};
      __builtin_prefetch(ends_[n_lists].first);
      ++n_lists;
    }
    for (size_t i = 0; i < n_lists; ++i) {
      for (const int32_t* row = ends_[i].first; row != ends_[i].last; ++row) {
        met_[n_met_] = *row;
        n_met_ += count_[static_cast<size_t>(*row)]++ == 0 ? 1 : 0;
      }
    }
  }

  std::span<const int32_t> met() const { return {met_.data(), n_met_}; }
  uint32_t count(int32_t row) const { return count_[static_cast<size_t>(row)]; }
  void clear() {
    for (const int32_t row : met()) count_[static_cast<size_t>(row)] = 0;
    n_met_ = 0;
  }

  std::vector<Neighbour> candidates;

 private:
  struct List {
    const int32_t* first;
    const int32_t* last;
  };
  std::vector<uint32_t> count_;
  std::vector<int32_t> met_;
  size_t n_met_ = 0;
  std::vector<List> ends_;
};

// In how many trees two rows both count.
class Shared {
 public:
  Shared(TreeSets sets, const LeafTable& leaves)
      : sets_(sets),
        words_((static_cast<size_t>(leaves.n_trees) + 63) / 64),
        all_(static_cast<double>(leaves.n_trees)) {
    require(sets.empty() || sets.size() == static_cast<size_t>(leaves.n_rows) * words_, "one set of trees per row");
  }
  double trees(int64_t a, int64_t b) const {
    if (sets_.empty()) return all_;
    const uint64_t* one = sets_.data() + static_cast<size_t>(a) * words_;
    const uint64_t* other = sets_.data() + static_cast<size_t>(b) * words_;
    int n = 0;
    for (size_t w = 0; w < words_; ++w) n += std::popcount(one[w] & other[w]);
    return static_cast<double>(n);
  }

 private:
  TreeSets sets_;
  size_t words_;
  double all_;
};

// body(row, its meetings), for every row of `leaves`.
template <class Body>
void for_rows(const LeafTable& leaves, const LeafRowsView& groups, Run& run, Body&& body) {
  check(leaves, groups);
  std::vector<Meetings> workers(static_cast<size_t>(run.n_threads()));
  parallel_for(run, (leaves.n_rows + block_rows - 1) / block_rows, [&](int64_t block, int worker) {
    Meetings& meetings = workers[static_cast<size_t>(worker)];
    meetings.prepare(groups);
    const int64_t last = std::min(leaves.n_rows, (block + 1) * block_rows);
    for (int64_t i = block * block_rows; i < last; ++i) {
      run.check();
      meetings.gather(leaves.row(i), groups);
      body(i, meetings);
      meetings.clear();
    }
  });
}

}  // namespace

LeafRows leaf_rows(const LeafTable& leaves, std::span<const int64_t> node_start, Run& run) {
  const auto n_trees = static_cast<size_t>(leaves.n_trees);
  require(node_start.size() == n_trees + 1, "every tree has its first node");
  LeafRows out;
  out.start.assign(static_cast<size_t>(node_start.back()) + n_trees, 0);
  out.rows.resize(static_cast<size_t>(leaves.n_rows) * n_trees);
  parallel_for(run, leaves.n_trees, [&](int64_t t, int) {
    const int64_t n_nodes = node_start[static_cast<size_t>(t) + 1] - node_start[static_cast<size_t>(t)];
    int32_t* start = out.start.data() + node_start[static_cast<size_t>(t)] + t;
    const int32_t* node = leaves.nodes.data() + t;
    for (int64_t i = 0; i < leaves.n_rows; ++i, node += leaves.n_trees) {
      require(*node < n_nodes, "a node of the tree");
      if (*node >= 0) ++start[*node + 1];
    }
    for (int64_t v = 0; v < n_nodes; ++v) start[v + 1] += start[v];
    // Filling moves every start to the end of its list, which is the start of the next: then they move back by one.
    int32_t* rows = out.rows.data() + t * leaves.n_rows;
    node = leaves.nodes.data() + t;
    for (int64_t i = 0; i < leaves.n_rows; ++i, node += leaves.n_trees) {
      if (*node >= 0) rows[start[*node]++] = static_cast<int32_t>(i);
    }
    std::copy_backward(start, start + n_nodes, start + n_nodes + 1);
    start[0] = 0;
  });
  return out;
}

Neighbours nearest_rows(const LeafTable& leaves, const LeafRowsView& groups, TreeSets sets, int64_t k, Run& run) {
  require(leaves.n_rows == groups.n_rows && k >= 1, "rows are compared with themselves");
  const Shared shared(sets, leaves);
  const auto n = static_cast<size_t>(leaves.n_rows), width = static_cast<size_t>(k);
  Neighbours out{std::vector<int32_t>(n * width, -1), std::vector<double>(n * width, 0), std::vector<int32_t>(n, 0)};
  for_rows(leaves, groups, run, [&](int64_t i, Meetings& meetings) {
    std::vector<Neighbour>& found = meetings.candidates;
    found.clear();
    for (const int32_t row : meetings.met()) {
      if (row != i) found.push_back({static_cast<double>(meetings.count(row)) / shared.trees(i, row), row});
    }
    if (found.size() > width) {
      std::nth_element(found.begin(), found.begin() + k, found.end(), nearer);
      found.resize(width);
    }
    std::sort(found.begin(), found.end(), nearer);
    const auto at = static_cast<size_t>(i);
    out.found[at] = static_cast<int32_t>(found.size());
    for (size_t rank = 0; rank < found.size(); ++rank) {
      out.row[at * width + rank] = found[rank].row;
      out.share[at * width + rank] = found[rank].share;
    }
  });
  return out;
}

std::vector<double> proximity_matrix(const LeafTable& leaves, const LeafRowsView& groups, TreeSets sets, Run& run) {
  require(sets.empty() || leaves.n_rows == groups.n_rows, "sets are of the rows on both sides");
  const Shared shared(sets, leaves);
  const auto n = static_cast<size_t>(groups.n_rows);
  std::vector<double> out(static_cast<size_t>(leaves.n_rows) * n, 0);
  for_rows(leaves, groups, run, [&](int64_t i, const Meetings& meetings) {
    double* line = out.data() + static_cast<size_t>(i) * n;
    if (!sets.empty()) {
      for (size_t j = 0; j < n; ++j) {
        if (shared.trees(i, static_cast<int64_t>(j)) == 0) line[j] = std::numeric_limits<double>::quiet_NaN();
      }
    }
    for (const int32_t row : meetings.met()) {
      line[row] = static_cast<double>(meetings.count(row)) / shared.trees(i, row);
    }
  });
  return out;
}

std::vector<double> squared_proximities(const LeafTable& leaves, const LeafRowsView& groups,
                                        std::span<const int32_t> group, Run& run) {
  require(leaves.n_rows == groups.n_rows && group.size() == static_cast<size_t>(leaves.n_rows), "one group per row");
  std::vector<double> out(group.size(), 0);
  const double trees = static_cast<double>(leaves.n_trees);
  for_rows(leaves, groups, run, [&](int64_t i, const Meetings& meetings) {
    uint64_t sum = 0;
    for (const int32_t row : meetings.met()) {
      const uint64_t count = meetings.count(row);
      if (group[static_cast<size_t>(row)] == group[static_cast<size_t>(i)]) sum += count * count;
    }
    out[static_cast<size_t>(i)] = static_cast<double>(sum) / (trees * trees);
  });
  return out;
}

}  // namespace weald
