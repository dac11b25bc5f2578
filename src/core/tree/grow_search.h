// Grower, second half: the search for the best split of new nodes. Included by grow.h.
#pragma once

#include <iterator>

#include "core/tree/grow.h"

namespace weald {

template <class Rows, class Criterion>
bool Grower<Rows, Criterion>::in_order(int32_t j, size_t n_rows) const {
  if constexpr (by_rows) return true;
  if (options_.search != Search::automatic) return options_.search == Search::order;
  return n_rows < 2 * (static_cast<size_t>(columns_[static_cast<size_t>(j)].n_codes) + 1);
}

// Runs body(i, worker) for i < n: in parallel when there is enough to do, else here.
template <class Rows, class Criterion>
template <class Body>
void Grower<Rows, Criterion>::for_columns(size_t n, size_t work, Body body) {
  constexpr size_t parallel_work = 1 << 15;  // (row, column) pairs; waking a thread costs about as much as 10^4
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

template <class Rows, class Criterion>
void Grower<Rows, Criterion>::search(std::span<Node*> children, Node* parent) {
  if constexpr (by_rows) {
    for (Node* child : children) {
      order_->number_rows(child->begin, child->size());
      child->targets = {*order_, child->begin, child->size()};
    }
  }
  if (all_) return search_all(children, parent);
  for (Node* child : children) search_drawn(*child);
}

// ---- all columns, state carried from parent to children ----------------------------------------------------------

template <class Rows, class Criterion>
void Grower<Rows, Criterion>::search_all(std::span<Node*> children, Node* parent) {
  const std::vector<int32_t>& active = parent == nullptr ? all_columns_ : parent->active;
  size_t n_rows = 0;
  for (const Node* child : children) n_rows += child->size();
  if (!options_.random) take_histogram_memory(children, parent);
  for (auto& worker : workers_) {
    for (auto& best : worker.best) best.column = -1, best.score = -std::numeric_limits<double>::infinity();
  }
  for (auto& flags : constant_) flags.resize(active.size());
  for_columns(active.size(), n_rows * active.size(), [&](size_t i, Worker& worker) {
    if (!options_.random) return search_column(active[i], i, children, parent, worker);
    for (size_t c = 0; c < children.size(); ++c) {
      search_alone(active[i], *children[c], worker, worker.best[c]);
      constant_[c][i] = worker.scan->constant;
    }
  });
  if (sparse_) search_sparse(children, parent);
  for (size_t c = 0; c < children.size(); ++c) {
    Node& child = *children[c];
    for (auto& worker : workers_) {
      if (worker.best[c].found() && worker.best[c].better_than(child.split)) child.split = worker.best[c];
    }
    child.active.clear();
    for (size_t i = 0; i < active.size(); ++i) {
      if (constant_[c][i] == 0) child.active.push_back(active[i]);
    }
  }
}

// The sparse columns: many, of few entries each, so workers take them by the hundred.
template <class Rows, class Criterion>
void Grower<Rows, Criterion>::search_sparse(std::span<Node*> children, Node* parent) {
  const std::vector<SparseRange>& ranges = parent == nullptr ? sparse_columns_ : parent->sparse;
  size_t n_entries = 0;
  for (const SparseRange& range : ranges) n_entries += range.end - range.begin;
  sparse_middle_.resize(ranges.size());
  for (auto& flags : sparse_constant_) flags.resize(ranges.size());
  constexpr size_t together = 256;
  for_columns((ranges.size() + together - 1) / together, n_entries + ranges.size(), [&](size_t block, Worker& worker) {
    const size_t last = std::min(ranges.size(), (block + 1) * together);
    for (size_t i = block * together; i < last; ++i) search_sparse_column(ranges[i], i, children, parent, worker);
  });
  for (size_t c = 0; c < children.size(); ++c) {
    Node& child = *children[c];
    const bool right = parent != nullptr && child.begin != parent->begin;
    child.sparse.clear();
    for (size_t i = 0; i < ranges.size(); ++i) {
      if (sparse_constant_[c][i] != 0) continue;
      SparseRange range = ranges[i];
      if (parent != nullptr) (right ? range.begin : range.end) = sparse_middle_[i];
      child.sparse.push_back(range);
    }
  }
}

template <class Rows, class Criterion>
void Grower<Rows, Criterion>::search_sparse_column(const SparseRange& range, size_t position, std::span<Node*> children,
                                                   const Node* parent, Worker& worker) {
  const std::span<Entry> entries = load_sparse(range, worker);
  size_t n_left = 0;
  if (parent != nullptr) {
    worker.scratch.resize(std::max(worker.scratch.size(), entries.size()));
    n_left = partition_stable(entries.data(), entries.size(), side_.data(), worker.scratch.data(), entry_row);
    sparse_entries_.store(sparse_start_[static_cast<size_t>(range.column)] + range.begin, entries);
    sparse_middle_[position] = range.begin + static_cast<uint32_t>(n_left);
  }
  for (size_t c = 0; c < children.size(); ++c) {
    const Node& child = *children[c];
    const bool right = parent != nullptr && child.begin != parent->begin;
    const auto part = parent == nullptr ? entries : right ? entries.subspan(n_left) : entries.first(n_left);
    sparse_constant_[c][position] = 1;
    if (part.empty()) continue;
    begin_scan(range.column, child, worker);
    scan_listed(range.column, part, child, worker, worker.best[c]);
    sparse_constant_[c][position] = worker.scan->constant;
  }
}

template <class Rows, class Criterion>
std::span<Entry> Grower<Rows, Criterion>::load_sparse(const SparseRange& range, Worker& worker) const {
  const size_t n = range.end - range.begin;
  worker.entries.resize(std::max(worker.entries.size(), n));
  const std::span<Entry> entries{worker.entries.data(), n};
  sparse_entries_.load(sparse_start_[static_cast<size_t>(range.column)] + range.begin, entries);
  return entries;
}

// Entries of all sparse columns in code order, and their ranges in the root. Rows that do not take part are left out.
template <class Rows, class Criterion>
void Grower<Rows, Criterion>::sort_sparse_entries() {
  sparse_start_.resize(columns_.size());
  size_t n_entries = 0, longest = 0;
  uint32_t largest_code = 0;
  for (size_t j = 0; j < columns_.size(); ++j) {
    sparse_start_[j] = n_entries;
    n_entries += columns_[j].n_entries;
    longest = std::max<size_t>(longest, columns_[j].n_entries);
    if (columns_[j].sparse) largest_code = std::max(largest_code, columns_[j].n_codes);
  }
  sparse_entries_.allocate(n_entries, largest_code, static_cast<uint32_t>(side_.size()));
  std::fill(side_.begin(), side_.end(), uint8_t{0});
  for (const uint32_t row : ids_) side_[row] = 1;
  std::vector<Entry> entries(longest), scratch(longest);
  for (size_t j = 0; j < columns_.size(); ++j) {
    const GrowColumn& column = columns_[j];
    if (!column.sparse) continue;
    size_t n = 0;
    with_codes(column.data, column.width, [&](const auto* codes) {
      for (size_t i = 0; i < column.n_entries; ++i) {
        if (side_[column.rows[i]] != 0) entries[n++] = (static_cast<Entry>(codes[i]) << 32) | column.rows[i];
      }
    });
    sort_entries(entries.data(), scratch.data(), n, column.n_codes);
    sparse_entries_.store(sparse_start_[j], {entries.data(), n});
    if (n > 0) sparse_columns_.push_back({static_cast<int32_t>(j), 0, static_cast<uint32_t>(n)});
  }
}

// Memory for the children's histograms: the larger child takes over the parent's (it will become parent − smaller), the
// other gets its own while the budget lasts. A child without memory is built into scratch and forgotten: same integers.
template <class Rows, class Criterion>
void Grower<Rows, Criterion>::take_histogram_memory(std::span<Node*> children, Node* parent) {
  const auto bytes = static_cast<int64_t>(cells_total_ * sizeof(int64_t));
  for (Node* child : children) {
    if (child->size() < smallest_histogram_rows_) continue;
    if (parent != nullptr && parent->cells != nullptr && 2 * child->size() > parent->size()) {
      child->cells = std::move(parent->cells);
      child->inherits = true;
    } else if (cells_in_use_ + bytes <= options_.histogram_bytes) {
      child->cells = std::make_unique_for_overwrite<int64_t[]>(cells_total_);
      cells_in_use_ += bytes;
    }
  }
  if (parent != nullptr && parent->cells != nullptr) {
    parent->cells.reset();
    cells_in_use_ -= bytes;
  }
}

template <class Rows, class Criterion>
void Grower<Rows, Criterion>::search_column(int32_t j, size_t position, std::span<Node*> children, Node* parent,
                                            Worker& worker) {
  const GrowColumn& column = columns_[static_cast<size_t>(j)];
  auto& entries = entries_[static_cast<size_t>(j)];
  const bool parent_in_order = parent != nullptr && in_order(j, parent->size());
  if (parent_in_order) {
    worker.scratch.resize(std::max(worker.scratch.size(), parent->size()));
    partition_stable(entries.get() + parent->begin, parent->size(), side_.data(), worker.scratch.data(), entry_row);
  }
  // A child that builds its own histogram comes before the one that subtracts it.
  const bool swap = children.size() == 2 && children[0]->inherits;
  const int64_t* sibling = nullptr;
  for (size_t turn = 0; turn < children.size(); ++turn) {
    const size_t c = swap ? 1 - turn : turn;
    Node& child = *children[c];
    begin_scan(j, child, worker);
    if (parent_in_order || in_order(j, child.size())) {
      if (!parent_in_order) {
        if (entries == nullptr) entries = std::make_unique_for_overwrite<Entry[]>(ids_.size());
        worker.scratch.resize(std::max(worker.scratch.size(), child.size()));
        order_rows(column.data, column.width, ids_of(child), column.n_codes, entries.get() + child.begin,
                   worker.scratch.data());
      }
      scan_entries(j, {entries.get() + child.begin, child.size()}, child, worker, worker.best[c]);
    } else {
      int64_t* cells = child_cells(j, child, parent, sibling, worker);
      if (!child.inherits) sibling = cells;
      scan_cells(j, cells, child, worker, worker.best[c]);
    }
    constant_[c][position] = worker.scan->constant;
  }
}

// The histogram of column j in `child`: built from its rows, or its parent's less its sibling's.
template <class Rows, class Criterion>
int64_t* Grower<Rows, Criterion>::child_cells(int32_t j, Node& child, const Node* parent, const int64_t* sibling,
                                              Worker& worker) {
  const GrowColumn& column = columns_[static_cast<size_t>(j)];
  const size_t n = cells_of(j);
  const auto build = [&](int64_t* cells, std::span<const uint32_t> ids) {
    std::fill_n(cells, n, 0);
    add_histogram(rows_, column.data, column.width, ids, column.n_codes, counted_, cells);
  };
  const auto scratch = [&](std::vector<int64_t>& cells) {
    cells.resize(std::max(cells.size(), n));
    return cells.data();
  };
  if (!child.inherits) {
    int64_t* cells = child.cells ? child.cells.get() + cell_start_[static_cast<size_t>(j)] : scratch(worker.cells);
    build(cells, ids_of(child));
    return cells;
  }
  int64_t* cells = child.cells.get() + cell_start_[static_cast<size_t>(j)];
  if (sibling == nullptr) {
    const bool child_is_left = child.begin == parent->begin;
    const std::span<const uint32_t> others{ids_.data() + (child_is_left ? child.end : parent->begin),
                                           parent->size() - child.size()};
    int64_t* other_cells = scratch(worker.sibling_cells);
    build(other_cells, others);
    sibling = other_cells;
  }
  subtract_histogram(cells, sibling, n);
  return cells;
}

// ---- some columns, drawn anew in every node ----------------------------------------------------------------------

template <class Rows, class Criterion>
void Grower<Rows, Criterion>::search_drawn(Node& node) {
  std::vector<std::pair<uint64_t, int32_t>> drawn(columns_.size());
  for (size_t j = 0; j < columns_.size(); ++j) {
    drawn[j] = {draw(options_.seed, Purpose::node_columns, node.path, j), static_cast<int32_t>(j)};
  }
  const auto n_first = static_cast<size_t>(options_.max_columns);
  std::nth_element(drawn.begin(), drawn.begin() + static_cast<std::ptrdiff_t>(n_first) - 1, drawn.end());
  for (auto& worker : workers_) worker.best[0] = Split{};
  for_columns(n_first, n_first * node.size(),
              [&](size_t i, Worker& worker) { search_alone(drawn[i].second, node, worker, worker.best[0]); });
  for (auto& worker : workers_) {
    if (worker.best[0].found() && worker.best[0].better_than(node.split)) node.split = worker.best[0];
  }
  if (node.split.found()) return;
  // Nothing valid among them: go on, one column at a time, until something is.
  std::sort(drawn.begin() + static_cast<std::ptrdiff_t>(n_first), drawn.end());
  for (size_t i = n_first; i < drawn.size() && !node.split.found(); ++i) {
    run_.check();
    workers_[0].best[0] = Split{};
    search_alone(drawn[i].second, node, workers_[0], workers_[0].best[0]);
    node.split = workers_[0].best[0];
  }
}

template <class Rows, class Criterion>
void Grower<Rows, Criterion>::search_alone(int32_t j, const Node& node, Worker& worker, Split& best) {
  const GrowColumn& column = columns_[static_cast<size_t>(j)];
  begin_scan(j, node, worker);
  if (column.sparse) return scan_listed(j, collect_sparse(j, node, worker), node, worker, best);
  if constexpr (!by_rows) {
    if (options_.random && column.kind != ColumnKind::categorical) return search_random(j, node, worker, best);
  }
  if (in_order(j, node.size())) {
    worker.entries.resize(std::max(worker.entries.size(), node.size()));
    worker.scratch.resize(std::max(worker.scratch.size(), node.size()));
    order_rows(column.data, column.width, ids_of(node), column.n_codes, worker.entries.data(), worker.scratch.data());
    scan_entries(j, {worker.entries.data(), node.size()}, node, worker, best);
  } else {
    worker.cells.assign(cells_of(j), 0);
    add_histogram(rows_, column.data, column.width, ids_of(node), column.n_codes, counted_, worker.cells.data());
    scan_cells(j, worker.cells.data(), node, worker, best);
  }
}

// The entries of a sparse column among the rows of a node, in code order: by looking up the node's rows in the column,
// or by looking through the column, whichever is less.
template <class Rows, class Criterion>
std::span<Entry> Grower<Rows, Criterion>::collect_sparse(int32_t j, const Node& node, Worker& worker) {
  const GrowColumn& column = columns_[static_cast<size_t>(j)];
  const auto ids = ids_of(node);
  const auto steps = static_cast<size_t>(std::bit_width(column.n_entries));
  const size_t room = std::min<size_t>(column.n_entries, ids.size());
  worker.entries.resize(std::max(worker.entries.size(), room));
  worker.scratch.resize(std::max(worker.scratch.size(), room));
  size_t n = 0;
  with_codes(column.data, column.width, [&](const auto* codes) {
    const auto take = [&](size_t i) { worker.entries[n++] = (static_cast<Entry>(codes[i]) << 32) | column.rows[i]; };
    if (ids.size() * steps < column.n_entries) {
      const uint32_t* at = column.rows;
      const uint32_t* end = column.rows + column.n_entries;
      for (const uint32_t row : ids) {
        at = std::lower_bound(at, end, row);
        if (at != end && *at == row) take(static_cast<size_t>(at - column.rows));
      }
    } else {
      for (size_t i = 0; i < column.n_entries; ++i) {
        if (node_of_row_[column.rows[i]] == node.record) take(i);
      }
    }
  });
  sort_entries(worker.entries.data(), worker.scratch.data(), n, column.n_codes);
  return {worker.entries.data(), n};
}

// ---- one column of one node --------------------------------------------------------------------------------------

template <class Rows, class Criterion>
void Grower<Rows, Criterion>::begin_scan(int32_t j, const Node& node, Worker& worker) {
  Constraint constraint{0, node.lower, node.upper};
  if (!options_.monotone.empty()) constraint.direction = options_.monotone[static_cast<size_t>(j)];
  if constexpr (by_rows) {
    worker.scan->begin(node.targets, constraint);
  } else {
    worker.scan->begin(lanes_of(node.record), static_cast<int64_t>(node.size()), constraint);
  }
}

template <class Rows, class Criterion>
void Grower<Rows, Criterion>::scan_entries(int32_t j, std::span<const Entry> entries, const Node& node, Worker& worker,
                                           Split& best) {
  if constexpr (by_rows) {
    scan_targets(j, entries, node, worker, best);
  } else if (columns_[static_cast<size_t>(j)].kind == ColumnKind::categorical) {
    collect_order(rows_, entries, *worker.scan, worker.present);
    options_.random ? scan_random_categories(worker.present, j, word_of(j, node), *worker.scan, best)
                    : scan_categories(worker.present, j, *worker.scan, best);
  } else {
    scan_order(rows_, entries, *worker.scan);
    worker.scan->offer(j, best);
  }
}

template <class Rows, class Criterion>
void Grower<Rows, Criterion>::scan_cells(int32_t j, const int64_t* cells, const Node& node, Worker& worker,
                                         Split& best) {
  if constexpr (!by_rows) {
    const uint32_t n_codes = columns_[static_cast<size_t>(j)].n_codes;
    if (columns_[static_cast<size_t>(j)].kind == ColumnKind::categorical) {
      collect_histogram(cells, n_codes, n_lanes_, counted_, *worker.scan, worker.present);
      options_.random ? scan_random_categories(worker.present, j, word_of(j, node), *worker.scan, best)
                      : scan_categories(worker.present, j, *worker.scan, best);
    } else {
      scan_histogram(cells, n_codes, n_lanes_, counted_, *worker.scan);
      worker.scan->offer(j, best);
    }
  }
}

// A sparse column from its listed entries, in code order.
template <class Rows, class Criterion>
void Grower<Rows, Criterion>::scan_listed(int32_t j, std::span<const Entry> entries, const Node& node, Worker& worker,
                                          Split& best) {
  const GrowColumn& column = columns_[static_cast<size_t>(j)];
  if constexpr (by_rows) {
    worker.scan->constant = entries.empty();
    if (entries.empty()) return;
    list_all_rows(j, entries, node, worker.all_rows);
    scan_targets(j, worker.all_rows, node, worker, best);
  } else if (options_.random) {
    const DrawnCut cut = scan_random_sparse(rows_, entries, column.default_code, column.kind, column.marks,
                                            word_of(j, node), *worker.scan, static_cast<int64_t>(node.size()));
    offer_drawn(j, cut, worker, best);
  } else {
    scan_sparse(rows_, entries, column.default_code, *worker.scan, static_cast<int64_t>(node.size()));
    worker.scan->offer(j, best);
  }
}

// All rows of the node in code order: the listed ones and, at their place, those of the default code.
template <class Rows, class Criterion>
void Grower<Rows, Criterion>::list_all_rows(int32_t j, std::span<const Entry> listed, const Node& node,
                                            std::vector<Entry>& out) const {
  const uint32_t default_code = columns_[static_cast<size_t>(j)].default_code;
  const auto ids = ids_of(node);
  std::vector<uint32_t> rows, others;
  for (const Entry entry : listed) rows.push_back(entry_row(entry));
  std::sort(rows.begin(), rows.end());
  std::set_difference(ids.begin(), ids.end(), rows.begin(), rows.end(), std::back_inserter(others));
  const auto at =
      std::find_if(listed.begin(), listed.end(), [&](Entry entry) { return entry_code(entry) > default_code; });
  out.assign(listed.begin(), at);
  for (const uint32_t row : others) out.push_back((static_cast<Entry>(default_code) << 32) | row);
  out.insert(out.end(), at, listed.end());
}

// Numeric or ordinal column, one candidate.
template <class Rows, class Criterion>
void Grower<Rows, Criterion>::search_random(int32_t j, const Node& node, Worker& worker, Split& best) {
  if constexpr (!by_rows) {
    const GrowColumn& column = columns_[static_cast<size_t>(j)];
    const DrawnCut cut = with_codes(column.data, column.width, [&](const auto* codes) {
      return scan_random(rows_, codes, ids_of(node), column.kind, column.marks, word_of(j, node), *worker.scan);
    });
    offer_drawn(j, cut, worker, best);
  }
}

template <class Rows, class Criterion>
void Grower<Rows, Criterion>::offer_drawn(int32_t j, const DrawnCut& cut, Worker& worker, Split& best) {
  if (!worker.scan->offer(j, best)) return;
  best.drawn = columns_[static_cast<size_t>(j)].kind == ColumnKind::exact && cut.next != 0;
  best.threshold = cut.threshold;
}

// A column under absolute error: all rows of the node in code order.
template <class Rows, class Criterion>
void Grower<Rows, Criterion>::scan_targets(int32_t j, std::span<const Entry> entries, const Node& node, Worker& worker,
                                           Split& best) {
  if constexpr (by_rows) {
    const GrowColumn& column = columns_[static_cast<size_t>(j)];
    const bool categorical = column.kind == ColumnKind::categorical;
    ColumnScan& scan = *worker.scan;
    if (!options_.random) {
      categorical ? scan.scan_categories(entries) : scan.scan(entries);
      scan.offer(j, best);
      return;
    }
    const uint64_t word = word_of(j, node);
    if (categorical) {
      scan.scan_drawn_set(entries, word);
      scan.offer(j, best);
      return;
    }
    CodeRange range;
    for (const Entry entry : entries) range.include(entry_code(entry));
    scan.constant = range.constant();
    if (scan.constant) return;
    const DrawnCut cut = range.draw(column.kind, column.marks, word);
    scan.scan_one(entries, cut.code);
    offer_drawn(j, cut, worker, best);
  }
}

}  // namespace weald
