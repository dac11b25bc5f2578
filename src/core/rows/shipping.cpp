#include "core/rows/shipping.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "core/base/check.h"

namespace weald {

namespace {

class Packing {
 public:
  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* const first = reinterpret_cast<const uint8_t*>(&value);
    bytes_.insert(bytes_.end(), first, first + sizeof(T));
  }
  template <class T>
  void put(const std::vector<T>& values) {
    put(static_cast<uint64_t>(values.size()));
    for (const T& each : values) put(each);
  }
  std::vector<uint8_t> take() { return std::move(bytes_); }

 private:
  std::vector<uint8_t> bytes_;
};

class Unpacking {
 public:
  explicit Unpacking(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  template <class T>
  void get(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    check(sizeof(T));
    std::memcpy(&value, bytes_.data(), sizeof(T));
    bytes_ = bytes_.subspan(sizeof(T));
  }
  void get(bool& value) {
    uint8_t byte = 0;
    get(byte);
    value = byte != 0;
  }
  template <class T>
  void get(std::vector<T>& values) {
    values.resize(length(sizeof(T)));
    for (T& each : values) get(each);
  }
  // Of a vector whose entries take at least so many bytes each.
  size_t length(size_t least_bytes) {
    uint64_t n = 0;
    get(n);
    if (n > bytes_.size() / least_bytes) throw BrokenInvariant("bytes from another process are cut off");
    return static_cast<size_t>(n);
  }
  void finish() const { require(bytes_.empty(), "bytes from another process are not read to their end"); }

 private:
  void check(size_t n) const {
    if (bytes_.size() < n) throw BrokenInvariant("bytes from another process are cut off");
  }
  std::span<const uint8_t> bytes_;
};

// Every record names its fields once, for both ways.
template <class Way, class Record>
void fields(Way&& way, Record& exponents)
  requires std::is_same_v<std::remove_const_t<Record>, Exponents>
{
  way(exponents.g), way(exponents.h), way(exponents.curvature), way(exponents.negative_h), way(exponents.zeros);
}

template <class Way, class Record>
void fields(Way&& way, Record& split)
  requires std::is_same_v<std::remove_const_t<Record>, PlannedSplit>
{
  way(split.column), way(split.kind), way(split.missing_left), way(split.code);
  way(split.set), way(split.set_left), way(split.left);
}

template <class Way, class Record>
void fields(Way&& way, Record& units)
  requires std::is_same_v<std::remove_const_t<Record>, TreeUnits>
{
  way(units.kind), way(units.powers.g), way(units.powers.h), way(units.wide.g), way(units.wide.h);
  way(units.zeros), way(units.whole), way(units.seed), way(units.round), way(units.n_outputs);
  way(units.squared), way(units.square_lanes);
}

template <class Way, class Record>
void fields(Way&& way, Record& rule)
  requires std::is_same_v<std::remove_const_t<Record>, SquareRule>
{
  way(rule.g_scale), way(rule.factor_scale), way(rule.power), way(rule.weight_power);
}

template <class Record>
void pack(Packing& to, const Record& record) {
  fields([&](const auto& field) { to.put(field); }, record);
}

template <class Record>
void unpack(Unpacking& from, Record& record) {
  fields([&](auto& field) { from.get(field); }, record);
}

void pack_counted(Packing& to, const GradientCounts::Counted& counted) {
  to.put(static_cast<uint64_t>(counted.of_output.size()));
  for (const Exponents& each : counted.of_output) pack(to, each);
  to.put(counted.tops.g), to.put(counted.tops.factor);
}

GradientCounts::Counted unpack_counted(Unpacking& from) {
  GradientCounts::Counted counted;
  counted.of_output.resize(from.length(n_exponents * sizeof(int64_t)));
  for (Exponents& each : counted.of_output) {
    unpack(from, each);
    require(each.g.size() == n_exponents && each.h.size() == n_exponents, "exponents have their number");
  }
  from.get(counted.tops.g), from.get(counted.tops.factor);
  return counted;
}

}  // namespace

std::vector<uint8_t> to_bytes(const GradientCounts& counts) {
  Packing to;
  pack_counted(to, counts.given);
  pack_counted(to, counts.each);
  to.put(counts.n_drawn);
  return to.take();
}

GradientCounts counts_of_bytes(std::span<const uint8_t> bytes) {
  Unpacking from(bytes);
  GradientCounts counts;
  counts.given = unpack_counted(from);
  counts.each = unpack_counted(from);
  from.get(counts.n_drawn);
  from.finish();
  return counts;
}

std::vector<uint8_t> to_bytes(const LevelTask& task) {
  Packing to;
  to.put(task.plan.split);
  to.put(static_cast<uint64_t>(task.plan.splits.size()));
  for (const PlannedSplit& each : task.plan.splits) pack(to, each);
  to.put(task.plan.histogram);
  to.put(static_cast<uint64_t>(task.plan.n_histograms));
  pack(to, task.units);
  to.put(task.units.rule.has_value());
  if (task.units.rule) pack(to, *task.units.rule);
  to.put(task.counted), to.put(task.leaves);
  return to.take();
}

LevelTask task_of_bytes(std::span<const uint8_t> bytes) {
  Unpacking from(bytes);
  LevelTask task;
  from.get(task.plan.split);
  task.plan.splits.resize(from.length(sizeof(int32_t)));
  for (PlannedSplit& each : task.plan.splits) unpack(from, each);
  from.get(task.plan.histogram);
  uint64_t n_histograms = 0;
  from.get(n_histograms);
  task.plan.n_histograms = static_cast<size_t>(n_histograms);
  unpack(from, task.units);
  bool ruled = false;
  from.get(ruled);
  if (ruled) unpack(from, task.units.rule.emplace(SquareTops{1, 1}));
  from.get(task.counted), from.get(task.leaves);
  from.finish();
  const auto below = [](const std::vector<int32_t>& values, size_t n) {
    return std::all_of(values.begin(), values.end(), [n](int32_t v) { return v < 0 || static_cast<size_t>(v) < n; });
  };
  require(task.plan.histogram.size() == task.plan.split.size() && below(task.plan.split, task.plan.splits.size()) &&
              below(task.plan.histogram, task.plan.n_histograms),
          "a pass names splits and histograms that it has");
  return task;
}

LevelTask routes_only(const LevelTask& task) {
  LevelTask routes;
  routes.plan = task.plan;
  std::fill(routes.plan.histogram.begin(), routes.plan.histogram.end(), -1);
  routes.plan.n_histograms = 0;
  return routes;
}

}  // namespace weald
