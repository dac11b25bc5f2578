#include "core/base/thread_memory.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <exception>

namespace weald {

namespace {

// A block for the table of a thread's modules, and small ones: once freed, the allocator keeps these for the thread
// that freed them, so that no other thread can take away what was found.
constexpr std::array<std::size_t, 6> probed{8192, 24, 40, 56, 72, 104};
constexpr std::size_t reserve_bytes = std::size_t{1} << 16;

std::atomic<void*> reserve{std::malloc(reserve_bytes)};

bool can_have_memory(std::size_t more = 1) noexcept {
  std::array<void*, probed.size()> blocks{};
  void* const large = std::malloc(more);
  bool all = large != nullptr;
  for (std::size_t i = 0; i < probed.size(); ++i) {
    blocks[i] = std::malloc(probed[i]);
    all = all && blocks[i] != nullptr;
  }
  std::free(large);
  for (void* block : blocks) std::free(block);
  return all;
}

// libstdc++ reads the count of exceptions in flight from its thread-local variables. It promises the compiler that
// this changes nothing, which would leave out a call whose result nobody reads: so it is written somewhere.
void touch() noexcept {
  [[maybe_unused]] volatile int n_exceptions = std::uncaught_exceptions();
}

}  // namespace

bool take_thread_memory(std::size_t more) noexcept {
  if (!can_have_memory(more)) return false;
  touch();
  return true;
}

void need_thread_memory() noexcept {
  const bool short_of_it = !can_have_memory();
  if (short_of_it) std::free(reserve.exchange(nullptr));
  touch();
  if (short_of_it || reserve.load(std::memory_order_relaxed) != nullptr) return;
  void* fresh = std::malloc(reserve_bytes);
  void* none = nullptr;
  if (!reserve.compare_exchange_strong(none, fresh)) std::free(fresh);
}

}  // namespace weald
