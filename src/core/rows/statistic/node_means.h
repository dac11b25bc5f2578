// The mean targets of nodes whose rows pass by in blocks, as mean_target (tree/grow/node_numbers.h) has them: equal
// targets are their own mean, others are added up in fixed point of the node's own. Two passes that read no codes: the
// largest target of each node first, then the sums.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/pool.h"
#include "core/tree/kinds/made.h"

namespace weald {

class NodeMeans {
 public:
  // `parent_of` each number, which is larger; −1: none. `wanted`: whether the mean of a number is asked for.
  NodeMeans(std::vector<int32_t> parent_of, std::vector<uint8_t> wanted, size_t n_targets);

  // Whether there is another pass.
  bool next();
  template <class Number>
  void add(const StatisticRows& rows, uint64_t first_row, std::span<const Number> number, Run& run);
  // After a pass.
  void take();
  bool wants(int32_t number) const { return wanted_[static_cast<size_t>(number)] != 0; }
  // After all: of a wanted number whose rows weigh so much.
  double mean(int32_t number, size_t output, int64_t weight) const;

 private:
  // Of the rows of a node, in one output.
  struct Top {
    double first = 0, largest = 0;
    uint64_t row = 0;  // of the first
    bool any = false, equal = true;
    void add(uint64_t of_row, double target);
    void add(const Top& other);
  };
  // One sum that rows of a number add to: of all wanted nodes above it whose largest targets have this exponent.
  struct Sum {
    int exponent;
    __int128 units;
  };

  size_t at(size_t number, size_t output) const { return number * n_targets_ + output; }
  void find_sums();

  std::vector<int32_t> parent_of_;
  std::vector<uint8_t> wanted_;
  size_t n_targets_;
  int pass_ = 0;
  std::vector<std::vector<Top>> tops_;  // per thread; in the end the first has all
  std::vector<int> exponent_;           // per number and output
  std::vector<size_t> start_;           // of the sums of each number and output
  std::vector<std::vector<Sum>> sums_;  // per thread
  std::vector<__int128> units_;         // per number and output
};

}  // namespace weald
