"""Intervals by the jackknife+ after the bootstrap: from trees that did not see a row, and their errors.

Equations U7–U9 of `docs/methods/forests.md`, after Kim, Xu and Barber (2020).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from weald.data.rows import take_rows
from weald.data.table import Table
from weald.model.forest import Forest
from weald.uncertainty.trees import CELLS, Drawn, TrainingRows, row_blocks, tree_values

#: keeps these draws apart from all others of the same seed
_PURPOSE = 0x1A7E_53A1


def jackknife_plus(
    forest: Forest,
    table: Table,
    train: TrainingRows,
    rows: NDArray[np.int64],
    coverage: float,
    *,
    n_threads: int,
) -> NDArray[np.float64]:
    """The interval of each row and output: (n_rows, 2, outputs), infinite where `rows` are too few.

    Parameters
    ----------
    forest : Forest
        The trees.
    table : Table
        The rows to predict, aligned to the model.
    train : TrainingRows
        The rows of the fit.
    rows : ndarray
        Numbers of those that are left out in turn; each lacks in some bag.
    coverage : float
        Between 0 and 1.
    n_threads : int
        Threads that look up leaves.
    """
    lacks = Lacks(train.drawn, rows)
    errors = _own_errors(forest, train, rows, lacks, n_threads=n_threads)
    lower, upper = interval_ranks(len(rows), coverage)
    out = np.empty((table.n_rows, 2, forest.width))
    cells = min(CELLS, max(1, CELLS // len(rows)) * forest.n_trees * forest.width)
    for places, part in row_blocks(forest, table, n_threads=n_threads, cells=cells):
        values = tree_values(forest, part, n_threads=n_threads)
        for k in range(forest.width):
            means = lacks.means(np.ascontiguousarray(values[:, :, k]))
            out[places, 0, k] = _ranked(means - errors[:, k, None], lower)
            out[places, 1, k] = _ranked(means + errors[:, k, None], upper)
    out.sort(axis=1)  # at a small coverage the ends may cross; the wider reading covers no less
    return out


class Lacks:
    """Which bags lack which of some rows, a bit per pair."""

    def __init__(self, drawn: Drawn, rows: NDArray[np.int64]) -> None:
        self.n_rows = len(rows)
        self._bits = np.stack([np.packbits(counts == 0) for counts in drawn.counts(rows)])
        self.n_trees_without = np.zeros(self.n_rows)
        for _, lack in self._blocks():
            self.n_trees_without += lack.sum(axis=0)

    def of_rows(self, places: slice) -> NDArray[np.uint8]:
        """Ones and zeros, (n_trees, rows), of some of the rows, by their places."""
        byte = places.start // 8
        bits = np.unpackbits(self._bits[:, byte : -(-places.stop // 8)], axis=1)
        return bits[:, places.start - 8 * byte : places.stop - 8 * byte]

    def means(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of (n_trees, columns), the means over the trees whose bags lack each row: (rows, columns)."""
        sums = np.zeros((self.n_rows, values.shape[1]))
        for trees, lack in self._blocks():
            sums += lack.T @ values[trees]
        sums /= self.n_trees_without[:, None]
        return sums

    def _blocks(self) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Ones and zeros, (trees, rows), for some trees at a time."""
        together = max(1, CELLS // self.n_rows)
        for first in range(0, len(self._bits), together):
            trees = slice(first, first + together)
            yield trees, np.unpackbits(self._bits[trees], axis=1, count=self.n_rows).astype(np.float64)


def _own_errors(
    forest: Forest, train: TrainingRows, rows: NDArray[np.int64], lacks: Lacks, *, n_threads: int
) -> NDArray[np.float64]:
    """How far the trees that lack a row are from its own target (equation U7): (rows, outputs)."""
    errors = np.empty((len(rows), forest.width))
    for places, part in row_blocks(forest, take_rows(train.table, rows), n_threads=n_threads):
        values = tree_values(forest, part, n_threads=n_threads)
        sums = np.einsum("tr,trk->rk", lacks.of_rows(places), values)
        errors[places] = np.abs(train.target[rows[places]] - sums / lacks.n_trees_without[places, None])
    return errors


def interval_ranks(n_rows: int, coverage: float) -> tuple[int, int]:
    """Which of n ordered values, counted from 1, are the ends (equation U9); 0 and n + 1 mean infinite.

    >>> interval_ranks(99, 0.9), interval_ranks(8, 0.9)
    ((10, 90), (0, 9))
    """
    # (n + 1) · 0.9 may come out a little above a whole number.
    upper = math.ceil((n_rows + 1) * coverage - 1e-9)
    return n_rows + 1 - upper, upper


def _ranked(values: NDArray[np.float64], rank: int) -> NDArray[np.float64]:
    """The value of this rank, from 1, in every column."""
    if not 1 <= rank <= len(values):
        return np.full(values.shape[1], -np.inf if rank < 1 else np.inf)
    values.partition(rank - 1, axis=0)
    found: NDArray[np.float64] = values[rank - 1]
    return found


def drawn_rows(rows: NDArray[np.int64], most: int | None, seed: int) -> NDArray[np.int64]:
    """At most `most` of the rows, in their order: those whose hash with the seed is smallest."""
    if most is None or len(rows) <= most:
        return rows
    stem = _scramble(np.array([(seed ^ _PURPOSE) % 2**64], np.uint64))
    hashed = _scramble(rows.astype(np.uint64) + stem)
    return np.sort(rows[np.argpartition(hashed, most - 1)[:most]])


def _scramble(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The bijection of 64-bit words in `src/core/base/random.h`; products wrap around."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = x ^ (x >> np.uint64(31))
    return mixed
