// Grower: the search for the best split of new nodes, all columns in every node, state carried from parent to children.
#include <algorithm>

#include "core/tree/grow/grower.h"
#include "core/tree/items/packed_search.h"

namespace weald {

bool Grower::in_order(int32_t j, size_t n_rows) const {
  if (statistic_->kind().by_rows) return true;
  if (search_ != Search::automatic) return search_ == Search::order;
  return n_rows < rows_for_histogram(j);
}

size_t Grower::rows_for_histogram(int32_t j) const {
  const size_t cells = size_t{column(j).n_codes} + 1;
  return 2 * cells * (statistic_->kind().compacts ? static_cast<size_t>(n_lanes_) : 1);
}

void Grower::search(std::span<GrowNode*> children, GrowNode* parent) {
  statistic_->begin_search(children);
  if (column_rules_.vary()) {
    for (GrowNode* child : children) child->allowed = column_rules_.allowed(child->path, child->depth, child->used);
  }
  if (all_) {
    search_all(children, parent);
  } else {
    for (GrowNode* child : children) options_.combined_columns > 0 ? search_combined(*child) : search_drawn(*child);
  }
  statistic_->end_search();
}

void Grower::search_all(std::span<GrowNode*> children, GrowNode* parent) {
  const std::vector<int32_t>& active = parent == nullptr ? all_columns_ : parent->active;
  if (!options_.random) histograms_.take_memory(children, parent);
  for (size_t c = 0; c < children.size(); ++c) {
    const Ties ties{options_, column_draws(options_, children[c]->path)};
    for (auto& worker : workers_) worker.best[c].clear(ties);
  }
  for (auto& flags : constant_) flags.resize(active.size());
  if (items_ != nullptr && !items_->groups().empty()) {
    search_groups(children, parent, active);
  } else {
    search_columns(children, parent, active);
    if (items_ != nullptr && items_->has_flags()) search_flags(children, parent);
    if (sparse_) search_sparse(children, parent);
  }
  take_best(children, active);
}

// Columns by the dozen where there are thousands: taking one costs as much as scanning a short one.
void Grower::search_columns(std::span<GrowNode*> children, GrowNode* parent, const std::vector<int32_t>& active) {
  size_t n_rows = 0;
  for (const GrowNode* child : children) n_rows += child->size();
  constexpr size_t most_parts = 64;
  const size_t together = active.size() / most_parts + 1;
  const size_t work = items_ == nullptr ? n_rows * active.size() : 2 * children.size() * histograms_.total();
  workers_.for_each((active.size() + together - 1) / together, work, [&](size_t part, Worker& worker) {
    const size_t last = std::min(active.size(), (part + 1) * together);
    for (size_t i = part * together; i < last; ++i) {
      if (!options_.random) {
        search_column(active[i], i, children, parent, worker);
        continue;
      }
      for (size_t c = 0; c < children.size(); ++c) {
        constant_[c][i] = search_alone(active[i], *children[c], worker, worker.best[c]);
      }
    }
  });
}

// Words of dense columns: each group is built, subtracted and scanned by one thread.
void Grower::search_groups(std::span<GrowNode*> children, GrowNode* parent, const std::vector<int32_t>& active) {
  position_of_.assign(columns_.size(), -1);
  for (size_t i = 0; i < active.size(); ++i) position_of_[static_cast<size_t>(active[i])] = static_cast<int32_t>(i);
  const size_t work = (2 * items_->n_summed() + 256 * children.size()) * active.size();
  workers_.for_each(items_->groups().size(), work, [&](size_t g, Worker& worker) {
    const Items::Group& group = items_->groups()[g];
    const auto search_active = [&](int32_t j) {
      const int32_t position = position_of_[static_cast<size_t>(j)];
      if (position >= 0) search_column(j, static_cast<size_t>(position), children, parent, worker);
    };
    if (group.alone >= 0) return search_active(group.alone);
    items_->build_group(group, children[0]->in_second, worker);
    const Tile& tile = items_->tiles().all()[group.tile];
    for (size_t k = 0; k < group.n; ++k) search_active(tile.columns[group.first + k]);
  });
}

// The best splits of all workers, and the columns that are not constant in the children.
void Grower::take_best(std::span<GrowNode*> children, const std::vector<int32_t>& active) {
  for (size_t c = 0; c < children.size(); ++c) {
    GrowNode& child = *children[c];
    for (auto& worker : workers_) {
      if (worker.best[c].found() && worker.best[c].better_than(child.split)) child.split = worker.best[c];
    }
    child.active.resize(active.size());
    size_t n = 0;
    for (size_t i = 0; i < active.size(); ++i) {
      child.active[n] = active[i];
      n += constant_[c][i] == 0;
    }
    child.active.resize(n);
  }
}

void Grower::search_column(int32_t j, size_t position, std::span<GrowNode*> children, GrowNode* parent,
                           Worker& worker) {
  const bool parent_in_order = parent != nullptr && in_order(j, parent->size());
  if (parent_in_order) orders_.part(j, *parent, side_.data(), worker);
  // A child that builds its own histogram comes before the one that subtracts it.
  const bool swap = children.size() == 2 && children[0]->inherits;
  const int64_t* sibling = nullptr;
  for (size_t turn = 0; turn < children.size(); ++turn) {
    const size_t c = swap ? 1 - turn : turn;
    GrowNode& child = *children[c];
    const bool may = child.may_use(j);
    bool constant = false;
    if (parent_in_order || in_order(j, child.size())) {
      if (!parent_in_order) orders_.put_in_order(j, child, ids_of(child), ids_.size(), worker);
      if (may)
        constant =
            worker.search->in_order(searched_at(j, child, worker.rules), orders_.carried(j, child), worker.best[c]);
    } else {
      const auto build = [&](size_t begin, size_t end, const int64_t* total, int64_t* to) {
        if (items_ != nullptr) return items_->build_cells(j, begin, end, child.in_second, total, to, worker);
        std::fill_n(to, cells_of(j), 0);
        statistic_->add_histogram(column(j), {ids_.data() + begin, end - begin}, counted_, to);
      };
      const int64_t* cells = histograms_.of_child(
          histograms_.start(j), cells_of(j), child, parent, sibling, worker, static_cast<size_t>(n_lanes_),
          [&](int32_t record) { return lanes_of(record); }, build);
      if (!child.inherits) sibling = cells;
      if (may) constant = worker.search->in_cells(searched_at(j, child, worker.rules), cells, worker.best[c]);
    }
    constant_[c][position] = constant;
  }
}

// Columns of two values, a thousand at a time.
void Grower::search_flags(std::span<GrowNode*> children, GrowNode* parent) {
  constexpr size_t together = 1024;
  const size_t n_flags = items_->tiles().flags().size(), stride = cell_stride();
  const size_t work = 4 * n_flags * children.size();
  workers_.for_each((n_flags + together - 1) / together, work, [&](size_t part, Worker& worker) {
    const size_t first = part * together, n = std::min(together, n_flags - first);
    // As in search_column.
    const bool swap = children.size() == 2 && children[0]->inherits;
    const int64_t* sibling = nullptr;
    for (size_t turn = 0; turn < children.size(); ++turn) {
      const size_t c = swap ? 1 - turn : turn;
      GrowNode& child = *children[c];
      const auto build = [&](size_t begin, size_t end, const int64_t*, int64_t* to) {
        items_->build_flags(first, n, begin, end, child.in_second, to);
      };
      const int64_t* cells = histograms_.of_child(
          flags_start_ + first * stride, n * stride, child, parent, sibling, worker, static_cast<size_t>(n_lanes_),
          [&](int32_t record) { return lanes_of(record); }, build);
      if (!child.inherits) sibling = cells;
      search_some_flags(first, n, cells, child, worker, worker.best[c]);
    }
  });
}

void Grower::search_some_flags(size_t first, size_t n, const int64_t* cells, const GrowNode& node, Worker& worker,
                               Split& best) {
  const auto flags = items_->tiles().flags().subspan(first, n);
  const bool ruled = !node.allowed.empty() || !column_rules_.all_in_tree();
  worker.usable.resize(ruled ? n : 0);
  for (size_t i = 0; i < worker.usable.size(); ++i) {
    worker.usable[i] = node.may_use(flags[i]) && column_rules_.in_tree(static_cast<size_t>(flags[i]));
  }
  auto& search = static_cast<PackedSearch&>(*worker.search);  // what items make
  search.in_flags(flags, columns_, cells, worker.usable, node, lanes_of(node.record), best);
}

// The sparse columns: many, of few entries each, so workers take them by the hundred.
void Grower::search_sparse(std::span<GrowNode*> children, GrowNode* parent) {
  const std::vector<SparseRange>& ranges = sparse_columns_.ranges(parent);
  size_t n_entries = 0;
  for (const SparseRange& range : ranges) n_entries += range.end - range.begin;
  sparse_columns_.begin_search(ranges.size());
  constexpr size_t together = 256;
  const size_t work = n_entries + ranges.size();
  workers_.for_each((ranges.size() + together - 1) / together, work, [&](size_t block, Worker& worker) {
    const size_t last = std::min(ranges.size(), (block + 1) * together);
    for (size_t i = block * together; i < last; ++i) search_sparse_column(ranges[i], i, children, parent, worker);
  });
  sparse_columns_.end_search(children, parent, ranges);
}

void Grower::search_sparse_column(const SparseRange& range, size_t i, std::span<GrowNode*> children,
                                  const GrowNode* parent, Worker& worker) {
  const std::span<Entry> entries = sparse_columns_.load(range, worker);
  const size_t n_left = parent == nullptr ? 0 : sparse_columns_.part(range, i, entries, side_.data(), worker);
  for (size_t c = 0; c < children.size(); ++c) {
    const GrowNode& child = *children[c];
    const bool right = parent != nullptr && child.begin != parent->begin;
    const auto part = parent == nullptr ? entries : right ? entries.subspan(n_left) : entries.first(n_left);
    bool constant = part.empty();
    if (!part.empty() && child.may_use(range.column)) {
      const Searched at = searched_at(range.column, child, worker.rules);
      constant = worker.search->in_listed(at, part, ids_of(child), worker.best[c]);
    }
    sparse_columns_.set_constant(c, i, constant);
  }
}

}  // namespace weald
