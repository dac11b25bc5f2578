"""A coded partition on a worker, and what it remembers of the last tasks: a help for speed, never needed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.arrays import Floats
from weald.engine.storage import pages as native


class Place(NamedTuple):
    """Where rows are in a growing tree."""

    n_passes: int
    number: engine.Numbers
    kept: NDArray[np.uint32]  # their 16-bit gradients, or none


class Memory:
    """What tasks on this worker found of a partition. Another worker works it out anew, to the bit."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._places: dict[tuple[int, int], Place] = {}  # by (round, tree of the round)
        self._scores: tuple[int, Floats] | None = None

    def take(self, tree: tuple[int, int], n_passes: int) -> Place | None:
        """The place of rows after so many passes, to be changed: nobody else has it then."""
        with self._lock:
            found = self._places.get(tree)
            if found is None or found.n_passes != n_passes:
                return None
            return self._places.pop(tree)

    def put(self, tree: tuple[int, int], place: Place) -> None:
        """Remember a place; those of earlier rounds are forgotten."""
        with self._lock:
            others = {key: each for key, each in self._places.items() if key[0] == tree[0]}
            self._places = {key: each._replace(kept=each.kept[:0]) for key, each in others.items()}
            self._places[tree] = place

    def number(self, tree: tuple[int, int], n_passes: int) -> engine.Numbers | None:
        """The nodes of rows after so many passes, only to be read."""
        with self._lock:
            found = self._places.get(tree)
            return found.number if found is not None and found.n_passes == n_passes else None

    def keep_scores(self, version: int, scores: Floats) -> None:
        """Remember the newest scores."""
        with self._lock:
            self._scores = (version, scores)

    def scores(self, version: int) -> Floats | None:
        """The scores of that version, only to be read."""
        with self._lock:
            found = self._scores
            return found[1] if found is not None and found[0] == version else None


class Partition:
    """Neighbouring rows of a table in codes.

    Parameters
    ----------
    page : ndarray of uint8
        The coded rows, in the format of pages.
    codebook : sequence of CodebookColumn
        What gives codes their meaning.
    first_row, n_rows : int
        Which rows of the whole table these are.
    """

    __slots__ = ("_codes", "codebook_columns", "first_row", "memory", "n_rows", "page")

    def __init__(
        self, page: NDArray[np.uint8], codebook: Sequence[native.CodebookColumn], first_row: int, n_rows: int
    ) -> None:
        self.page, self.codebook_columns = page, codebook
        self.first_row, self.n_rows = first_row, n_rows
        self.memory = Memory()
        self._codes: tuple[engine.NativeCodes, engine.NativeCodes] | None = None

    @property
    def codebook(self) -> engine.NativeCodes:
        """Codes of no rows."""
        return self._opened()[0]

    @property
    def codes(self) -> engine.NativeCodes:
        """The codes of the rows."""
        return self._opened()[1]

    def _opened(self) -> tuple[engine.NativeCodes, engine.NativeCodes]:
        if self._codes is None:
            codebook = native.make_codebook(self.codebook_columns)
            found = native.read_page(codebook, self.page, store=0, first_row=self.first_row)
            self._codes = (codebook, found)
        return self._codes

    def __reduce__(self) -> tuple[object, ...]:
        """What travels to another worker: the rows, not what was remembered of them."""
        return Partition, (self.page, self.codebook_columns, self.first_row, self.n_rows)

    def __sizeof__(self) -> int:
        """Bytes of memory, by which Dask decides what to move and what to spill."""
        return object.__sizeof__(self) + self.page.nbytes
