"""Bootstrap resamples: which rows they take, statistics, counts and sums of them. New rows of samplers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald import _core
from weald.arrays import Floats

ResampledError: TypeAlias = Literal["none", "mean", "resamples"]
_KINDS = ("mean", "variance", "correlation", "quantiles", "trimmed_mean", "deviation")
_ERRORS = ("none", "mean", "resamples")
_AREAS = ("roc", "precision")
_NO_ROWS = np.zeros(0, np.int32)
_NO_VALUES = np.zeros(0)


@dataclass(frozen=True, slots=True)
class ResamplePlan:
    """Which rows a resample may take where, as core/resampling/plan.h wants it."""

    n: int
    members: NDArray[np.int32] = field(default_factory=lambda: _NO_ROWS)  # rows by stratum; empty: one
    strata: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))  # starts, and the end
    block_length: int = 0
    circular: bool = False

    @property
    def single(self) -> bool:
        """Whether every row may come anywhere, one by one."""
        return not len(self.members) and not self.block_length

    def rows(self, seed: int, first: int, last: int, *, n_threads: int = 1) -> NDArray[np.int32]:
        """The rows of resamples `first` to `last`: (last - first, n)."""
        return _core.resample_rows(self._parts(), seed, first, last, n_threads)

    def counts(
        self, slot: NDArray[np.int32], n_slots: int, seed: int, first: int, last: int, *, n_threads: int = 1
    ) -> NDArray[np.int32]:
        """How many rows of each resample are in each slot: (last - first, n_slots)."""
        return _core.resample_counts(self._parts(), slot, n_slots, seed, first, last, n_threads)

    def sums(self, columns: Floats, seed: int, first: int, last: int, *, n_threads: int = 1) -> Floats:
        """Sums of (n, columns) over the rows of each resample: (last - first, columns)."""
        return _core.resample_sums(self._parts(), columns, seed, first, last, n_threads)

    def areas(
        self,
        rows: RankedRows,
        area: Literal["roc", "precision"],
        seed: int,
        first: int,
        last: int,
        *,
        n_threads: int = 1,
    ) -> Floats:
        """The area under the curve of each resample: (last - first,)."""
        kind = _AREAS.index(area)
        return _core.resample_areas(self._parts(), tuple(rows), kind, seed, first, last, n_threads)

    def statistic(
        self,
        statistic: NativeStatistic,
        seed: int,
        first: int,
        last: int,
        *,
        error: ResampledError = "none",
        n_inner: int = 0,
        n_threads: int = 1,
    ) -> tuple[Floats, Floats]:
        """The statistic in each resample, (last - first, width), and its standard errors or nothing."""
        parts = (_KINDS.index(statistic.kind), *statistic[1:])
        return _core.resample_statistic(
            self._parts(), parts, seed, first, last, _ERRORS.index(error), n_inner, n_threads
        )

    def _parts(self) -> tuple[int, NDArray[np.int32], NDArray[np.int64], int, bool]:
        return self.n, self.members, self.strata, self.block_length, self.circular


class NativeStatistic(NamedTuple):
    """One of the statistics that the core knows, as core/resampling/statistics.h wants it."""

    kind: Literal["mean", "variance", "correlation", "quantiles", "trimmed_mean", "deviation"]
    x: Floats
    y: Floats = _NO_VALUES
    order: NDArray[np.int32] = _NO_ROWS
    q: Floats = _NO_VALUES
    cut: int = 0
    ddof: float = 0.0


class RankedRows(NamedTuple):
    """Rows of two classes by descending score, as core/resampling/areas.h wants them."""

    order: NDArray[np.int32]
    positive: NDArray[np.uint8]
    last: NDArray[np.uint8]  # whether the next row has a lower score
    weight: Floats

    def areas_without(
        self,
        area: Literal["roc", "precision"],
        group: NDArray[np.int32],
        n_groups: int,
        *,
        n_threads: int = 1,
    ) -> Floats:
        """The area without each group of rows; group is by row, and -1 is never left out."""
        return _core.areas_without(tuple(self), _AREAS.index(area), group, n_groups, n_threads)


def rows_between(
    table: NDArray[np.floating],
    base: NDArray[np.intp],
    other: NDArray[np.intp],
    step: Floats,
    out: NDArray[np.floating],
    *,
    n_threads: int = 1,
) -> None:
    """Rows on the lines between rows, as core/resampling/between.h makes them.

    `table` is of float32 or float64, in any order; `out`, C-contiguous, of the same.
    """
    _core.rows_between(
        table, base.astype(np.int64, copy=False), other.astype(np.int64, copy=False), step, out, n_threads
    )


def copy_rows(table: NDArray[np.floating], out: NDArray[np.floating], *, n_threads: int = 1) -> None:
    """A table of float32 or float64, in any order, into a C-contiguous one."""
    _core.copy_rows(table, out, n_threads)


def hashed_words(seed: int, purpose: int, a: int, n: int) -> NDArray[np.uint64]:
    """64 random bits for each of the places 0 to n - 1: `weald.random.draw`, at once."""
    return _core.hashed_words(seed & 0xFFFFFFFFFFFFFFFF, purpose, a, n)
