// The tiles of rows with themselves: what a float sum of two rows says holds for both, so each pair is summed up once.
// Every thread keeps the nearest that it has found for all rows; the nearest of all threads are the nearest, whoever
// found them.

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <mutex>

#include "core/neighbors/dense_filter.h"

namespace weald::neighbors {

using body::group;
using body::panel;

namespace {

// Queries that a thread takes together: pairs of two of them are looked at twice.
constexpr int64_t self_block = 32 * group;
constexpr int64_t fewest_rows = 1024;  // for which it is faster
constexpr int64_t most_bytes = 1 << 28;
constexpr int64_t rows_at_once = 1024;
// More than the rounding of one more addition to a sum, of what the sum is made of.
constexpr double one_more = 8.0 * float_unit;
constexpr float float_infinity = std::numeric_limits<float>::infinity();

// No nearer than all that were found; of equal rows there may be many.
bool hopeless(const Best& best, int64_t row) {
  return best.farthest().sum == 0 && row > best.farthest().row;
}

}  // namespace

// What one thread has found; by the position of rows in panels.
struct DenseFilter::Mine {
  // Pairs whose float sums are open. Several together take hardly longer than one.
  struct Waiting {
    static constexpr size_t most = 16;
    size_t n = 0;
    int64_t query[most], position[most], row[most];  // the query's row, the other row's place and number
    size_t in_block[most];
    uint32_t open[most];

    void keep(size_t from, size_t to) {
      query[to] = query[from];
      position[to] = position[from];
      row[to] = row[from];
      in_block[to] = in_block[from];
      open[to] = open[from];
    }
  };

  int64_t k;
  Scratch scratch;
  std::vector<Neighbor> found;  // (n, k)
  std::vector<Best> best;
  svm::Aligned<float> level;  // of rows as those of panels
  std::vector<float> add;     // of the queries of a block
  std::vector<double> most;   // their farthest sums, as any thread knows
  Waiting waiting;

  Mine(int64_t n, int64_t n_panels, int64_t n_nearest)
      : k(n_nearest),
        found(static_cast<size_t>(n * k)),
        best(static_cast<size_t>(n)),
        level(static_cast<size_t>(n_panels * panel)),
        add(static_cast<size_t>(self_block)) {
    const auto width = static_cast<size_t>(k);
    for (size_t j = 0; j < best.size(); ++j) best[j] = Best(std::span(found).subspan(j * width, width));
    for (int64_t j = 0; j < n_panels * panel; ++j) level.data()[j] = j < n ? float_infinity : -float_infinity;
  }
};

// What threads tell each other after every block: of each row the smallest farthest sum, and the level of it.
struct DenseFilter::Shared {
  std::mutex mutex;
  std::vector<double> most;
  std::vector<float> level;

  explicit Shared(int64_t n) : most(static_cast<size_t>(n), infinity), level(static_cast<size_t>(n), float_infinity) {}

