"""The lines that `verbose` of gradient boosting prints: scikit-learn's table of rounds and losses."""

from __future__ import annotations

import time

_HEADER = ("Train Loss", "OOB Improve", "Remaining Time")


class LossTable:
    """A line for each of the first ten rounds and then ever fewer, or one for every round.

    Parameters
    ----------
    verbose : int
        1 for fewer lines as rounds go on; more for a line every round.
    first_round, n_rounds : int
        How many rounds the model has already, and how many it is to have.
    out_of_bag : bool
        Whether rows left out tell what a round was worth.
    """

    def __init__(self, verbose: int, *, first_round: int, n_rounds: int, out_of_bag: bool) -> None:
        self._fewer = int(verbose) == 1
        self._first, self._n_rounds, self._out_of_bag = first_round, n_rounds, out_of_bag
        self._every = 1
        self._started = 0.0

    def start(self) -> None:
        """Print the names of the columns."""
        self._started = time.monotonic()
        names = [name for name in _HEADER if self._out_of_bag or name != "OOB Improve"]
        print(f"{'Iter':>10} " + "".join(f"{name:>16} " for name in names))

    def add(self, n_done: int, loss: float, improvement: float) -> None:
        """Print a round, if it is its turn; `n_done`: how many rounds the model has now."""
        new = n_done - self._first
        if new % self._every:
            return
        seconds = (self._n_rounds - n_done) * (time.monotonic() - self._started) / new
        left = f"{seconds / 60:.2f}m" if seconds > 60 else f"{seconds:.2f}s"
        worth = f" {improvement:>16.4f}" if self._out_of_bag else ""
        print(f"{n_done:>10d} {loss:>16.4f}{worth} {left:>16}")
        if self._fewer and new // (self._every * 10):
            self._every *= 10
