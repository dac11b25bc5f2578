#include "core/base/pool.h"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "core/base/thread_memory.h"

namespace weald {

namespace {

constexpr auto poll_interval = std::chrono::milliseconds(100);
// How long a thread looks for more before it sleeps. A tree is grown in hundreds of short regions with little between
// them; waking a sleeper takes longer than most of them. Not done where there are more threads than processors.
constexpr auto spin_time = std::chrono::microseconds(80);

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Waits until ready() for at most `spin_time`; true if it came to be.
template <class Ready>
bool spin(Ready ready) {
  constexpr int looks = 64;  // between two looks at the clock
  const auto end = std::chrono::steady_clock::now() + spin_time;
  do {
    for (int i = 0; i < looks; ++i) {
      if (ready()) return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

// Whether a thread is inside a block: a key, which needs no memory of its own (see thread_memory.h), not thread_local.
class InsideBlock {
 public:
  InsideBlock() {
    if (pthread_key_create(&key_, nullptr) != 0) throw std::bad_alloc();
  }
  bool get() const { return pthread_getspecific(key_) != nullptr; }
  // False if there is no memory for it. To set it back never takes any.
  bool set(bool inside) const { return pthread_setspecific(key_, inside ? this : nullptr) == 0; }

 private:
  pthread_key_t key_;
};
const InsideBlock inside_block;

uint64_t this_thread() {
  return std::hash<std::thread::id>{}(std::this_thread::get_id());
}

// Held for some tens of instructions only, so waiting for it must not put a thread to sleep.
class SpinLock {
 public:
  void lock() {
    constexpr int looks = 1000;  // then whoever holds it was probably put off its processor
    for (int i = 0; held_.exchange(true, std::memory_order_acquire); ++i) {
      while (held_.load(std::memory_order_relaxed) && i < looks) {
        pause();
        ++i;
      }
      if (i >= looks) std::this_thread::yield();
    }
  }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

struct Job {
  Run* run;
  int64_t n_blocks;
  BlockBody body;
  void* state;
  int max_helpers;
  Job* older = nullptr;  // in the pool's list
  std::atomic<int64_t> next{0};
  int helpers = 0;  // helpers that ever joined; guarded by the pool's lock
  std::atomic<int> active{0};
  std::exception_ptr error;
  std::mutex error_mutex;

  bool open() const { return helpers < max_helpers && next.load(std::memory_order_relaxed) < n_blocks; }

  // Never throws: what a block throws is kept for the caller.
  void work(int worker) noexcept {
    try {
      for (;;) {
        run->check();
        const int64_t block = next.fetch_add(1, std::memory_order_relaxed);
        if (block >= n_blocks) break;
        body(state, block, worker);
      }
    } catch (...) {
      keep_error();
    }
  }

  // On the caller's thread, while helpers are at work: Ctrl-C and progress.
  void poll() noexcept {
    try {
      run->poll();
    } catch (...) {
      keep_error();
    }
  }

 private:
  void keep_error() {
    next.store(n_blocks, std::memory_order_relaxed);
    const std::lock_guard lock(error_mutex);
    if (!error) error = std::current_exception();
  }
};

// Handing out a job and taking it costs no system call while helpers look for one. Whoever sleeps says so first and
// looks once more; whoever changes something looks for sleepers afterwards (both sequentially consistent): one of the
// two always sees the other.
class Pool {
 public:
  // Nothing here throws or allocates: helpers hold on to the job, which is on the caller's stack.
  void run(Job& job) noexcept {
    lock_.lock();
    while (n_threads_ < job.max_helpers && start_thread()) ++n_threads_;
    job.older = std::exchange(newest_, &job);
    spins_ = n_threads_ < processors_;
    lock_.unlock();
    ++n_jobs_;
    wake(n_asleep_, wake_);
    job.work(0);
    lock_.lock();
    take_out(job);
    lock_.unlock();
    const auto done = [&] { return job.active == 0; };
    if (done() || (spins_ && spin(done))) return;
    ++n_waiting_;
    std::unique_lock asleep(sleep_);
    while (!done_.wait_for(asleep, poll_interval, done)) {
      asleep.unlock();
      job.poll();
      asleep.lock();
    }
    --n_waiting_;
  }

 private:
  // False if the system grants no further thread: the work is done by those there are.
  bool start_thread() noexcept {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return false;
    // Detached: the pool lives as long as the process, and a helper holds nothing that must be given back.
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread{};
    const int n_begun = n_begun_;
    const bool started = pthread_create(&thread, &attributes, &Pool::begin, this) == 0;
    pthread_attr_destroy(&attributes);
    while (started && n_begun_ == n_begun) std::this_thread::yield();  // it takes its memory before others want any
    return started;
  }

  static void* begin(void* pool) noexcept {
    static_cast<Pool*>(pool)->begin();
    return nullptr;
  }

  void begin() noexcept {
    const bool can_serve = take_thread_memory() && inside_block.set(true);
    ++n_begun_;
    if (can_serve) serve();
    const std::lock_guard lock(lock_);  // no memory even for a thread's own: the others do without it
    --n_threads_;
  }

  void wake(const std::atomic<int>& n_sleepers, std::condition_variable& sleepers) {
    if (n_sleepers == 0) return;
    const std::lock_guard lock(sleep_);
    sleepers.notify_all();
  }

  // Joins a job that has blocks left; nullptr if there is none.
  Job* join(int& worker) {
    const std::lock_guard lock(lock_);
    Job* oldest = nullptr;
    for (Job* job = newest_; job != nullptr; job = job->older) {
      if (job->open()) oldest = job;
    }
    if (oldest == nullptr) return nullptr;
    worker = ++oldest->helpers;
    ++oldest->active;
    return oldest;
  }

  void take_out(const Job& job) {
    Job** place = &newest_;
    while (*place != &job) place = &(*place)->older;
    *place = job.older;
  }

  [[noreturn]] void serve() noexcept {
    for (;;) {
      const uint64_t seen = n_jobs_;
      int worker = 0;
      if (Job* job = join(worker)) {
        job->work(worker);
        --job->active;  // the caller's job is gone as soon as it sees that nobody is active
        wake(n_waiting_, done_);
        continue;
      }
      const auto more = [&] { return n_jobs_ != seen; };
      if (spins_ && spin(more)) continue;
      ++n_asleep_;
      {
        std::unique_lock asleep(sleep_);
        wake_.wait(asleep, more);
      }
      --n_asleep_;
    }
  }

  SpinLock lock_;  // of the list of jobs, n_threads_ and Job::helpers
  Job* newest_ = nullptr;
  int n_threads_ = 0;
  std::atomic<int> n_begun_{0};      // threads that have taken their memory, or found that there is none
  std::atomic<uint64_t> n_jobs_{0};  // ever begun
  std::atomic<bool> spins_{false};
  std::mutex sleep_;
  std::condition_variable wake_, done_;
  std::atomic<int> n_asleep_{0}, n_waiting_{0};
  int processors_ = static_cast<int>(std::thread::hardware_concurrency());
};

// One pool a process. A forked child inherits the memory but not the threads, so it makes its own; the parent's is
// left behind unfreed, because its mutex may have been held at the moment of the fork.
std::atomic<Pool*> current_pool{nullptr};
const int fork_handler = pthread_atfork(nullptr, nullptr, [] { current_pool.store(nullptr); });

Pool& pool() {
  Pool* found = current_pool.load(std::memory_order_acquire);
  if (found == nullptr) {
    auto fresh = std::make_unique<Pool>();
    if (current_pool.compare_exchange_strong(found, fresh.get())) found = fresh.release();
  }
  return *found;
}

}  // namespace

Run::Run(int n_threads, std::function<bool()> interrupted)
    : n_threads_(std::max(1, n_threads)),
      interrupted_(std::move(interrupted)),
      last_poll_(std::chrono::steady_clock::now()),
      owner_(this_thread()) {}

Run::Run(Run* whole) : Run(1) {
  whole_ = whole;
}

void Run::poll() {
  if (!interrupted_ || this_thread() != owner_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_poll_ < poll_interval) return;
  last_poll_ = now;
  if (interrupted_()) cancel();
}

void Run::check() {
  if (whole_ != nullptr) return whole_->check();
  poll();
  if (cancelled()) throw Cancelled();
}

void detail::parallel_blocks(Run& run, int64_t n_blocks, BlockBody body, void* state) {
  if (n_blocks <= 0) return;
  Job job{.run = &run,
          .n_blocks = n_blocks,
          .body = body,
          .state = state,
          .max_helpers = 0,
          .error = {},
          .error_mutex = {}};
  job.max_helpers = static_cast<int>(std::min<int64_t>(run.n_threads() - 1, n_blocks - 1));
  if (inside_block.get()) {
    job.work(0);
  } else {
    Pool* const helpers = job.max_helpers > 0 ? &pool() : nullptr;
    if (!inside_block.set(true)) throw std::bad_alloc();
    if (helpers != nullptr) {
      helpers->run(job);
    } else {
      job.work(0);
    }
    inside_block.set(false);
  }
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace weald
