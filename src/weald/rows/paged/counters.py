"""What reading and writing pages cost."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass
class IoCounters:
    """Bytes and seconds of one fit or prediction, or of one store.

    `seconds_waiting` passed while the training had nothing to do until a page came; `seconds_computing`
    between two pages; `seconds_reading` in the background, reading and unpacking.
    """

    bytes_read: int = 0
    bytes_written: int = 0
    pages_read: int = 0
    passes: int = 0
    seconds_reading: float = 0.0
    seconds_waiting: float = 0.0
    seconds_computing: float = 0.0

    def since(self, before: IoCounters) -> IoCounters:
        """The difference to an earlier copy."""
        return IoCounters(**{name: value - getattr(before, name) for name, value in asdict(self).items()})

    def copy(self) -> IoCounters:
        """The counters as they are now."""
        return IoCounters(**asdict(self))
