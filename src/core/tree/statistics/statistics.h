// What a histogram cell adds up, and what one row brings to it.
//
// A cell is a run of int64 lanes. Integer sums do not depend on their order, so any thread, page or worker may add any
// rows in any order, and a sibling's cell by subtraction is exact.
//
//   two classes      lanes n₀, n₁                 LabelRows (unit weights), BagRows, PairRows
//   moments          lanes Σ w·y, Σ w             PairRows
//   Newton           lanes Σ g, Σ h               PairRows (wide), NarrowRows (16-bit values), WordRows
//   K classes,       one lane per class and       ClassRows
//   several outputs  output
//   several targets  Σ w·y per output, Σ w        LaneRows
//
// A `Rows` type brings: `lanes()`, `fixed_lanes` (0 = known only at run time), `add(row, cell)`, `gather(ids)` (its own
// rows for a subtree, renumbered from 0), and `packed` (whether two lanes fit one 32|32 word, see histogram.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace weald {

// Memory that is either the caller's or our own: rows of a subtree are gathered, rows of the root are borrowed.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  Buffer(const T* borrowed) : data_(borrowed) {}  // NOLINT: a borrowed pointer is a buffer
  // Our own copy of from[ids[i] * n + 0 … n).
  static Buffer gathered(const T* from, std::span<const uint32_t> ids, size_t n = 1) {
    Buffer out;
    if (from == nullptr) return out;
    auto owned = std::make_shared_for_overwrite<T[]>(ids.size() * n);
    for (size_t i = 0; i < ids.size(); ++i) {
      for (size_t k = 0; k < n; ++k) owned[i * n + k] = from[ids[i] * n + k];
    }
    out.data_ = owned.get();
    out.owned_ = std::move(owned);
    return out;
  }
  static Buffer owned(std::span<const T> values) {
    Buffer out;
    auto copy = std::make_shared_for_overwrite<T[]>(values.size());
    std::copy(values.begin(), values.end(), copy.get());
    out.data_ = copy.get();
    out.owned_ = std::move(copy);
    return out;
  }
  const T& operator[](size_t i) const { return data_[i]; }
  const T* get() const { return data_; }
  explicit operator bool() const { return data_ != nullptr; }

 private:
  const T* data_ = nullptr;
  std::shared_ptr<T[]> owned_;
};

// Two classes, every row counts once.
struct LabelRows {
  static constexpr int fixed_lanes = 2;
  static constexpr bool packed = true;
  static constexpr uint32_t rows_before_flush = uint32_t{1} << 31;
  static constexpr bool unit_weights = true;
  Buffer<uint8_t> label;

  int lanes() const { return 2; }
  void add(uint32_t row, int64_t* cell) const {
    const int64_t one = label[row];
    cell[0] += 1 - one;
    cell[1] += one;
  }
  // Lane 1 in the high half, lane 0 in the low half.
  uint64_t pack(uint32_t row) const { return uint64_t{1} << (32 * label[row]); }
  // The same in half a word, for sums of few rows.
  uint32_t pack_halved(uint32_t row) const { return uint32_t{1} << (16 * label[row]); }
  LabelRows gather(std::span<const uint32_t> ids) const { return {Buffer<uint8_t>::gathered(label.get(), ids)}; }
};

// Two classes, every row counts as often as its bag has it, at least once.
struct BagRows {
  static constexpr int fixed_lanes = 2;
  static constexpr bool packed = true;
  static constexpr uint32_t rows_before_flush = uint32_t{1} << 31;  // a bag has no more
  static constexpr bool unit_weights = false;
  Buffer<uint64_t> word;  // the count in the half of the row's class, as in LabelRows::pack

  int lanes() const { return 2; }
  void add(uint32_t row, int64_t* cell) const {
    cell[0] += static_cast<int64_t>(word[row] & 0xffffffffU);
    cell[1] += static_cast<int64_t>(word[row] >> 32);
  }
  uint64_t pack(uint32_t row) const { return word[row]; }
  uint32_t pack_halved(uint32_t row) const { return static_cast<uint32_t>(word[row] | word[row] >> 16); }
  BagRows gather(std::span<const uint32_t> ids) const { return {Buffer<uint64_t>::gathered(word.get(), ids)}; }
};

// Two wide lanes.
struct PairRows {
  static constexpr int fixed_lanes = 2;
  static constexpr bool packed = false;
  static constexpr bool unit_weights = false;
  Buffer<int64_t> pair;  // (n, 2)
  bool zeros = true;     // whether both lanes of a row may be 0

  int lanes() const { return 2; }
  bool may_be_zero() const { return zeros; }
  void add(uint32_t row, int64_t* cell) const {
    cell[0] += pair[2 * static_cast<size_t>(row)];
    cell[1] += pair[2 * static_cast<size_t>(row) + 1];
  }
  void prefetch(uint32_t row) const { __builtin_prefetch(pair.get() + 2 * static_cast<size_t>(row)); }
  PairRows gather(std::span<const uint32_t> ids) const {
    return {Buffer<int64_t>::gathered(pair.get(), ids, 2), zeros};
  }
};

