// Grower, second part: the search for the best split of new nodes. Included by grow.h.
#pragma once

#include "core/tree/grow/grower.h"

namespace weald {

template <class Rows, class Criterion>
bool Grower<Rows, Criterion>::in_order(int32_t j, size_t n_rows) const {
  if constexpr (by_rows) return true;
  if (search_ != Search::automatic) return search_ == Search::order;
  return n_rows < rows_for_histogram(j);
}

template <class Rows, class Criterion>
size_t Grower<Rows, Criterion>::rows_for_histogram(int32_t j) const {
  const size_t cells = size_t{columns_[static_cast<size_t>(j)].n_codes} + 1;
  return 2 * cells * (compacts && options_.compact_lanes ? static_cast<size_t>(n_lanes_) : 1);
}

// Runs body(i, worker) for i < n: in parallel when there is enough to do, else here.
template <class Rows, class Criterion>
template <class Body>
void Grower<Rows, Criterion>::for_columns(size_t n, size_t work, Body body) {
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

template <class Rows, class Criterion>
void Grower<Rows, Criterion>::search(std::span<Node*> children, Node* parent) {
  if constexpr (by_rows) {
    for (Node* child : children) {
      order_->number_rows(child->begin, child->size());
      child->targets = {*order_, child->begin, child->size()};
    }
  }
  if (column_rules_.vary()) {
    for (Node* child : children) child->allowed = column_rules_.allowed(child->path, child->depth, child->used);
  }
  if (all_) {
    search_all(children, parent);
  } else {
    for (Node* child : children) options_.combined_columns > 0 ? search_combined(*child) : search_drawn(*child);
  }
  if constexpr (by_rows) {
    for (Node* child : children) child->targets.release();
  }
}

// ---- all columns, state carried from parent to children ----------------------------------------------------------

template <class Rows, class Criterion>
void Grower<Rows, Criterion>::search_all(std::span<Node*> children, Node* parent) {
  const std::vector<int32_t>& active = parent == nullptr ? all_columns_ : parent->active;
  size_t n_rows = 0;
  for (const Node* child : children) n_rows += child->size();
  if (!options_.random) take_histogram_memory(children, parent);
  for (size_t c = 0; c < children.size(); ++c) {
    const Ties ties = ties_of(*children[c]);
    for (auto& worker : workers_) worker.best[c].clear(ties);
  }
  for (auto& flags : constant_) flags.resize(active.size());
  if (!groups_.empty()) {
    search_groups(children, parent, active);
    return take_best(children, active);
  }
  // Columns by the dozen where there are thousands: taking one costs as much as scanning a short one.
  constexpr size_t most_parts = 64;
  const size_t together = active.size() / most_parts + 1;
  const size_t work = tiles_ == nullptr ? n_rows * active.size() : 2 * children.size() * cells_total_;
  for_columns((active.size() + together - 1) / together, work, [&](size_t part, Worker& worker) {
    const size_t last = std::min(active.size(), (part + 1) * together);
    for (size_t i = part * together; i < last; ++i) {
      if (!options_.random) {
        search_column(active[i], i, children, parent, worker);
        continue;
      }
      for (size_t c = 0; c < children.size(); ++c) {
        search_alone(active[i], *children[c], worker, worker.best[c]);
        constant_[c][i] = worker.scan->constant;
      }
    }
  });
  if (has_flags()) search_flags(children, parent);
  if (sparse_) search_sparse(children, parent);
  take_best(children, active);
}

// The best splits of all workers, and the columns that are not constant in the children.
template <class Rows, class Criterion>
void Grower<Rows, Criterion>::take_best(std::span<Node*> children, const std::vector<int32_t>& active) {
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
      child->cells = new_cells();
      cells_in_use_ += bytes;
    }
  }
  if (parent != nullptr && parent->cells != nullptr) {
    parent->cells.reset();
    cells_in_use_ -= bytes;
  }
}

template <class Rows, class Criterion>
auto Grower<Rows, Criterion>::new_cells() -> Cells {
  if (buffers_ == nullptr) return Cells(new int64_t[cells_total_]);
  auto& spare = buffers_->spare_cells;
  if (spare.empty()) {
    spare.reserve(spare.capacity() + 1);  // none is there, so all that were made are out and come back
    return Cells(new int64_t[cells_total_], ReturnCells{&spare});
  }
  Cells cells(spare.back().release(), ReturnCells{&spare});
  spare.pop_back();
  return cells;
}

