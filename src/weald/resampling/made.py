"""`MadeRows`: rows that are new, and where their values come from (equations R1 to R4).

A level is always the level of a row that is there: the row it is taken from. Numbers lie between two rows, or
about one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.data.levels import missing_rows
from weald.data.table import NumericColumn
from weald.engine.resampling import rows_between
from weald.errors import infinite_value

Rows: TypeAlias = NDArray[np.intp]

#: numbers of new rows that are made together, where the core does not take the table as it is
_TOGETHER = 1 << 16
#: beyond it float64 does not tell whole numbers apart
_EXACT_WHOLE = 2**53


class NewNumbers(Protocol):
    """How the numbers of new rows follow from those of the rows that are there."""

    def of_column(self, j: int, values: Floats) -> Floats:
        """The numbers of one column, whose values are given for all rows; NaN is missing, here and there."""

    def of_block(self, array: NDArray[Any], out: NDArray[Any]) -> None:
        """The same of all columns of an array, into another, in its dtype; values of bools are rounded."""


@dataclass(frozen=True, slots=True)
class MadeRows:
    """New rows.

    Parameters
    ----------
    base : ndarray of int
        The row that each new one stands on: of its class, and what is not said otherwise is as there.
    levels : mapping of position to ndarray of int
        For columns of levels the row whose level each new row has.
    numbers : NewNumbers or None
        How numbers are made; None if they are those of `base`.
    """

    base: Rows
    levels: Mapping[int, Rows] = field(default_factory=dict)
    numbers: NewNumbers | None = None


@dataclass(frozen=True, slots=True)
class Between:
    """Numbers on the line from one row to another: x + step · (z - x), equation R1."""

    base: Rows
    other: Rows
    step: Floats
    n_threads: int = 1

    @property
    def nearer(self) -> Rows:
        """Of the two rows the nearer one."""
        return np.where(self.step > 0.5, self.other, self.base)

    def of_column(self, j: int, values: Floats) -> Floats:
        """The numbers of one column."""
        return blend(values[self.base], values[self.other], self.step)

    def of_block(self, array: NDArray[Any], out: NDArray[Any]) -> None:
        """The numbers of all columns."""
        if is_native(array):
            rows_between(array, self.base, self.other, self.step, out, n_threads=self.n_threads)
            return
        kind = array.dtype.kind
        if kind in "iu" and not is_exact(array):
            out[:] = array[self.nearer]
            return
        together = max(1, _TOGETHER // max(1, array.shape[1]))
        for first in range(0, len(self.base), together):
            part = slice(first, first + together)
            x, z = (array[rows[part]].astype(np.float64) for rows in (self.base, self.other))
            made = blend(x, z, self.step[part])
            out[part] = made if kind == "f" else np.rint(made)


def blend(x: Floats, z: Floats, step: Floats) -> Floats:
    """Numbers on the way from x to z, and never beyond either (R1); of gaps the nearer one decides (R2).

    >>> blend(np.array([0.0, np.nan, 1.0]), np.array([4.0, 2.0, np.nan]), np.array([0.25, 0.75, 0.25]))
    array([1., 2., 1.])
    """
    both = np.stack((x, z)).reshape(2 * len(x), -1 if x.size else 0)
    own, out = np.arange(len(x)), np.empty((len(x), both.shape[1]))
    rows_between(both, own, own + len(x), np.ascontiguousarray(step), out)
    return out.reshape(x.shape)


def is_native(array: NDArray[Any]) -> bool:
    """Whether the core takes the rows of an array as they are."""
    whole = all(stride % array.itemsize == 0 for stride in array.strides)
    return array.dtype in (np.float32, np.float64) and array.flags.aligned and whole


def is_exact(array: NDArray[Any]) -> bool:
    """Whether float64 holds every whole number of an array."""
    if array.dtype.itemsize < 8 or not array.size:
        return True
    return int(array.min()) >= -_EXACT_WHOLE and int(array.max()) <= _EXACT_WHOLE


def known_numbers(column: NumericColumn) -> Floats:
    """The numbers of a column, NaN where missing; infinite ones are refused."""
    values = column.values.astype(np.float64)
    missing = missing_rows(column)
    if missing is not None:
        values[missing] = np.nan
    infinite = np.isinf(values)
    if infinite.any():
        row = int(np.argmax(infinite))
        raise infinite_value(column.name, row, float(values[row]))
    return values
