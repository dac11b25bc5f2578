"""Threads that help the calling one with a list of tasks, while memory may run out at any moment.

Each of them takes the memory of its own before any of them works (see `weald.engine.python_threads`).
"""

from __future__ import annotations

import _thread
from collections.abc import Callable, Sequence
from typing import Any, Generic, Self, TypeVar

from weald.engine.python_threads import start_thread

Found = TypeVar("Found")


class HelperThreads(Generic[Found]):
    """`work` of each number, by up to `n_helpers` threads beside the caller, who takes tasks as well.

    As a context: when it ends, what has begun is waited for, and nothing more begins.
    """

    def __init__(self, work: Callable[[int], Found], numbers: Sequence[int], n_helpers: int) -> None:
        self._work = work
        self._numbers = numbers
        self._n_helpers = min(n_helpers, len(numbers) - 1)
        self._next = 0
        self._lock = _thread.allocate_lock()  # of _next and of who has begun
        self._results: list[Any] = [None] * len(numbers)
        self._errors: list[BaseException | None] = [None] * len(numbers)
        self._ended = [_thread.allocate_lock() for _ in numbers]  # one per task, held until it has ended
        self._begun = [False] * len(numbers)

    def __enter__(self) -> Self:
        for lock in self._ended:
            lock.acquire()
        try:
            with self._lock:  # those who are there wait for it
                n_here = 0
                while n_here < self._n_helpers and start_thread(self._help):
                    n_here += 1
        except BaseException:
            self._next = len(self._numbers)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._next = len(self._numbers)
        for begun, lock in zip(self._begun, self._ended, strict=True):
            if begun:
                lock.acquire()

    def result(self, place: int) -> Found:
        """What `work` gave for numbers[place], or its error. Asked for each place once, in order."""
        while not self._ended[place].acquire(blocking=False):
            if not self._do_one():
                self._ended[place].acquire()  # a helper is at it
                break
        self._ended[place].release()
        error = self._errors[place]
        if error is not None:
            raise error
        found: Found = self._results[place]
        return found

    def _help(self) -> None:
        while self._do_one():
            pass

    def _do_one(self) -> bool:
        """Do the next task; False if all have begun."""
        place = None
        try:
            with self._lock:
                if self._next >= len(self._numbers):
                    return False
                place = self._next
                self._next += 1
                self._begun[place] = True
            self._results[place] = self._work(self._numbers[place])
        except BaseException as error:
            if place is None or isinstance(error, KeyboardInterrupt):
                raise
            self._errors[place] = error
        finally:
            if place is not None:
                self._ended[place].release()
        return True
