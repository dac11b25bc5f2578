// The only threads of weald. A `Run` is one native call: how many threads it may use, whether it should stop, how far
// it is. `parallel_for` hands out block numbers; the calling thread always works too, so a busy pool can slow a call
// down but never block it, and several Python threads may call at once.
//
// Which thread takes which block is open; results must not depend on it. Inside a block, a further parallel_for runs
// inline. After fork the child builds a new pool.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <type_traits>

#include "core/base/check.h"

namespace weald {

class Run {
 public:
  // `interrupted` is asked about every 100 ms, always on the thread that made the Run.
  explicit Run(int n_threads, std::function<bool()> interrupted = {});
  // A part of another run that keeps to one thread; stops when the whole does.
  explicit Run(Run* whole);

  int n_threads() const { return n_threads_; }
  // Throws Cancelled once the user has asked to stop. Call it between blocks of at most some milliseconds.
  void check();
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
  // On the thread that made the Run: asks `interrupted`, if it is time to.
  void poll();

 private:
  Run* whole_ = nullptr;
  int n_threads_;
  std::function<bool()> interrupted_;
  std::atomic<bool> cancelled_{false};
  std::chrono::steady_clock::time_point last_poll_;
  uint64_t owner_;
};

// Called as body(block, worker): block in [0, n_blocks), worker in [0, run.n_threads()) unique among running blocks.
using BlockBody = void (*)(void* state, int64_t block, int worker);

namespace detail {
void parallel_blocks(Run& run, int64_t n_blocks, BlockBody body, void* state);
}

template <class Body>
void parallel_for(Run& run, int64_t n_blocks, Body&& body) {
  using Callable = std::remove_reference_t<Body>;
  detail::parallel_blocks(
      run, n_blocks, [](void* state, int64_t block, int worker) { (*static_cast<Callable*>(state))(block, worker); },
      const_cast<void*>(static_cast<const void*>(&body)));
}

}  // namespace weald
