#include "core/data/sketch.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"
#include "core/data/encode/cuts.h"

namespace weald {

namespace {

using Wide = __int128;
constexpr int share_bits = 48;

SketchSummary summarise(std::vector<std::pair<double, int64_t>> rows) {
  std::ranges::sort(rows);
  SketchSummary summary;
  for (const auto& [value, weight] : rows) {
    if (summary.entries.empty() || summary.entries.back().value != value) {
      summary.entries.push_back({value, summary.total, 0, summary.total});
    }
    summary.entries.back().weight += weight;
    summary.entries.back().until += weight;
    summary.total += weight;
  }
  return summary;
}

// Floor and ceiling of units / 2^shift, of units that are not negative.
int64_t shifted_down(int64_t units, int shift) {
  return shift > 62 ? 0 : units >> shift;
}
int64_t shifted_up(int64_t units, int shift) {
  const int64_t floor = shifted_down(units, shift);
  return floor + (shift > 62 ? units > 0 : (floor << shift) != units);
}

}  // namespace

SketchSummary merge_summaries(const SketchSummary& a, const SketchSummary& b) {
  SketchSummary merged;
  merged.entries.reserve(a.entries.size() + b.entries.size());
  merged.total = a.total + b.total;
  // An entry of one summary that lies before entry `at` of the other.
  const auto among = [](const SketchEntry& entry, const SketchSummary& other, size_t at) -> SketchEntry {
    return {entry.value, entry.before + other.lower(at), entry.weight, entry.until + other.upper(at)};
  };
  size_t i = 0, j = 0;
  while (i < a.entries.size() || j < b.entries.size()) {
    if (j == b.entries.size() || (i < a.entries.size() && a.entries[i].value < b.entries[j].value)) {
      merged.entries.push_back(among(a.entries[i++], b, j));
    } else if (i == a.entries.size() || b.entries[j].value < a.entries[i].value) {
      merged.entries.push_back(among(b.entries[j++], a, i));
    } else {
      const SketchEntry &x = a.entries[i++], &y = b.entries[j++];
      merged.entries.push_back({x.value, x.before + y.before, x.weight + y.weight, x.until + y.until});
    }
  }
  return merged;
}

void prune_summary(SketchSummary& summary, int64_t gap) {
  std::vector<SketchEntry>& entries = summary.entries;
  if (entries.size() < 3) return;
  size_t last = 0;  // the last entry kept, in its new place
  for (size_t i = 1; i < entries.size(); ++i) {
    const bool next_is_too_far =
        i + 1 == entries.size() || entries[i + 1].at_most_before() - entries[last].surely_until() > gap;
    if (next_is_too_far) entries[++last] = entries[i];
  }
  entries.resize(last + 1);
  entries.shrink_to_fit();
}

QuantileSketch::QuantileSketch(double epsilon)
    : block_size_(static_cast<int64_t>(std::ceil(2 * n_levels / epsilon))),
      share_(static_cast<int64_t>(epsilon / n_levels * 0x1p48)) {
  require(epsilon >= 1e-6 && epsilon <= 0.5, "epsilon of a sketch out of range");
}

void QuantileSketch::grow_total(int64_t weight) {
  if (weight >= most_units - total_) throw BadInput("the weights of a sketch add up to 2^62 units or more");
  total_ += weight;
}

void QuantileSketch::add(std::span<const double> values, std::span<const int64_t> weights) {
  require(weights.empty() || weights.size() == values.size(), "one weight per value");
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t weight = weights.empty() ? 1 : weights[i];
    grow_total(weight);
    block_.emplace_back(values[i] + 0.0, weight);
    if (static_cast<int64_t>(block_.size()) == block_size_) close_block();
  }
}

void QuantileSketch::close_block() {
  insert(summarise(std::move(block_)), 0);
  block_.clear();
}

// Like adding 1 to a binary number: two summaries of a level carry over into the next.
void QuantileSketch::insert(SketchSummary&& summary, size_t level) {
  for (;; ++level) {
    if (level > n_levels) throw BadInput("a sketch holds at most 2^32 blocks");
    if (levels_.size() <= level) levels_.resize(level + 1);
    SketchSummary& held = levels_[level];
    if (held.entries.empty()) {
      held = std::move(summary);
      return;
    }
    summary = merge_summaries(held, summary);
    held = {};
    if (static_cast<int64_t>(summary.entries.size()) > block_size_ + 2) {
      const auto budget = Wide{share_} * static_cast<Wide>(level + 1) * summary.total;
      prune_summary(summary, static_cast<int64_t>(budget >> share_bits));
    }
  }
}

void QuantileSketch::merge(const QuantileSketch& other) {
  require(block_size_ == other.block_size_ && share_ == other.share_, "sketches of different epsilon");
  if (&other == this) return merge(QuantileSketch(other));
  grow_total(other.total_);
  for (size_t level = 0; level < other.levels_.size(); ++level) {
    if (!other.levels_[level].entries.empty()) insert(SketchSummary(other.levels_[level]), level);
  }
  for (const auto& row : other.block_) {
    block_.push_back(row);
    if (static_cast<int64_t>(block_.size()) == block_size_) close_block();
  }
}

void QuantileSketch::scale(int shift) {
  if (shift > 0) {
    if (shift > 61 || total_ >= most_units >> shift) throw BadInput("the weights of a sketch exceed 2^62 units");
  }
  const auto down = [shift](int64_t units) { return shift > 0 ? units << shift : shifted_down(units, -shift); };
  const auto up = [shift](int64_t units) { return shift > 0 ? units << shift : shifted_up(units, -shift); };
  total_ = 0;
  for (SketchSummary& summary : levels_) {
    for (SketchEntry& entry : summary.entries) {
      entry.before = down(entry.before);
      entry.weight = down(entry.weight);
      entry.until = up(entry.until);
    }
    summary.total = up(summary.total);
    total_ += summary.total;
  }
  for (auto& [value, weight] : block_) {
    weight = up(weight);
    total_ += weight;
  }
}

size_t QuantileSketch::n_entries() const {
  size_t n = block_.size();
  for (const SketchSummary& summary : levels_) n += summary.entries.size();
  return n;
}

SketchSummary QuantileSketch::summary() const {
  SketchSummary all = summarise(block_);
  for (const SketchSummary& summary : levels_) {
    if (!summary.entries.empty()) all = merge_summaries(all, summary);
  }
  return all;
}

std::pair<int64_t, int64_t> rank_bounds(const SketchSummary& summary, double value) {
  const auto above = std::ranges::upper_bound(summary.entries, value, {}, &SketchEntry::value);
  const auto at = static_cast<size_t>(above - summary.entries.begin());
  if (at > 0 && summary.entries[at - 1].value == value) {
    return {summary.entries[at - 1].surely_until(), summary.entries[at - 1].until};
  }
  return {summary.lower(at), summary.upper(at)};
}

double value_at(const SketchSummary& summary, int64_t rank) {
  const auto found = std::ranges::lower_bound(summary.entries, rank, {}, &SketchEntry::middle);
  return found == summary.entries.end() ? summary.entries.back().value : found->value;
}

std::vector<double> sketch_cuts(const SketchSummary& summary, uint32_t max_bins) {
  std::vector<WeightedValue> values;
  int64_t below = 0;
  for (const SketchEntry& entry : summary.entries) {
    if (entry.middle() == below) continue;
    values.push_back({entry.value, entry.middle() - below});
    below = entry.middle();
  }
  return choose_cuts(values, max_bins);
}

}  // namespace weald
