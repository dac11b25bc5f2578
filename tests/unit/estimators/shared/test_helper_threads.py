"""Threads that help with the members of an ensemble, and what becomes of errors when memory runs out."""

from __future__ import annotations

import _thread

import numpy as np
import pytest

from weald.errors import MemberError, naming_member
from weald.estimators.shared.helper_threads import HelperThreads


def test_memory_that_runs_out_in_a_member_is_not_the_members_error():
    with pytest.raises(MemoryError, match=r"^all of it$"), naming_member("Member 3"):
        raise MemoryError("all of it")
    with pytest.raises(MemberError, match="Member 3 failed"), naming_member("Member 3"):
        raise RuntimeError("other")


@pytest.mark.parametrize("n_helpers", [0, 1, 3, 40])
def test_helper_threads_do_each_task_once(n_helpers):
    done: list[int] = []

    def work(number: int) -> int:
        done.append(number)
        return number * number

    with HelperThreads(work, range(20), n_helpers) as threads:
        assert [threads.result(place) for place in range(20)] == [n * n for n in range(20)]
    assert sorted(done) == list(range(20))


def test_an_error_ends_the_work_of_helper_threads():
    begun: list[int] = []

    def work(number: int) -> int:
        begun.append(number)
        if number == 2:
            raise ValueError("two")
        return number

    with pytest.raises(ValueError, match="two"), HelperThreads(work, range(1000), 2) as threads:
        list(map(threads.result, range(1000)))
    np.testing.assert_array_equal(np.sort(begun), np.arange(len(begun)))


def test_no_thread_to_be_had_leaves_the_work_to_the_caller(monkeypatch):
    def refuse(*_: object) -> int:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_thread, "start_new_thread", refuse)
    with HelperThreads(str, range(5), 3) as threads:
        assert [threads.result(place) for place in range(5)] == list("01234")
