#include "core/tree/statistics/threshold_ranks.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/radix_sort.h"
#include "core/data/encode/order_key.h"
#include "core/tree/model/forest.h"

namespace weald {

namespace {

struct Keyed {
  uint64_t key;
  uint32_t node;
};

void rank_column(std::span<const uint32_t> nodes, std::span<const double> threshold, std::vector<uint32_t>& codes) {
  std::vector<Keyed> keyed, scratch(nodes.size());
  keyed.reserve(nodes.size());
  for (const uint32_t node : nodes) keyed.push_back({to_key(threshold[node] + 0.0), node});  // −0 is 0
  constexpr size_t few = 256;
  if (nodes.size() <= few) {
    std::sort(keyed.begin(), keyed.end(), [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
  } else {
    radix_sort(keyed.data(), scratch.data(), keyed.size(), 0, 64, [](const Keyed& item) { return item.key; });
  }
  uint32_t rank = 0;
  for (size_t i = 0; i < keyed.size(); ++i) {
    rank += i == 0 || keyed[i].key != keyed[i - 1].key;
    codes[keyed[i].node] = rank;
  }
}

}  // namespace

std::vector<uint32_t> rank_thresholds(std::span<const int32_t> column, std::span<const double> threshold,
                                      std::span<const uint8_t> kind) {
  const auto numeric = [&](size_t node) { return is(kind[node], SplitKind::numeric); };
  require(threshold.size() == column.size() && kind.size() == column.size(), "one of each per inner node");
  std::vector<size_t> end;  // per column, of its nodes
  for (size_t node = 0; node < column.size(); ++node) {
    if (!numeric(node)) continue;
    require(column[node] >= 0, "a numeric node has a column");
    const auto j = static_cast<size_t>(column[node]);
    if (end.size() <= j) end.resize(j + 1, 0);
    ++end[j];
  }
  for (size_t j = 1; j < end.size(); ++j) end[j] += end[j - 1];
  std::vector<uint32_t> nodes(end.empty() ? 0 : end.back());
  std::vector<size_t> start(end);
  for (size_t node = column.size(); node-- > 0;) {
    if (numeric(node)) nodes[--start[static_cast<size_t>(column[node])]] = static_cast<uint32_t>(node);
  }
  std::vector<uint32_t> codes(column.size(), 0);
  for (size_t j = 0; j < end.size(); ++j) {
    if (start[j] < end[j]) rank_column({nodes.data() + start[j], end[j] - start[j]}, threshold, codes);
  }
  return codes;
}

}  // namespace weald
