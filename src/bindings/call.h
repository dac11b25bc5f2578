// The one way into long native work: the GIL is released, Ctrl-C is watched, C++ exceptions become Python ones with
// their message (see bind_base.cpp for which becomes which). Nothing aborts the process.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "core/base/pool.h"
#include "core/base/thread_memory.h"

namespace weald::bindings {

inline std::atomic<bool>& interpreter_is_exiting() {
  static std::atomic<bool> exiting{false};
  return exiting;
}

// Threads that are on their way back to the GIL and have seen no exit.
inline std::atomic<int>& threads_coming_back() {
  static std::atomic<int> n{0};
  return n;
}

// Milliseconds that the interpreter may take to end, on a machine with much else to do.
constexpr int longest_exit = 5000;

inline void sleep_milliseconds(int n) {
  std::this_thread::sleep_for(std::chrono::milliseconds(n));
}

inline bool on_main_thread() {
  const nanobind::module_ threading = nanobind::module_::import_("threading");
  return nanobind::cast<unsigned long>(threading.attr("get_ident")()) ==
         nanobind::cast<unsigned long>(threading.attr("main_thread")().attr("ident"));
}

// Releases the GIL. A daemon thread that wants it back while the interpreter ends would be unwound by CPython, through
// frames that may not be. So, once the exit has begun, such a thread gives the end some time to come, and if it has
// come waits for the process to go.
class Unlocked {
 public:
  explicit Unlocked(bool main_thread) : main_thread_(main_thread), state_(PyEval_SaveThread()) {}
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;
  ~Unlocked() {
    ++threads_coming_back();  // before it looks: `begin_exit` waits for whoever looked too early
    if (interpreter_is_exiting() && !main_thread_) {
      --threads_coming_back();
      for (int wait = 0; wait < longest_exit && Py_IsInitialized() != 0; ++wait) sleep_milliseconds(1);
      while (Py_IsInitialized() == 0) sleep_milliseconds(1000);
      ++threads_coming_back();
    }
    PyEval_RestoreThread(state_);
    --threads_coming_back();
  }

 private:
  bool main_thread_;
  PyThreadState* state_;
};

// Called at exit, before the interpreter starts to end: lets threads that already wait for the GIL pass.
inline void begin_exit() {
  interpreter_is_exiting() = true;
  const Unlocked unlocked(true);
  for (int wait = 0; wait < longest_exit && threads_coming_back() > 0; ++wait) sleep_milliseconds(1);
}

inline bool signals_pending() {
  const nanobind::gil_scoped_acquire gil;
  return PyErr_CheckSignals() != 0;
}

// `tell` is called about every 100 ms on the thread that calls, with the GIL held; what it raises ends the work.
template <class F>
auto call_telling(int n_threads, std::function<void()> tell, F&& f) {
  need_thread_memory();
  // Python runs signal handlers in the main thread only, so only there is it asked.
  const bool main_thread = on_main_thread();
  std::function<bool()> interrupted;
  if (main_thread) interrupted = signals_pending;
  if (tell) {
    interrupted = [&] {
      const nanobind::gil_scoped_acquire gil;
      if (PyErr_Occurred() != nullptr) return true;  // threads that still work may make it ask again
      try {
        tell();
      } catch (nanobind::python_error& error) {
        error.restore();
        return true;
      }
      return main_thread && signals_pending();
    };
  }
  try {
    const Unlocked unlocked(main_thread);
    Run run(n_threads, interrupted);
    if constexpr (std::is_void_v<decltype(f(run))>) {
      f(run);
      if (run.cancelled()) throw Cancelled();
    } else {
      auto result = f(run);
      if (run.cancelled()) throw Cancelled();
      return result;
    }
  } catch (const Cancelled&) {
    throw nanobind::python_error();  // the handler's exception, KeyboardInterrupt as a rule, is pending
  }
}

template <class F>
auto call(int n_threads, F&& f) {
  return call_telling(n_threads, nullptr, std::forward<F>(f));
}

}  // namespace weald::bindings
