"""Rows of a node by the codes of a column, and the two sides of every candidate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.inspection.trace.columns import Ints, TracedColumn

Rows = NDArray[np.int64]


class Bounds(NamedTuple):
    """What a monotone constraint asks of the sides of a split, in units of what they predict."""

    direction: int = 0  # along this column predictions rise (1), fall (−1) or do as they like (0)
    lower: float = -math.inf
    upper: float = math.inf

    @property
    def bounded(self) -> bool:
        """Whether anything is asked."""
        return self.direction != 0 or math.isfinite(self.lower) or math.isfinite(self.upper)

    def keeps(self, left: Floats, right: Floats, ordered: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which may be: both sides within the bounds, and in order where present values are parted."""
        within = (left >= self.lower) & (left <= self.upper) & (right >= self.lower) & (right <= self.upper)
        in_order = left <= right if self.direction > 0 else left >= right
        return np.asarray(within & (~ordered | in_order))


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The rows of a node by their code in one column; missing ones apart."""

    codes: Ints  # (m,) present, ascending
    rows: Rows  # those present, code by code
    start: Ints  # (m + 1,) where each code begins in `rows`
    missing: Rows

    @classmethod
    def of(cls, column: TracedColumn, rows: Rows) -> Parts:
        """Those of a node's rows."""
        code = column.codes[rows]
        order = np.argsort(code, kind="stable")
        rows, code = rows[order], code[order]
        n_missing = int(np.searchsorted(code, 1))
        present = code[n_missing:]
        begins = np.ones(len(present), np.bool_)
        begins[1:] = present[1:] != present[:-1]
        start = np.append(np.flatnonzero(begins), len(present)).astype(np.int64)
        return cls(present[start[:-1]], rows[n_missing:], start, rows[:n_missing])

    @property
    def n(self) -> int:
        """How many codes are present."""
        return len(self.codes)

    @property
    def constant(self) -> bool:
        """Whether there is nothing to part."""
        return self.n + (len(self.missing) > 0) < 2

    @property
    def sizes(self) -> Ints:
        """How many rows each code has."""
        return np.diff(self.start)

    @property
    def n_rows(self) -> int:
        """How many rows in all."""
        return len(self.rows) + len(self.missing)

    def of_code(self, place: int) -> Rows:
        """The rows of the code at a place."""
        return self.rows[self.start[place] : self.start[place + 1]]

    def left(self, codes: Ints, *, missing_left: bool) -> Rows:
        """The rows that go left by such a set."""
        goes = np.repeat(np.isin(self.codes, codes), self.sizes)
        return np.concatenate((self.missing, self.rows[goes])) if missing_left else self.rows[goes]


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """Both sides of some candidates: scores and weights in units, what they predict where bounds ask."""

    score: Floats
    left_score: Floats
    right_score: Floats
    left_weight: Ints
    right_weight: Ints
    n_left: Ints
    n_right: Ints
    left_value: Floats
    right_value: Floats
    kept: NDArray[np.bool_]  # by the monotone constraint

    def within(self, min_rows: int, min_weight: int) -> NDArray[np.bool_]:
        """Which candidates leave both sides large enough."""
        rows = (self.n_left >= min_rows) & (self.n_right >= min_rows)
        weight = (self.left_weight >= min_weight) & (self.right_weight >= min_weight)
        return np.asarray((rows if min_rows > 1 else True) & weight)


def interleaved(first: Sides, second: Sides) -> Sides:
    """Candidates in turn, one of each: missing rows left, missing rows right."""
    arrays = {}
    for name in Sides.__slots__:
        a, b = getattr(first, name), getattr(second, name)
        both = np.empty(len(a) + len(b), np.result_type(a, b))
        both[0 : 2 * len(a) : 2] = a
        both[1 : 2 * len(a) : 2] = b[: len(a)]
        both[2 * len(a) :] = b[len(a) :]
        arrays[name] = both
    return Sides(**arrays)


def empty_sides() -> Sides:
    """No candidates."""
    none: dict[str, Any] = {name: np.zeros(0) for name in Sides.__slots__}
    for name in ("left_weight", "right_weight", "n_left", "n_right"):
        none[name] = np.zeros(0, np.int64)
    none["kept"] = np.zeros(0, np.bool_)
    return Sides(**none)
