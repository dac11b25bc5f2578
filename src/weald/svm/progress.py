"""Progress of machines for `verbose=1`: how far the gap has come down towards the tolerance."""

from __future__ import annotations

import math
import sys
import time
from types import TracebackType
from typing import Self, TextIO

from weald.progress import PAUSE, Display, display_on

#: steps of the bar
_STEPS = 100


class GapProgress:
    """Shows the machine at work, its updates and its gap; nothing appears before it is entered.

    The bar follows the logarithm of the gap, from that of the first report down to the tolerance: an
    estimate, as nobody knows how many updates a machine needs.

    Parameters
    ----------
    n_machines : int
        How many machines there will be.
    tol : float
        The gap at which a machine is done.
    stream : text file, optional
        Where to write; by default `sys.stderr` as it is when the first machine starts.
    """

    def __init__(self, n_machines: int, tol: float, *, stream: TextIO | None = None) -> None:
        self._n_machines, self._tol, self._stream = n_machines, tol, stream
        self._display: Display | None = None
        self._n_done = 0
        self._first = self._part = 0.0
        self._text = ""
        self._drawn = 0.0

    def __enter__(self) -> Self:
        stream: TextIO | None = self._stream or sys.stderr  # some programs have none
        self._drawn = time.monotonic()
        self._display = None if stream is None else display_on(stream, _STEPS, "percent")
        return self

    def report(self, n_iter: int, gap: float) -> None:
        """What a solver says from time to time."""
        if math.isfinite(gap) and gap > 0:
            self._first = max(self._first, gap)
            whole = math.log(max(self._first / self._tol, 1.0 + 1e-9))
            self._part = max(self._part, min(math.log(self._first / gap) / whole, 1.0))
        self._text = (
            f"machine {min(self._n_done + 1, self._n_machines)} of {self._n_machines}  {n_iter:,} updates  "
            f"gap {gap:.3g} (tol {self._tol:g})"
        )
        now = time.monotonic()
        if self._display is not None and now - self._drawn >= PAUSE:
            self._drawn = now
            self._display.show(self._steps(), self._text)

    def done(self, n_iter: int, gap: float) -> None:
        """One machine is solved."""
        self.report(n_iter, gap)
        self._n_done += 1
        self._first = self._part = 0.0

    def _steps(self) -> int:
        return int(_STEPS * min((self._n_done + self._part) / self._n_machines, 1.0))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        display, self._display = self._display, None
        if display is not None:
            display.close(self._steps(), self._text)
