// The Arrow C data interface: the three structs whose layout its specification fixes, and owners for them.
//
// Names and order of the members are part of that public binary interface. An exporter fills a struct and
// sets `release`; whoever owns the struct calls `release` once; a null `release` means "already released".
#pragma once

#include <cstdint>
#include <utility>

namespace weald::arrow {

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

inline constexpr std::int64_t kDictionaryOrdered = 1;  // a bit of ArrowSchema::flags

// Owns one of the structs above and releases it on every way out.
template <class Struct>
class Owned {
 public:
  Owned() = default;
  // Moves the content out of `source`, as the specification asks of a consumer.
  explicit Owned(Struct& source) : value_(source) { source.release = nullptr; }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Owned(Owned&& other) noexcept : value_(other.value_) { other.value_.release = nullptr; }
  Owned& operator=(Owned&&) = delete;
  ~Owned() {
    if (value_.release != nullptr) value_.release(&value_);
  }

  Struct* get() { return &value_; }
  const Struct* operator->() const { return &value_; }
  const Struct& operator*() const { return value_; }

 private:
  Struct value_{};
};

}  // namespace weald::arrow
