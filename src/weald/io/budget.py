"""How much memory a model file may take to be read: at most ten times its size and 50 MB.

A file is a promise of somebody else's. Whatever it asks for is added up here before it is built, so that a
small file cannot ask for much: its JSON, its text, the nodes of its trees, the columns of its table.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

from weald.errors import ModelFileError

#: The promise: peak of `load` <= TIMES * file + SLACK.
TIMES, SLACK = 10, 50_000_000
#: What the interpreter takes beside what is counted.
_UNCOUNTED = 4_000_000


class Budget:
    """The memory that one file may still take."""

    def __init__(self, file_size: int) -> None:
        self.left = (TIMES - 1) * file_size + SLACK - _UNCOUNTED  # once for its arrays as they are stored

    def spend(self, n_bytes: int, what: str) -> None:
        """Take so much for `what`; ModelFileError if that is more than is left."""
        self.left -= n_bytes
        if self.left < 0:
            raise ModelFileError(
                f"The file asks for more memory than a model file of its size may ({TIMES} times its size "
                f"and {SLACK // 1_000_000} MB): {what}."
            )


_current: ContextVar[Budget | None] = ContextVar("budget of the file that is read", default=None)


@contextlib.contextmanager
def reading(file_size: int) -> Iterator[Budget]:
    """Count what is built within against the size of this file."""
    token = _current.set(Budget(file_size))
    try:
        budget = _current.get()
        assert budget is not None
        yield budget
    finally:
        _current.reset(token)


def spend(n_bytes: int, what: str) -> None:
    """Take so much of the budget of the file that is read; nothing is counted where none is."""
    budget = _current.get()
    if budget is not None:
        budget.spend(n_bytes, what)


@contextlib.contextmanager
def lent(n_bytes: int, what: str) -> Iterator[None]:
    """As `spend`, and give it back at the end."""
    budget = _current.get()
    spend(n_bytes, what)
    try:
        yield
    finally:
        if budget is not None:
            budget.left += n_bytes
