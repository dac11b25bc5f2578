#include "core/base/pool.h"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace weald {

namespace {

constexpr auto poll_interval = std::chrono::milliseconds(100);

thread_local bool inside_block = false;

uint64_t this_thread() {
  return std::hash<std::thread::id>{}(std::this_thread::get_id());
}

struct Job {
  Run* run;
  int64_t n_blocks;
  BlockBody body;
  void* state;
  int max_helpers;
  std::atomic<int64_t> next{0};
  int helpers = 0;  // helpers that ever joined; guarded by the pool's mutex, as is `active`
  int active = 0;
  std::exception_ptr error;
  std::mutex error_mutex;

  bool open() const { return helpers < max_helpers && next.load(std::memory_order_relaxed) < n_blocks; }

  void work(int worker) {
    const bool outer = inside_block;
    inside_block = true;
    try {
      for (;;) {
        run->check();
        const int64_t block = next.fetch_add(1, std::memory_order_relaxed);
        if (block >= n_blocks) break;
        body(state, block, worker);
      }
    } catch (...) {
      next.store(n_blocks, std::memory_order_relaxed);
      const std::lock_guard lock(error_mutex);
      if (!error) error = std::current_exception();
    }
    inside_block = outer;
  }
};

class Pool {
 public:
  void run(Job& job) {
    {
      const std::lock_guard lock(mutex_);
      while (n_threads_ < job.max_helpers && start_thread()) {
      }
      jobs_.push_back(&job);
    }
    wake_.notify_all();
    job.work(0);
    std::unique_lock lock(mutex_);
    jobs_.remove(&job);
    while (job.active > 0) {
      done_.wait_for(lock, poll_interval);
      lock.unlock();
      job.run->poll();
      lock.lock();
    }
  }

 private:
  // False if the system grants no further thread: the work is done by those there are.
  bool start_thread() {
    try {
      // Detached: the pool lives as long as the process, and a helper holds nothing that must be given back.
      std::thread([this] { serve(); }).detach();
    } catch (const std::system_error&) {
      return false;
    }
    ++n_threads_;
    return true;
  }

  Job* open_job() {
    const auto found = std::find_if(jobs_.begin(), jobs_.end(), [](const Job* job) { return job->open(); });
    return found == jobs_.end() ? nullptr : *found;
  }

  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      Job* job = nullptr;
      wake_.wait(lock, [&] { return (job = open_job()) != nullptr; });
      const int worker = ++job->helpers;
      ++job->active;
      lock.unlock();
      job->work(worker);
      lock.lock();
      --job->active;
      done_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::list<Job*> jobs_;
  int n_threads_ = 0;
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
  if (job.max_helpers <= 0 || inside_block) {
    job.work(0);
  } else {
    pool().run(job);
  }
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace weald