// The rows of a node in the order of a column. Of all rows it is kept from tree to tree.
template <class Rows, class Criterion>
void Grower<Rows, Criterion>::put_in_order(int32_t j, const Node& node, Entry* to, Worker& worker) {
  const GrowColumn& column = columns_[static_cast<size_t>(j)];
  std::unique_ptr<Entry[]>* kept = nullptr;
  if (dense_order_ != nullptr && node.size() == n_rows_) kept = &dense_order_->of_column[static_cast<size_t>(j)];
  if (kept != nullptr && *kept != nullptr) {
    std::copy_n(kept->get(), node.size(), to);
    return;
  }
  worker.scratch.resize(std::max(worker.scratch.size(), node.size()));
  order_rows(column.data, column.width, ids_of(node), column.n_codes, to, worker.scratch.data());
  if (kept == nullptr) return;
  *kept = std::make_unique_for_overwrite<Entry[]>(node.size());
  std::copy_n(to, node.size(), kept->get());
}

template <class Rows, class Criterion>
void Grower<Rows, Criterion>::search_column(int32_t j, size_t position, std::span<Node*> children, Node* parent,
                                            Worker& worker) {
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
    const bool may = child.may_use(j);
    begin_scan(j, child, worker);
    if (parent_in_order || in_order(j, child.size())) {
      if (!parent_in_order) {
        if (entries == nullptr) entries = std::make_unique_for_overwrite<Entry[]>(ids_.size());
        put_in_order(j, child, entries.get() + child.begin, worker);
      }
      if (may) scan_entries(j, {entries.get() + child.begin, child.size()}, child, worker, worker.best[c]);
    } else {
      const auto build = [&](size_t begin, size_t end, const int64_t* total, int64_t* to) {
        build_cells(j, begin, end, child.in_second, total, to, worker);
      };
      int64_t* cells =
          child_cells(cell_start_[static_cast<size_t>(j)], cells_of(j), child, parent, sibling, worker, build);
      if (!child.inherits) sibling = cells;
      if (may) scan_cells(j, cells, child, worker, worker.best[c]);
    }
    constant_[c][position] = worker.scan->constant;
  }
}

// The histogram of column j over the rows [begin, end) of a node or its children, whose lanes are `total`.
template <class Rows, class Criterion>
void Grower<Rows, Criterion>::build_cells(int32_t j, size_t begin, size_t end, bool in_second, const int64_t* total,
                                          int64_t* cells, const Worker& worker) {
  const GrowColumn& column = columns_[static_cast<size_t>(j)];
  if constexpr (packable) {
    if (tiles_ != nullptr) {
      const bool summed = begin == summed_begin_ && end == summed_end_ && !counted_;
      if (!summed || tiles_->start(static_cast<size_t>(j)) == Tiles::nowhere) {
        std::fill_n(cells, cells_of(j), 0);
        add_item_histogram(j, items(begin, end, in_second), cells);
      } else if constexpr (words) {
        auto* to = reinterpret_cast<uint64_t*>(cells);
        const size_t n = size_t{column.n_codes} + 1, at = static_cast<size_t>(j);
        if (groups_.empty()) {
          copy_words(buffers_->sums, static_cast<size_t>(tiles_->start(at)), n, to);
        } else {
          std::copy_n(worker.words.data() + tile_codes * static_cast<size_t>(in_group_[at]), n, to);
        }
      } else {
        const auto start = static_cast<size_t>(tiles_->start(static_cast<size_t>(j)));
        unpack_words(buffers_->sums, start, size_t{column.n_codes} + 1, cells);
      }
      if (column.sparse) fill_default(j, total, cells);
      return;
    }
  }
  std::fill_n(cells, cells_of(j), 0);
  add_histogram(rows_, column.data, column.width, {ids_.data() + begin, end - begin}, column.n_codes, counted_, cells);
}

