"""A score of resampled rows: by sums, by counts, or by calling scikit-learn's scorer on the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.engine import RankedRows, ResamplePlan
from weald.errors import naming_member
from weald.uncertainty.scores.told import Told

#: counts that are in memory together: 8 MB
_CELLS = 1 << 21
#: times that a scorer is called for the jackknife; more rows are left out in groups
_MOST_CALLS = 500
#: the same where the core walks through all rows for each group
_MOST_WALKS = 2000


class Evaluator(Protocol):
    """A score of all rows, of resamples, and without some rows."""

    @property
    def most_left_out(self) -> int:
        """How many groups of rows the jackknife may leave out."""

    def value(self) -> float:
        """The score of all rows."""

    def drawn(self, plan: ResamplePlan, seed: int, first: int, last: int, *, n_threads: int) -> Floats:
        """The score of each of some resamples."""

    def without(self, groups: NDArray[np.int32], *, n_threads: int) -> Floats:
        """The score without each group of rows, which are given by number."""


@dataclass(frozen=True, slots=True)
class BySums:
    """A score that is a function of sums over rows: columns (n, k) → finish((resamples, k))."""

    columns: Floats
    finish: Callable[[Floats], Floats]

    @property
    def most_left_out(self) -> int:
        """Single rows, however many."""
        return len(self.columns)

    def value(self) -> float:
        """The score of all rows."""
        return float(self.finish(self.columns.sum(axis=0)[None, :])[0])

    def drawn(self, plan: ResamplePlan, seed: int, first: int, last: int, *, n_threads: int) -> Floats:
        """By sums in the core."""
        return self.finish(plan.sums(self.columns, seed, first, last, n_threads=n_threads))

    def without(self, groups: NDArray[np.int32], *, n_threads: int) -> Floats:
        """By what is left of the sums."""
        gone = np.stack([np.bincount(groups, weights=column) for column in self.columns.T], axis=1)
        return self.finish(self.columns.sum(axis=0) - gone)


@dataclass(frozen=True, slots=True)
class ByCounts:
    """A score that is a function of how many rows are in each slot: finish((resamples, n_slots))."""

    slot: NDArray[np.int32]
    n_slots: int
    finish: Callable[[NDArray[Any]], Floats]

    @property
    def most_left_out(self) -> int:
        """Single rows, but not more than there is room for."""
        return max(2, min(len(self.slot), 4 * _CELLS // self.n_slots))

    def value(self) -> float:
        """The score of all rows."""
        return float(self.finish(np.bincount(self.slot, minlength=self.n_slots)[None, :])[0])

    def drawn(self, plan: ResamplePlan, seed: int, first: int, last: int, *, n_threads: int) -> Floats:
        """By counts in the core, some resamples at a time."""
        parts = [
            self.finish(plan.counts(self.slot, self.n_slots, seed, a, b, n_threads=n_threads))
            for a, b in _stretches(first, last, _CELLS // self.n_slots)
        ]
        return np.concatenate(parts)

    def without(self, groups: NDArray[np.int32], *, n_threads: int) -> Floats:
        """By what is left of the counts; groups that take as many rows of every slot are computed once."""
        gone = np.zeros((int(groups.max()) + 1, self.n_slots), np.int64)
        np.add.at(gone, (groups, self.slot), 1)
        kinds, kind = np.unique(gone, axis=0, return_inverse=True)
        full = np.bincount(self.slot, minlength=self.n_slots)
        return self.finish(full - kinds)[np.ravel(kind)]


@dataclass(frozen=True, slots=True)
class ByRanks:
    """An area under a curve: the core walks through the rows by descending score."""

    rows: RankedRows
    area: Literal["roc", "precision"]

    @property
    def most_left_out(self) -> int:
        """As many as there is time for."""
        return _MOST_WALKS

    def value(self) -> float:
        """The area of all rows."""
        n = len(self.rows.order)
        return float(self.rows.areas_without(self.area, np.full(n, -1, np.int32), 1)[0])

    def drawn(self, plan: ResamplePlan, seed: int, first: int, last: int, *, n_threads: int) -> Floats:
        """In the core."""
        return plan.areas(self.rows, self.area, seed, first, last, n_threads=n_threads)

    def without(self, groups: NDArray[np.int32], *, n_threads: int) -> Floats:
        """In the core."""
        return self.rows.areas_without(self.area, groups, int(groups.max()) + 1, n_threads=n_threads)


@dataclass(frozen=True, slots=True)
class ByScorer:
    """Any score: scikit-learn's scorer is called on the rows of every resample."""

    scorer: Callable[..., float]
    model: Told
    y: NDArray[Any]
    weight: Floats | None
    n_jobs: int | None

    @property
    def most_left_out(self) -> int:
        """As many as there are calls to spend."""
        return _MOST_CALLS

    def value(self) -> float:
        """The score of all rows."""
        return self._score(np.arange(len(self.y)))

    def drawn(self, plan: ResamplePlan, seed: int, first: int, last: int, *, n_threads: int) -> Floats:
        """One call for each."""
        parts = []
        for a, b in _stretches(first, last, _CELLS // len(self.y)):
            rows = plan.rows(seed, a, b, n_threads=n_threads)
            parts.append(self._scores(list(rows)))
        return np.concatenate(parts)

    def without(self, groups: NDArray[np.int32], *, n_threads: int) -> Floats:
        """One call for each."""
        return self._scores([np.flatnonzero(groups != g) for g in range(int(groups.max()) + 1)])

    def _scores(self, some_rows: list[NDArray[Any]]) -> Floats:
        from joblib import effective_n_jobs
        from sklearn.utils.parallel import Parallel, delayed

        if effective_n_jobs(self.n_jobs) == 1:
            return np.array([self._score(rows) for rows in some_rows])
        parallel = Parallel(n_jobs=self.n_jobs, prefer="threads")
        return np.array(parallel(delayed(self._score)(rows) for rows in some_rows))

    def _score(self, rows: NDArray[Any]) -> float:
        extra = {} if self.weight is None else {"sample_weight": self.weight[rows]}
        with naming_member("The metric"):
            try:
                return float(self.scorer(self.model, rows, self.y[rows], **extra))
            except ValueError as error:
                if "pos_label" not in str(error):
                    raise
                raise ValueError(
                    f"{error} Say which label is the positive one, as in make_scorer(f1_score, "
                    "pos_label='yes')."
                ) from error


@dataclass(frozen=True, slots=True)
class ByCells:
    """A score of labels: scikit-learn's scorer on one row of each kind, weighted by how many there are.

    Rows are of one kind if they have the same label and the same prediction.
    """

    scorer: Callable[..., float]
    model: Told  # of one row of each kind
    y: NDArray[Any]
    slot: NDArray[np.int32]  # (n,) the kind of each row

    @property
    def most_left_out(self) -> int:
        """Single rows: those of one kind are computed once."""
        return max(2, min(len(self.slot), 4 * _CELLS // len(self.y)))

    def value(self) -> float:
        """The score of all rows."""
        return float(self._scores(np.bincount(self.slot, minlength=len(self.y))[None, :])[0])

    def drawn(self, plan: ResamplePlan, seed: int, first: int, last: int, *, n_threads: int) -> Floats:
        """By counts in the core, and a call for each resample."""
        return self._scores(plan.counts(self.slot, len(self.y), seed, first, last, n_threads=n_threads))

    def without(self, groups: NDArray[np.int32], *, n_threads: int) -> Floats:
        """As by counts."""
        return ByCounts(self.slot, len(self.y), self._scores).without(groups, n_threads=n_threads)

    def _scores(self, counts: NDArray[Any]) -> Floats:
        return np.array([self._score(each) for each in counts])

    def _score(self, counts: NDArray[Any]) -> float:
        there = np.flatnonzero(counts)
        with naming_member("The metric"):
            weights = counts[there].astype(np.float64)
            return float(self.scorer(self.model, there, self.y[there], sample_weight=weights))


def _stretches(first: int, last: int, together: int) -> Iterator[tuple[int, int]]:
    together = max(1, together)
    for start in range(first, last, together):
        yield start, min(last, start + together)