// Gradients and hessians small enough that the sums of many rows fit one 32|32 word.
template <class G, class H, uint32_t flush>
struct PackedRows {
  static constexpr int fixed_lanes = 2;
  static constexpr bool packed = true;
  static constexpr uint32_t rows_before_flush = flush;
  static constexpr bool unit_weights = false;
  struct Value {
    G g;
    H h;
    // g in the high half (signed), h in the low half: h never borrows from g because it is never negative.
    uint64_t word() const { return (static_cast<uint64_t>(static_cast<int64_t>(g)) << 32) + h; }
  };
  Buffer<Value> value;

  int lanes() const { return 2; }
  bool may_be_zero() const { return false; }  // such a row is as good as absent
  void add(uint32_t row, int64_t* cell) const {
    cell[0] += value[row].g;
    cell[1] += value[row].h;
  }
  uint64_t pack(uint32_t row) const { return value[row].word(); }
  PackedRows gather(std::span<const uint32_t> ids) const { return {Buffer<Value>::gathered(value.get(), ids)}; }
};

// 16 bits: g in [−32767, 32767], h in [0, 65535]; 2^16 · 32767 < 2^31, 2^16 · 65535 < 2^32.
using NarrowRows = PackedRows<int16_t, uint16_t, uint32_t{1} << 16>;
// Scaled so that Σ |g| and Σ h of all rows stay below 2^31: a cell is one word from the histogram to the scan.
using WordRows = PackedRows<int32_t, uint32_t, ~uint32_t{0}>;

// A word of packed lanes back into the two lanes of a cell.
inline void unpack_add(const LabelRows&, uint64_t word, int64_t* cell) {
  cell[0] += static_cast<int64_t>(word & 0xffffffffU);
  cell[1] += static_cast<int64_t>(word >> 32);
}
inline void unpack_add(const BagRows&, uint64_t word, int64_t* cell) {
  unpack_add(LabelRows{}, word, cell);
}
template <class G, class H, uint32_t flush>
void unpack_add(const PackedRows<G, H, flush>&, uint64_t word, int64_t* cell) {
  cell[0] += static_cast<int64_t>(word) >> 32;
  cell[1] += static_cast<int64_t>(word & 0xffffffffU);
}

// K classes for each of one or several outputs: a row adds its weight to one lane per output.
struct ClassRows {
  static constexpr int fixed_lanes = 0;
  static constexpr bool packed = false;
  static constexpr bool unit_weights = false;
  Buffer<int32_t> lane;    // (n, n_outputs): lane of the row's class, counted over all outputs
  Buffer<int64_t> weight;  // (n,) or absent: 1
  int n_outputs = 1;
  int n_lanes = 0;
  bool compact = false;  // so many classes that a subtree has the lanes of its own rows alone

  int lanes() const { return n_lanes; }
  void add(uint32_t row, int64_t* cell) const {
    const int64_t w = weight ? weight[row] : 1;
    const size_t at = static_cast<size_t>(row) * static_cast<size_t>(n_outputs);
    for (int o = 0; o < n_outputs; ++o) cell[lane[at + static_cast<size_t>(o)]] += w;
  }
  ClassRows gather(std::span<const uint32_t> ids) const {
    return {Buffer<int32_t>::gathered(lane.get(), ids, static_cast<size_t>(n_outputs)),
            Buffer<int64_t>::gathered(weight.get(), ids), n_outputs, n_lanes, compact};
  }
  // The same with the lanes that these rows have and no others; `kept`: which those are, ascending.
  ClassRows gather_compact(std::span<const uint32_t> ids, std::vector<int32_t>& kept) const {
    const auto width = static_cast<size_t>(n_outputs);
    std::vector<int32_t> lanes;
    lanes.reserve(ids.size() * width);
    for (const uint32_t row : ids) lanes.insert(lanes.end(), lane.get() + row * width, lane.get() + (row + 1) * width);
    kept = lanes;
    std::sort(kept.begin(), kept.end());
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    for (int32_t& each : lanes) {
      each = static_cast<int32_t>(std::lower_bound(kept.begin(), kept.end(), each) - kept.begin());
    }
    return {Buffer<int32_t>::owned(lanes), Buffer<int64_t>::gathered(weight.get(), ids), n_outputs,
            static_cast<int>(kept.size()), compact};
  }
};

// Any number of wide lanes, all given.
struct LaneRows {
  static constexpr int fixed_lanes = 0;
  static constexpr bool packed = false;
  static constexpr bool unit_weights = false;
  Buffer<int64_t> value;  // (n, n_lanes)
  int n_lanes = 0;

  int lanes() const { return n_lanes; }
  bool may_be_zero() const { return true; }
  void add(uint32_t row, int64_t* cell) const {
    const size_t at = static_cast<size_t>(row) * static_cast<size_t>(n_lanes);
    for (int l = 0; l < n_lanes; ++l) cell[l] += value[at + static_cast<size_t>(l)];
  }
  LaneRows gather(std::span<const uint32_t> ids) const {
    return {Buffer<int64_t>::gathered(value.get(), ids, static_cast<size_t>(n_lanes)), n_lanes};
  }
};

}  // namespace weald
