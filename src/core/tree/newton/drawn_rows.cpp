// The rows a tree is grown on.
#include <algorithm>
#include <numeric>

#include "core/base/random.h"
#include "core/tree/newton/rows.h"

namespace weald {

uint32_t NewtonRows::nearest_row(std::span<const double> weight, uint64_t seed) const {
  size_t nearest = n_rows_;
  for (size_t row = 0; row < n_rows_; ++row) {
    if (!weight.empty() && weight[row] == 0) continue;
    const bool nearer =
        nearest == n_rows_ || draw(seed, Purpose::row_sample, row) < draw(seed, Purpose::row_sample, nearest);
    if (nearer) nearest = row;
  }
  if (nearest == n_rows_) throw BadInput("no row has a positive weight");
  return static_cast<uint32_t>(nearest);
}

DrawnRows NewtonRows::draw_rows(std::span<const double> weight, const NewtonOptions& options) const {
  const bool all = options.row_share >= 1;
  const bool all_present = weight.empty() || std::all_of(weight.begin(), weight.end(), [](double w) { return w != 0; });
  if (all && all_present) return {n_rows_, {}};
  std::vector<uint32_t> ids;
  ids.reserve(n_rows_);
  const auto below = all ? ~uint64_t{0} : static_cast<uint64_t>(options.row_share * 0x1p64);
  for (size_t row = 0; row < n_rows_; ++row) {
    if (!weight.empty() && weight[row] == 0) continue;
    if (all || draw(options.grow.seed, Purpose::row_sample, row) < below) ids.push_back(static_cast<uint32_t>(row));
  }
  // A tree needs a row: where chance has left none, the one that came nearest to being drawn.
  if (ids.empty()) ids.push_back(nearest_row(weight, options.grow.seed));
  const size_t n = ids.size();
  return {n, std::move(ids)};
}

std::vector<uint32_t> DrawnRows::list() const {
  if (!ids.empty()) return ids;
  std::vector<uint32_t> all(n);
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

}  // namespace weald
