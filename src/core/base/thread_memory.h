// What the C++ runtime keeps for a thread, taken while memory can be had.
//
// A library that is loaded while the program runs, as libstdc++ is by Python, gets the memory of its thread-local
// variables when a thread first touches them. libstdc++ touches its own at the first exception of a thread: if that is
// a std::bad_alloc, there is none, and the C library ends the process ("cannot allocate memory for thread-local data:
// ABORT"). So a thread asks for it before it begins to work.
#pragma once

#include <cstddef>

namespace weald {

// After true, this thread can throw and catch. False: there is no memory for that; nothing was touched. It looks before
// it takes, so nobody else should allocate meanwhile: whoever starts a thread waits for it to come back from here.
// `more`: there should be so many bytes besides, for the thread-local variables of other libraries.
bool take_thread_memory(std::size_t more = 1) noexcept;

// The same for a thread that must be able to throw, whatever comes: it may use up a reserve.
void need_thread_memory() noexcept;

}  // namespace weald
