// The one way into the core: the GIL is released, Ctrl-C is watched, C++ exceptions become Python ones with their
// message (see bind_base.cpp for which becomes which). Nothing aborts the process.
#pragma once

#include <nanobind/nanobind.h>

#include "core/base/pool.h"

namespace weald::bindings {

// PyErr_CheckSignals runs handlers in the main thread only; elsewhere it says no.
inline bool signals_pending() {
  const nanobind::gil_scoped_acquire gil;
  return PyErr_CheckSignals() != 0;
}

template <class F>
auto call(int n_threads, F&& f) {
  try {
    const nanobind::gil_scoped_release released;
    Run run(n_threads, signals_pending);
    return f(run);
  } catch (const Cancelled&) {
    throw nanobind::python_error();  // the handler's exception, KeyboardInterrupt as a rule, is pending
  }
}

}  // namespace weald::bindings