  // Of the rows from `first` on; `mine.most` of those up to `last`.
  void meet(Mine& mine, int64_t first, int64_t last) {
    const std::lock_guard lock(mutex);
    float* own = mine.level.data();
    for (auto j = static_cast<size_t>(first); j < most.size(); ++j) {
      if (own[j] < level[j]) {
        level[j] = own[j];
        most[j] = mine.best[j].farthest().sum;
      } else {
        own[j] = level[j];
      }
    }
    mine.most.assign(most.begin() + first, most.begin() + last);
  }
};

bool DenseFilter::can_search_self(int64_t k, int n_threads) const {
  const int64_t n = fitted_.n(), bytes = n * k * static_cast<int64_t>(sizeof(Neighbor));
  return usable_ && n >= fewest_rows && bytes <= most_bytes / n_threads;
}

// Above this a sum, with what its query adds, says that the query is no neighbour of the row at a position.
float DenseFilter::mirror_level(int64_t position, const Best& best) const {
  const double most = best.farthest().sum;
  if (!(most < infinity)) return float_infinity;
  const double size = term_ == Term::product ? 1.0 : double{size_[static_cast<size_t>(position)]};
  return level(one_more * (size + total_cost_), most);
}

void DenseFilter::search_self(const Distance& distance, int64_t k, Run& run,
                              const std::function<void(int64_t, std::span<const Neighbor>)>& write) const {
  const int64_t n = fitted_.n(), n_panels = (n + panel - 1) / panel;
  std::vector<std::unique_ptr<Mine>> found(static_cast<size_t>(run.n_threads()));
  Shared shared(n);
  static_assert(self_block % panel == 0 && self_block <= block, "blocks of queries are whole panels");
  parallel_for(run, (n + self_block - 1) / self_block, [&](int64_t b, int worker) {
    std::unique_ptr<Mine>& mine = found[static_cast<size_t>(worker)];
    if (mine == nullptr) mine = std::make_unique<Mine>(n, n_panels, k);
    search_block(distance, b * self_block, std::min(n, (b + 1) * self_block), *mine, shared, run);
  });
  std::erase(found, nullptr);
  parallel_for(run, (n + rows_at_once - 1) / rows_at_once, [&](int64_t b, int) {
    for (int64_t j = b * rows_at_once; j < std::min(n, (b + 1) * rows_at_once); ++j) {
      const auto at = static_cast<size_t>(j), width = static_cast<size_t>(k);
      Best& best = found.front()->best[at];
      for (size_t other = 1; other < found.size(); ++other) {
        for (size_t i = 0; i < width; ++i) {
          const Neighbor& each = found[other]->found[at * width + i];
          if (each.sum < infinity || each.row < n) best.offer(each.sum, each.row);
        }
      }
      write(row_[at], best.sorted());
    }
  });
}

// The rows at positions [first, last) with each other, and with all that come later.
void DenseFilter::search_block(const Distance& distance, int64_t first, int64_t last, Mine& mine, Shared& shared,
                               Run& run) const {
  shared.meet(mine, first, last);
  load(fitted_, first, last, true, mine.scratch);
  // Among themselves every row asks for itself.
  for (int64_t j = first; j < last; ++j) mine.level.data()[j] = -float_infinity;
  for (int64_t j = 0; j < self_block; ++j) {
    const auto at = static_cast<size_t>(j);
    if (first + j >= last) {
      mine.add[at] = float_infinity;
      continue;
    }
    const double base = mine.scratch.base[at];
    const double size = term_ == Term::product ? 1.0 : mine.scratch.size[at];
    mine.add[at] = rounded_down(-base - one_more * (size + total_cost_));
    const auto place = static_cast<size_t>(first + j);
    const double most = std::min(mine.best[place].farthest().sum, mine.most[at]);
    if (most < infinity) mine.scratch.level.data()[j] = level(base, most);
  }
  const int64_t n_panels = (fitted_.n() + panel - 1) / panel, n_groups = (last - first + group - 1) / group;
  const int64_t tile = panels_of_tile();
  const body::Panels all = panels();
  const NextOpen next = next_open(true);
  body::Open& open = mine.scratch.open;
  for (int64_t from = first / panel; from < n_panels;) {
    run.check();
    const int64_t end = std::min(from + tile, n_panels);
    for (int64_t g = 0; g < n_groups; ++g) {
      const body::Group members = group_of(mine.scratch, g);
      const body::Mirror mirror{mine.add.data() + g * group, mine.level.data()};
      for (int64_t at = next(all, members, mirror, from, end, open); at < end;
           at = next(all, members, mirror, at + 1, end, open)) {
        collect(distance, first, last, g, at, mine);
      }
    }
    decide(distance, first, mine);
    from = end;
  }
  for (int64_t j = first; j < last; ++j) mine.level.data()[j] = mirror_level(j, mine.best[static_cast<size_t>(j)]);
}

// Notes which rows of a panel may be neighbours of which queries of a group, or these of them.
void DenseFilter::collect(const Distance& distance, int64_t first, int64_t last, int64_t g, int64_t at,
                          Mine& mine) const {
  const int64_t n_queries = std::min(group, last - first - g * group);
  for (int64_t r = 0; r < n_queries; ++r) {
    const uint32_t near = mine.scratch.open.near[r], back = mine.scratch.open.back[r];
    if ((near | back) == 0) continue;
    const auto place = static_cast<size_t>(first + g * group + r);
    const int64_t q = row_[place];
    for (uint32_t open = near | back; open != 0; open &= open - 1) {
      const int l = std::countr_zero(open);
      const int64_t position = at * panel + l, i = row_[static_cast<size_t>(position)];
      if (i < 0 || i == q) continue;
      Mine::Waiting& to = mine.waiting;
      to.query[to.n] = q;
      to.position[to.n] = position;
      to.row[to.n] = i;
      to.in_block[to.n] = static_cast<size_t>(g * group + r);
      to.open[to.n] = (near >> l & 1U) | (back >> l & 1U) << 1;
      __builtin_prefetch(mine.best.data() + position);
      __builtin_prefetch(mine.found.data() + position * mine.k);
      distance.ask_for(i);
      if (++to.n == Mine::Waiting::most) decide(distance, first, mine);
    }
  }
}

// Offers what waits, both ways, by float64, and lowers the levels.
void DenseFilter::decide(const Distance& distance, int64_t first, Mine& mine) const {
  Mine::Waiting& of = mine.waiting;
  size_t n = 0;
  for (size_t w = 0; w < of.n; ++w) {
    const auto in_block = static_cast<size_t>(first) + of.in_block[w];
    const bool near = (of.open[w] & 1U) != 0 && !hopeless(mine.best[in_block], of.row[w]);
    const bool theirs =
        (of.open[w] & 2U) != 0 && !hopeless(mine.best[static_cast<size_t>(of.position[w])], of.query[w]);
    if (near || theirs) of.keep(w, n++);
  }
  of.n = n;
  double sum[Mine::Waiting::most];
  distance.sums(of.query, of.row, of.n, sum);
  for (size_t w = 0; w < of.n; ++w) {
    const size_t in_block = of.in_block[w], other = static_cast<size_t>(of.position[w]);
    Best& own = mine.best[static_cast<size_t>(first) + in_block];
    if ((of.open[w] & 1U) != 0 && own.offer(sum[w], of.row[w])) {
      float& now = mine.scratch.level.data()[in_block];  // what another thread knows may be lower
      now = std::min(now, level(mine.scratch.base[in_block], own.farthest().sum));
    }
    if ((of.open[w] & 2U) != 0 && mine.best[other].offer(sum[w], of.query[w])) {
      float& now = mine.level.data()[other];
      now = std::min(now, mirror_level(of.position[w], mine.best[other]));
    }
  }
  of.n = 0;
}

}  // namespace weald::neighbors
