// The categories present in one node: what the searches by categories compare.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weald {

// The categories present in one node: code, row count, lanes.
struct PresentCategories {
  std::vector<uint32_t> code;
  std::vector<int64_t> n_rows;
  std::vector<int64_t> lanes;  // (size, n_lanes)
  size_t n_lanes = 0;

  size_t size() const { return code.size(); }
  const int64_t* cell(size_t i) const { return lanes.data() + i * n_lanes; }
  void clear(int lane_count) {
    code.clear();
    n_rows.clear();
    lanes.clear();
    n_lanes = static_cast<size_t>(lane_count);
  }
  // Room for n: one by one they would cost more to add than to find.
  void resize(size_t n) {
    code.resize(n);
    n_rows.resize(n);
    lanes.resize(n * n_lanes);
  }
  int64_t* append(uint32_t new_code) {
    code.push_back(new_code);
    n_rows.push_back(0);
    lanes.resize(lanes.size() + n_lanes, 0);
    return lanes.data() + lanes.size() - n_lanes;
  }
};

}  // namespace weald
