// A kernel as a short program in postfix order: leaves put the kernel of two rows on a stack, the other operations
// combine what is there (docs/methods/kernels.md, equations K1 and K2). All leaves are functions of one of five sums
// over the columns of two rows x and z, so that a block of kernel values is a block of sums and then work on each
// number alone.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace weald::svm {

enum class Op : int {
  linear = 0,        // x·z
  polynomial = 1,    // (b x·z + c)^a, a a whole number
  rbf = 2,           // exp(−a ‖x − z‖²)
  sigmoid = 3,       // tanh(b x·z + c)
  laplacian = 4,     // exp(−a Σ |x − z|)
  chi_squared = 5,   // exp(−a Σ (x − z)² / (x + z)), a term of 0 where x + z = 0
  intersection = 6,  // Σ min(x, z)
  add = 7,           // takes two
  multiply = 8,      // takes two
  scale = 9,         // takes one, times a
  constant = 10,     // a
};

struct Step {
  Op op;
  double a, b, c;
};

// What is added up over columns. `squares` is ‖x − z‖² term by term: nothing cancels, at half the speed of `dot`.
enum class Sum : int { dot = 0, squares = 1, absolute = 2, chi = 3, minimum = 4 };
constexpr int n_sums = 5;

// The largest sizes of rows, on which it depends how a program may be computed.
struct RowSizes {
  double square = 0.0;    // max ‖x‖², of centred rows where the program is of differences alone
  double absolute = 0.0;  // max Σ |x|
};

class Program {
 public:
  // (n_steps, 4): op, a, b, c. Throws BadInput for what is no program.
  explicit Program(std::span<const double> table);

  const std::vector<Step>& steps() const { return steps_; }
  int depth() const { return depth_; }  // of the stack
  // Whether only differences of rows count, so that all rows may be moved alike.
  bool of_differences() const { return of_differences_; }
  // Whether the program is x·z and nothing else.
  bool is_linear() const { return steps_.size() == 1 && steps_[0].op == Op::linear; }

  // Whether ‖x − z‖² must be added up term by term: as ‖x‖² + ‖z‖² − 2 x·z it would lose too many digits of a
  // precision (2^-24 or 2^-53) for rows of these sizes.
  bool needs_squares(const RowSizes& sizes, double precision) const;
  // Whether float is enough to start with; the solver looks at the result in double.
  bool float_is_safe(const RowSizes& sizes, bool sparse) const;

 private:
  std::vector<Step> steps_;
  int depth_ = 0;
  bool of_differences_ = true;
};

// Which sums the program reads.
std::array<bool, n_sums> sums_of(const Program& program, bool squares);

}  // namespace weald::svm
