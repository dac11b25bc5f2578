"""Threads of Python that may find no memory: whoever starts one learns whether it came."""

from __future__ import annotations

import _thread
import threading

import pytest

from weald import _core
from weald.engine import python_threads
from weald.engine.python_threads import apart, start_thread


def test_work_apart_is_done_by_another_thread():
    assert apart(threading.get_ident) != threading.get_ident()


def test_errors_come_back_from_work_apart():
    def fail() -> None:
        raise MemoryError("all of it")

    with pytest.raises(MemoryError, match="all of it"):
        apart(fail)


def test_a_thread_that_never_comes_is_not_waited_for(monkeypatch):
    begun = []
    monkeypatch.setattr(python_threads, "_PATIENCE", 0.01)
    monkeypatch.setattr(_thread, "start_new_thread", lambda begin, _: begun.append(begin))
    worked = []
    assert not start_thread(lambda: worked.append(1))
    begun[0]()  # it comes late
    assert not worked
    assert apart(threading.get_ident) == threading.get_ident()


@pytest.mark.parametrize("more", [0, 2**20])
def test_the_memory_of_a_thread_can_be_taken_more_than_once(more):
    assert _core.take_thread_memory(more)
    assert _core.take_thread_memory(more)


def test_a_thread_without_memory_does_nothing(monkeypatch):
    monkeypatch.setattr(python_threads, "_OF_OTHERS", 2**62)
    worked = []
    assert not start_thread(lambda: worked.append(1))
    assert not worked
