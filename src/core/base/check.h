// Errors of the core: a message for a person, carried to Python by bindings/call.h.
#pragma once

#include <new>
#include <stdexcept>
#include <string>

namespace weald {

// The data or a parameter cannot be used: becomes weald.errors.DataError.
struct BadInput : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A state that should be impossible: becomes weald.errors.NativeError.
struct BrokenInvariant : std::logic_error {
  using std::logic_error::logic_error;
};

// What is asked for does not fit into memory, which is known before it is tried: becomes MemoryError, as every
// std::bad_alloc.
class TooLarge : public std::bad_alloc {
 public:
  explicit TooLarge(const std::string& message) : message_(message) {}
  const char* what() const noexcept override { return message_.what(); }

 private:
  std::runtime_error message_;  // copies of it cannot throw
};

// The user pressed Ctrl-C: the pending Python exception is raised.
struct Cancelled : std::runtime_error {
  Cancelled() : std::runtime_error("cancelled") {}
};

inline void require(bool holds, const char* message) {
  if (!holds) throw BrokenInvariant(message);
}

}  // namespace weald
