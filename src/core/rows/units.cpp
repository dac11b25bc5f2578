#include "core/rows/units.h"

#include <algorithm>
#include <vector>

namespace weald {

namespace {

DrawnRows present(const Gradients& given) {
  require(given.g.size() == given.h.size(), "as many hessians as gradients");
  require(given.weight.empty() || given.weight.size() == given.g.size(), "one weight per row");
  const auto absent = [](double weight) { return weight == 0; };
  if (std::none_of(given.weight.begin(), given.weight.end(), absent)) return {given.g.size(), {}};
  DrawnRows rows;
  for (size_t row = 0; row < given.weight.size(); ++row) {
    if (!absent(given.weight[row])) rows.ids.push_back(static_cast<uint32_t>(row));
  }
  rows.n = rows.ids.size();
  return rows;
}

}  // namespace

Exponents block_exponents(const Gradients& given, Run& run) {
  const DrawnRows rows = present(given);
  return rows.size() == 0 ? Exponents{} : count_all(given, rows, run);
}

void block_units(const Gradients& given, Powers powers, std::span<int64_t> pairs, Run& run) {
  require(pairs.size() == 2 * given.g.size(), "one pair per row");
  const double g_scale = scale_of(powers.g), h_scale = scale_of(powers.h);
  std::fill(pairs.begin(), pairs.end(), 0);
  for_rows(given, present(given), run, [&](const auto factors, int) {
    return [=, out = pairs.data()](size_t, uint32_t row, double g, double h) {
      out[2 * size_t{row}] = factors.units(row, g, g_scale);
      out[2 * size_t{row} + 1] = factors.units(row, h, h_scale);
    };
  });
}

}  // namespace weald
