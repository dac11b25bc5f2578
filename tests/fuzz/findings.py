"""What both fuzzers look for: what should not be, and what takes too long."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

#: seconds that one call may take: a machine that other work shares is slow at times
PATIENCE = 60


class Finding(Exception):  # noqa: N818 (it is what a fuzzer looks for)
    """What should not be."""


@contextmanager
def patience(what: str) -> Iterator[None]:
    """A finding if it takes too long."""

    def late(*_: object) -> None:
        raise Finding(f"{what} took more than {PATIENCE} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
