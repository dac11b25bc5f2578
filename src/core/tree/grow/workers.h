// The threads of one growing tree: what each has for itself, and how work is handed out.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/pool.h"
#include "core/tree/grow/column_search.h"
#include "core/tree/rows/order.h"
#include "core/tree/split/split.h"

namespace weald {

struct Worker {
  size_t number = 0;
  std::unique_ptr<ColumnSearch> search;
  std::vector<Entry> entries, scratch;
  std::vector<int64_t> cells, sibling_cells;
  std::vector<uint64_t> words;                      // of the columns of one group
  std::vector<std::pair<double, uint32_t>> values;  // of a combination, with their rows
  std::vector<uint64_t> bits;                       // of ranks, all 0 between columns
  std::vector<uint8_t> usable;                      // of some flags
  CategoryRules rules;                              // of the column being searched
  Split best[2];
};

class Workers {
 public:
  explicit Workers(Run& run) : run_(run), workers_(static_cast<size_t>(run.n_threads())) {
    for (size_t i = 0; i < workers_.size(); ++i) workers_[i].number = i;
  }

  Run& run() const { return run_; }
  size_t size() const { return workers_.size(); }
  Worker& first() { return workers_[0]; }
  auto begin() { return workers_.begin(); }
  auto end() { return workers_.end(); }

  // Runs body(i, worker) for i < n: in parallel when there is enough to do, else here.
  template <class Body>
  void for_each(size_t n, size_t work, Body body) {
    constexpr size_t parallel_work = 1 << 14;  // (row, column) pairs; waking a thread costs about as much as 10^4
    if (run_.n_threads() > 1 && work >= parallel_work) {
      parallel_for(run_, static_cast<int64_t>(n),
                   [&](int64_t i, int worker) { body(static_cast<size_t>(i), workers_[static_cast<size_t>(worker)]); });
    } else {
      run_.check();
      for (size_t i = 0; i < n; ++i) {
        if (work >= parallel_work) run_.check();
        body(i, workers_[0]);
      }
    }
  }

 private:
  Run& run_;
  std::vector<Worker> workers_;
};

}  // namespace weald
