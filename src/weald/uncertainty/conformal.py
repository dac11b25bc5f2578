"""Conformal prediction: intervals and sets of labels from how unlike the truth was for rows held out.

Equations Q1–Q8 of `docs/methods/conformal.md`. Every method is one rule: calibration rows belong to groups,
one for each model that did not see them, and a new row is compared with each row by that row's own model. One
group is the split method; a group per fold is CV+; a group per row is the jackknife+.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from weald.random import Purpose, draw, uniform
from weald.uncertainty.intervals import interval_ranks
from weald.uncertainty.trees import CELLS

SetScore = Literal["lac", "aps"]

#: bits of a float64
_BITS = 64
#: probabilities that differ by less than half of this are taken for the same when a number is drawn by them
_GRID = 2.0**-20


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """What is known of the calibration rows: their scores, by which model, and of which class."""

    scores: NDArray[np.float64]  # (n_rows,)
    #: the model that each row is judged by, from 0
    group: NDArray[np.int64]  # (n_rows,)
    #: the class of each row, if classes are calibrated apart
    label: NDArray[np.int64] | None = None

    def interval(
        self,
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
        scale: NDArray[np.float64] | None,
        coverage: float,
    ) -> NDArray[np.float64]:
        """The interval of each new row (equation Q3): (rows, 2).

        Parameters
        ----------
        lower, upper : ndarray of shape (n_groups, rows)
            What each model says of the new rows, from which scores are taken off and to which they are added.
        scale : ndarray of shape (n_groups, rows) or None
            What the scores are multiplied by; None for 1.
        coverage : float
            Between 0 and 1.
        """
        low, high = interval_ranks(len(self.scores), coverage)
        out = np.empty((lower.shape[1], 2))
        if low < 1:
            out[:] = (-np.inf, np.inf)
            return out
        for places in in_stretches(lower.shape[1], CELLS // len(lower)):
            scales = None if scale is None else scale[:, places]
            # The lower ends are upper ends of what is turned over: both have the same rank.
            out[places, 0] = 0.0 - self._ranked(-lower[:, places], scales, high)
            out[places, 1] = self._ranked(upper[:, places], scales, high)
        out.sort(axis=1)  # ends that cross are swapped: the wider reading covers no less
        return out

    def _ranked(
        self, centre: NDArray[np.float64], scale: NDArray[np.float64] | None, rank: int
    ) -> NDArray[np.float64]:
        """Of centre + scale · score over all rows, the one of this rank from 1, for each new row."""
        n_groups, n_rows = len(centre), len(self.scores)
        if n_groups == 1:
            width = float(np.partition(self.scores, rank - 1)[rank - 1])
            only: NDArray[np.float64] = centre[0]
            return only + (width if scale is None else width * scale[0])
        if _BITS * n_groups * np.log2(1 + n_rows / n_groups) < n_rows:
            return _bisected(centre, scale, list(_by_group(self.scores, self.group)), rank)
        out = np.empty(centre.shape[1])
        each = np.array_equal(self.group, np.arange(n_groups))  # a model per row, in their order
        for places in in_stretches(len(out), CELLS // n_rows):
            some = self.scores[:, None]
            if scale is not None:
                some = some * (scale[:, places] if each else scale[self.group, places])
            some = some + (centre[:, places] if each else centre[self.group, places])
            some.partition(rank - 1, axis=0)
            out[places] = some[rank - 1]
        return out

    def sets(self, scores: NDArray[np.float64], coverage: float) -> NDArray[np.bool_]:
        """Which labels each new row may have (equation Q6): (rows, classes).

        Parameters
        ----------
        scores : ndarray of shape (n_groups, rows, classes)
            The score that each label would have, by each model.
        coverage : float
            Between 0 and 1.
        """
        n_classes = scores.shape[2]
        rows_of = [None] if self.label is None else list(range(n_classes))
        out = np.empty(scores.shape[1:], np.bool_)
        for which in rows_of:
            mine = slice(None) if which is None else self.label == which
            asked = slice(None) if which is None else slice(which, which + 1)
            own, group = self.scores[mine], self.group[mine]
            below = np.zeros(scores[0, :, asked].shape, np.int64)
            if len(scores) == len(self.scores):  # a model per row
                below += np.count_nonzero(own[:, None, None] < scores[group][:, :, asked], axis=0)
            else:
                for g, theirs in _by_group(own, group):
                    below += np.searchsorted(theirs, scores[g, :, asked], side="left")
            out[:, asked] = below < interval_ranks(len(own), coverage)[1]
        return out

    def too_few(self, coverage: float) -> list[int]:
        """The classes with too few rows for a finite threshold; [0] if that is said of all rows."""
        if self.label is None:
            return [0] if interval_ranks(len(self.scores), coverage)[0] < 1 else []
        counts = np.bincount(self.label).tolist()
        return [k for k, n_rows in enumerate(counts) if interval_ranks(n_rows, coverage)[0] < 1]


def in_stretches(n_rows: int, together: int) -> Iterator[slice]:
    """The rows 0 … n_rows − 1 in stretches of at most so many.

    >>> list(in_stretches(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    together = max(1, together)
    return (slice(first, min(n_rows, first + together)) for first in range(0, n_rows, together))


def _by_group(
    scores: NDArray[np.float64], group: NDArray[np.int64]
) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """The ascending scores of each group that has some."""
    order = np.lexsort((scores, group))
    ends = np.flatnonzero(np.diff(group[order])) + 1
    for part in np.split(order, ends):
        if len(part):
            yield int(group[part[0]]), scores[part]


def _bisected(
    centre: NDArray[np.float64],
    scale: NDArray[np.float64] | None,
    groups: list[tuple[int, NDArray[np.float64]]],
    rank: int,
) -> NDArray[np.float64]:
    """The same for groups of many rows: the least number that `rank` values reach, found bit by bit.

    The cost does not grow with the rows but with their logarithm; the number is exactly one of the values.
    """
    ends = [
        centre[g] + (theirs[at] if scale is None else theirs[at] * scale[g])
        for g, theirs in groups
        for at in (0, -1)
    ]
    low, high = _ordered(np.min(ends, axis=0)), _ordered(np.max(ends, axis=0))
    while (low < high).any():
        middle = (low >> 1) + (high >> 1) + (low & high & 1)
        value = _ordered(middle.view(np.float64)).view(np.float64)
        reach = np.zeros(len(low), np.int64)
        for g, theirs in groups:
            reach += _count_up_to(value, centre[g], None if scale is None else scale[g], theirs)
        enough = reach >= rank
        high = np.where(enough, middle, high)
        low = np.where(enough, low, np.minimum(middle + 1, high))
    return _ordered(low.view(np.float64)).view(np.float64) + 0.0


def _ordered(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Whole numbers in the order of floats, and back from them: its own inverse, bits taken as they are."""
    bits = values.view(np.int64)
    return bits ^ ((bits >> 63) & np.int64(2**63 - 1))


def _count_up_to(
    value: NDArray[np.float64],
    centre: NDArray[np.float64],
    scale: NDArray[np.float64] | None,
    ascending: NDArray[np.float64],
) -> NDArray[np.int64]:
    """How many of centre + scale · score are at most a value, for each new row."""
    low, high = np.zeros(len(value), np.int64), np.full(len(value), len(ascending))
    for _ in range(len(ascending).bit_length()):
        middle = (low + high) >> 1
        theirs = ascending[np.minimum(middle, len(ascending) - 1)]
        within = (centre + (theirs if scale is None else theirs * scale) <= value) & (low < high)
        low, high = np.where(within, middle + 1, low), np.where(within, high, middle)
    return low


def label_scores(shares: NDArray[np.float64], kind: SetScore) -> NDArray[np.float64]:
    """The score of every label (equations Q4 and Q5).

    Probabilities have the shape (rows, classes), or (models, rows, classes) where several judge the same
    rows: these then share the number that is drawn for a row, which is that of the first model.

    >>> label_scores(np.array([[0.25, 0.5, 0.25]]), "lac")
    array([[0.75, 0.5 , 0.75]])
    """
    if kind == "lac":
        return 1.0 - shares
    # Of equal probabilities the first class comes first, for calibration rows and new ones alike.
    order = np.argsort(-shares, axis=-1, kind="stable")
    ranked = np.take_along_axis(shares, order, axis=-1)
    drawn = drawn_by(shares if shares.ndim == 2 else shares[0])
    total = np.cumsum(ranked, axis=-1) - drawn[:, None] * ranked
    out = np.empty_like(total)
    np.put_along_axis(out, order, total, axis=-1)
    return out


def drawn_by(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """A number in (0, 1] for each row of probabilities, drawn by a hash of them: equal rows have equal ones.

    So a set does not depend on where its row stands, and is the same when asked again.
    """
    words = np.zeros(shares.shape[:-1], np.uint64)
    for k in range(shares.shape[-1]):
        grid = np.rint(shares[..., k] / _GRID).astype(np.uint64)
        words = draw(0, Purpose.SET_SCORE, k, words ^ grid).reshape(words.shape)
    return uniform(words)


def quantile_scores(
    lower: NDArray[np.float64], upper: NDArray[np.float64], target: NDArray[np.float64]
) -> NDArray[np.float64]:
    """How far each target is outside its quantiles; below 0 inside (equation Q7)."""
    return np.maximum(lower - target, target - upper)
