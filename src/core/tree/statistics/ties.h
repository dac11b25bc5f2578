// Which of two columns is taken that part a node equally well. A tree by itself takes the lower number. The trees of a
// forest would be alike by that, and predict worse: a node of two rows is parted as well by one column as by most
// others. There chance decides, anew in every node.
#pragma once

#include <cstdint>

#include "core/base/random.h"
#include "core/tree/options.h"

namespace weald {

class Ties {
 public:
  Ties() = default;
  // `of_node`: what the node draws its columns by, or would.
  Ties(const GrowOptions& options, const Draws& of_node) : random_(options.random_ties), words_(of_node) {}

  bool prefers(int32_t column, int32_t other) const { return random_ ? word(column) < word(other) : column < other; }

 private:
  static constexpr uint64_t first = uint64_t{1} << 32;  // draws that no choice of columns reaches

  uint64_t word(int32_t column) const { return words_(first + static_cast<uint64_t>(column)); }

  bool random_ = false;
  Draws words_{0, Purpose::node_columns, 0};
};

// The draws by which a node chooses its columns.
inline Draws column_draws(const GrowOptions& options, uint64_t path) {
  return Draws(options.seed, Purpose::node_columns, path);
}

}  // namespace weald