// Cells [start, start + n) of `child`: built from its rows, or its parent's less its sibling's.
template <class Rows, class Criterion>
template <class Build>
int64_t* Grower<Rows, Criterion>::child_cells(size_t start, size_t n, Node& child, const Node* parent,
                                              const int64_t* sibling, Worker& worker, Build build) {
  const auto scratch = [&](std::vector<int64_t>& cells) {
    cells.resize(std::max(cells.size(), n));
    return cells.data();
  };
  if (!child.inherits) {
    int64_t* cells = child.cells ? child.cells.get() + start : scratch(worker.cells);
    build(child.begin, child.end, lanes_of(child.record), cells);
    return cells;
  }
  int64_t* cells = child.cells.get() + start;
  if (sibling == nullptr) {
    const bool child_is_left = child.begin == parent->begin;
    const size_t begin = child_is_left ? child.end : parent->begin;
    int64_t* other_cells = scratch(worker.sibling_cells);
    std::vector<int64_t> rest(lanes_of(parent->record), lanes_of(parent->record) + n_lanes_);
    for (size_t l = 0; l < rest.size(); ++l) rest[l] -= lanes_of(child.record)[l];
    build(begin, begin + parent->size() - child.size(), rest.data(), other_cells);
    sibling = other_cells;
  }
  subtract_histogram(cells, sibling, n);
  return cells;
}

// ---- some columns, drawn anew in every node ----------------------------------------------------------------------

template <class Rows, class Criterion>
void Grower<Rows, Criterion>::search_drawn(Node& node) {
  const Draws draws = column_draws(options_, node.path);
  auto n = static_cast<size_t>(options_.max_columns);
  for (size_t i = 0; i < n; ++i) drawn_.draw(draws, i);
  for (auto& worker : workers_) worker.best[0].clear({options_, draws});
  for_columns(n, n * node.size(),
              [&](size_t i, Worker& worker) { search_alone(drawn_[i], node, worker, worker.best[0]); });
  for (auto& worker : workers_) {
    if (worker.best[0].found() && worker.best[0].better_than(node.split)) node.split = worker.best[0];
  }
  // Nothing valid among them: go on, one column at a time, until something is.
  for (; n < drawn_.size() && !node.split.found(); ++n) {
    run_.check();
    search_alone(drawn_.draw(draws, n), node, workers_[0], node.split);
  }
  drawn_.undraw(n);
}

// The rows of a node in code order: by rank where there are ranks, else sorted.
template <class Rows, class Criterion>
std::span<const Entry> Grower<Rows, Criterion>::ordered(int32_t j, const Node& node, Worker& worker) {
  const GrowColumn& column = columns_[static_cast<size_t>(j)];
  const auto at = static_cast<size_t>(j);
  worker.entries.resize(std::max(worker.entries.size(), node.size()));
  if (ranks_.empty()) {
    worker.scratch.resize(std::max(worker.scratch.size(), node.size()));
    order_rows(column.data, column.width, ids_of(node), column.n_codes, worker.entries.data(), worker.scratch.data());
    return {worker.entries.data(), node.size()};
  }
  if (!ranks_.has(at)) {
    const RankedWhole& whole = place_.whole;
    if (whole.ranks != nullptr && whole.ranks->has(at)) {
      ranks_.add_some(at, *whole.ranks, whole.ids, whole.number_of, worker.bits);
    } else {
      ranks_.add(at, column.data, column.width, column.n_codes, worker.scratch);
    }
  }
  ranks_.read(at, ids_of(node), worker.bits, worker.entries.data());
  return {worker.entries.data(), node.size()};
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
    scan_entries(j, ordered(j, node, worker), node, worker, best);
  } else {
    worker.cells.assign(cells_of(j), 0);
    add_histogram(rows_, column.data, column.width, ids_of(node), column.n_codes, counted_, worker.cells.data());
    scan_cells(j, worker.cells.data(), node, worker, best);
  }
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
                    : scan_categories(worker.present, j, category_rules(j, node), *worker.scan, best);
  } else {
    scan_ordered(rows_, entries, *worker.scan);
    worker.scan->offer(j, best);
  }
}

template <class Rows, class Criterion>
void Grower<Rows, Criterion>::scan_cells(int32_t j, const int64_t* cells, const Node& node, Worker& worker,
                                         Split& best) {
  if constexpr (words) {
    if (tiles_ != nullptr) return scan_words(j, cells, node, worker, best);
  }
  if constexpr (!by_rows) {
    const uint32_t n_codes = columns_[static_cast<size_t>(j)].n_codes;
    if (columns_[static_cast<size_t>(j)].kind == ColumnKind::categorical) {
      collect_histogram(cells, n_codes, n_lanes_, counted_, *worker.scan, worker.present);
      options_.random ? scan_random_categories(worker.present, j, word_of(j, node), *worker.scan, best)
                      : scan_categories(worker.present, j, category_rules(j, node), *worker.scan, best);
    } else {
      scan_histogram(cells, n_codes, n_lanes_, counted_, *worker.scan);
      worker.scan->offer(j, best);
    }
  }
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
