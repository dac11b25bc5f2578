"""Threads of Python that may find no memory when they begin.

`threading.Thread.start` waits for the thread to say that it runs. One that finds no memory for its first
frame never says so, and the wait never ends. Here the wait ends.

A thread gets the memory of its thread-local variables, those of NumPy too, when it first touches them, and
the C library ends the process if there is none. So a thread takes it at once, while whoever started it waits
and takes nothing: then it can be said beforehand whether there is enough.
"""

from __future__ import annotations

import _thread
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np

from weald import _core

Found = TypeVar("Found")

#: seconds for a thread to come; one that finds no memory for its first frame never does
_PATIENCE = 1.0
#: bytes there should be for the thread-local variables of NumPy, some 50 KB, and for what they are cut from
_OF_OTHERS = 2**21
#: seconds between two looks for Ctrl-C
_LOOK = 0.1


def apart(work: Callable[[], Found]) -> Found:
    """What `work` gives: by a thread of its own, so that Ctrl-C ends the wait, or here if there is none."""
    found: list[Any] = [None, None]
    ended = _thread.allocate_lock()
    ended.acquire()

    def do() -> None:
        try:
            found[0] = work()
        except BaseException as error:
            found[1] = error
        finally:
            ended.release()

    if not start_thread(do):
        return work()
    while not ended.acquire(timeout=_LOOK):
        pass
    if found[1] is not None:
        raise found[1]
    result: Found = found[0]
    return result


def start_thread(work: Callable[[], None]) -> bool:
    """Let a thread of its own do some work, once it has its memory; False if there is no thread to be had."""
    able = [False]
    try:
        come, decided = _thread.allocate_lock(), _thread.allocate_lock()
        come.acquire()

        def begin() -> None:
            with suppress(MemoryError):  # where `work` has no answer to it, this thread can do no more
                try:
                    able[0] = not decided.locked() and _take_memory() and decided.acquire(blocking=False)
                finally:
                    come.release()
                if able[0]:
                    work()

        _thread.start_new_thread(begin, ())
    except (RuntimeError, MemoryError):
        return False
    try:
        came = come.acquire(timeout=_PATIENCE)
    except BaseException:
        decided.acquire(blocking=False)
        raise
    if not came:
        if decided.acquire(blocking=False):
            return False  # should it come after all, it finds this decided
        come.acquire()
    return able[0]


def _take_memory() -> bool:
    if not _core.take_thread_memory(_OF_OTHERS):
        return False
    np.empty(1)  # touches NumPy's
    return True
