#include "core/svm/kernel/program.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"

namespace weald::svm {

namespace {

constexpr int most_steps = 1000;
constexpr double largest_degree = 1000.0;

// Float values up to here leave room for sums of them.
constexpr double largest_float = 1e30;
// Relative error of a kernel value that may come from the sum it is a function of.
constexpr double float_error = 1e-4;

bool is_leaf(Op op) {
  return op <= Op::intersection || op == Op::constant;
}

Step step_of(const double* row) {
  if (!(row[0] >= 0.0 && row[0] <= 10.0 && row[0] == std::floor(row[0]))) throw BadInput("no such kernel operation");
  const Step step{static_cast<Op>(static_cast<int>(row[0])), row[1], row[2], row[3]};
  if (!std::isfinite(step.a) || !std::isfinite(step.b) || !std::isfinite(step.c)) {
    throw BadInput("the numbers of a kernel must be finite");
  }
  if (step.op == Op::polynomial && !(step.a >= 0.0 && step.a <= largest_degree && step.a == std::floor(step.a))) {
    throw BadInput("the degree of a polynomial kernel must be a whole number from 0 to 1000");
  }
  return step;
}

}  // namespace

Program::Program(std::span<const double> table) {
  if (table.empty() || table.size() % 4 != 0 || table.size() / 4 > most_steps) {
    throw BadInput("a kernel program has 1 to 1000 steps of four numbers");
  }
  int height = 0;
  for (size_t i = 0; i < table.size(); i += 4) {
    const Step step = step_of(table.data() + i);
    const int taken = is_leaf(step.op) ? 0 : step.op == Op::scale ? 1 : 2;
    if (height < taken) throw BadInput("a kernel program combines more kernels than it has");
    height += 1 - taken;
    depth_ = std::max(depth_, height);
    const bool moves = step.op == Op::rbf || step.op == Op::laplacian || step.op == Op::constant || !is_leaf(step.op);
    of_differences_ = of_differences_ && moves;
    steps_.push_back(step);
  }
  if (height != 1) throw BadInput("a kernel program must end with one kernel");
}

bool Program::needs_squares(const RowSizes& sizes, double precision) const {
  const double most = precision < 1e-10 ? 1e-11 : 1e-5;
  return std::any_of(steps_.begin(), steps_.end(), [&](const Step& step) {
    return step.op == Op::rbf && !(std::abs(step.a) * sizes.square * precision <= most);
  });
}

bool Program::float_is_safe(const RowSizes& sizes, bool sparse) const {
  constexpr double precision = 0x1p-24;
  const bool cancels = sparse && needs_squares(sizes, precision);
  return !cancels && sizes.square < largest_float &&
         std::all_of(
             steps_.begin(), steps_.end(),
             [&](const Step& step) {
               const double line = std::abs(step.b) * sizes.square + std::abs(step.c);
               switch (step.op) {
                 case Op::polynomial:
                   return step.a * std::log(std::max(line, 1.0)) < std::log(largest_float);
                 case Op::sigmoid:
                   return line * precision < float_error;
                 case Op::rbf:
                   return std::abs(step.a) * sizes.square * precision * precision < float_error * float_error;
                 case Op::laplacian:
                 case Op::chi_squared:
                   return std::abs(step.a) * sizes.absolute * precision < float_error;
                 case Op::scale:
                 case Op::constant:
                   return std::abs(step.a) < largest_float;
                 default:
                   return true;
               }
             });
}

std::array<bool, n_sums> sums_of(const Program& program, bool squares) {
  std::array<bool, n_sums> read{};
  const auto reads = [&](Sum sum) { read[static_cast<size_t>(sum)] = true; };
  for (const Step& step : program.steps()) {
    if (step.op == Op::linear || step.op == Op::polynomial || step.op == Op::sigmoid) reads(Sum::dot);
    if (step.op == Op::rbf) reads(squares ? Sum::squares : Sum::dot);
    if (step.op == Op::laplacian) reads(Sum::absolute);
    if (step.op == Op::chi_squared) reads(Sum::chi);
    if (step.op == Op::intersection) reads(Sum::minimum);
  }
  return read;
}

}  // namespace weald::svm
