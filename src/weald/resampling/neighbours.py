"""The nearest rows of a training table, as samplers ask for them: of a class, of all, never a row itself."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.data.blocks import ArrayBlock, SparseBlock
from weald.data.rows import take_rows
from weald.data.schema import Schema
from weald.data.table import BlockColumns, LevelColumn, NumericColumn, Table
from weald.errors import DataError, ResamplingWarning, infinite_value, outside
from weald.neighbors.places import Places
from weald.neighbors.search import Search, nearest
from weald.neighbors.space import RowSpace

Rows: TypeAlias = NDArray[np.intp]
#: a search gives distances and row numbers of so many neighbours at once, where memory counts
_TOGETHER = 1 << 22
#: from this share of all rows on, asking for all of them takes less: each pair is then looked at once
_MOST_OF_ALL = 0.6


class Neighbourhood(Protocol):
    """Who is near whom."""

    def for_class(self, rows: Rows) -> Neighbourhood:
        """The same, measured as for making rows of the class of these rows."""

    def nearest(self, among: Rows | None, queries: Rows, k: int) -> tuple[Floats, Rows]:
        """Distances and numbers of the k nearest rows of each query, (n, k); `among` some rows, None for all.

        No row is its own neighbour.
        """


@dataclass(frozen=True, slots=True)
class TableNeighbours:
    """Neighbours by weald's own search, in a table that is aligned to its own schema.

    What distances need to know is told by the rows that neighbours are looked for among: where missing
    numbers stand, and by how much two levels of a category differ, the median of the deviations of the
    numeric columns as in SMOTE-NC (R3). For making rows of a class that is always the median in the class.
    """

    table: Table
    schema: Schema
    scaled: bool
    n_threads: int
    mismatch: Floats | None = None
    whole: list[tuple[RowSpace, Places]] = field(default_factory=list)

    @classmethod
    def of(cls, table: Table, *, scale: bool | None, n_threads: int) -> TableNeighbours:
        """Neighbours in a table; `scale` None standardises columns only where there are times.

        Infinite numbers are refused here: a search among some of the rows would not meet all of them.
        """
        _refuse_infinite(table)
        scaled = has_times(table) if scale is None else scale
        return cls(table, Schema.of(table), scaled, n_threads)

    def _whole(self) -> tuple[RowSpace, Places]:
        """All rows, and the space that they tell; made once, for every class."""
        if not self.whole:
            space = self._space(self.table)
            self.whole.append((space, space.place(self.table)))
        return self.whole[0]

    def _space(self, table: Table) -> RowSpace:
        return RowSpace.of(table, self.schema, metric="euclidean", scale=self.scaled)

    def for_class(self, rows: Rows) -> TableNeighbours:
        """Neighbours with the constant of a class."""
        if self.scaled or all(column.kind != "categorical" for column in self.schema.columns):
            return self
        return replace(self, mismatch=self._space(take_rows(self.table, rows)).mismatch)

    def nearest(self, among: Rows | None, queries: Rows, k: int) -> tuple[Floats, Rows]:
        """The nearest rows."""
        if among is None or self.scaled:  # deviations are those of all rows
            space, places = self._whole()
            fitted = places if among is None else places.take(among)
        else:
            taken = take_rows(self.table, among)
            space = self._space(taken)
            places, fitted = None, space.place(taken)
        if self.mismatch is not None:
            space = replace(space, mismatch=self.mismatch)
        own = np.arange(self.table.n_rows) if among is None else among
        if len(own) == len(queries) and bool((own == queries).all()):
            away, at = nearest(space, fitted, fitted, k, exclude_self=True, n_threads=self.n_threads)
            return away, own[at]
        if among is None and len(queries) > _MOST_OF_ALL * len(own) and Search(space, fitted).takes_pairs:
            away, at = nearest(space, fitted, fitted, k, exclude_self=True, n_threads=self.n_threads)
            return away[queries], at[queries]
        asked = space.place(take_rows(self.table, queries)) if places is None else places.take(queries)
        found = nearest(space, fitted, asked, min(k + 1, len(own)), n_threads=self.n_threads)
        return without_self(found[0], own[found[1]], queries, k)


def without_self(away: Floats, rows: Rows, queries: Rows, k: int) -> tuple[Floats, Rows]:
    """Of more neighbours than asked for the nearest k, without the row itself.

    >>> without_self(np.array([[0.0, 1.0, 2.0]]), np.array([[7, 4, 5]]), np.array([7]), 2)[1].tolist()
    [[4, 5]]
    """
    own = rows == queries[:, np.newaxis]
    order = np.argsort(own, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(away, order, axis=1), np.take_along_axis(rows, order, axis=1)


@dataclass(frozen=True, slots=True)
class ObjectNeighbours:
    """Neighbours by an object with scikit-learn's `kneighbors`, on rows of the user's own table."""

    make: Callable[[], Any]  # an object that is not fitted
    rows_of: Callable[[Rows], Any]
    n_rows: int

    def for_class(self, rows: Rows) -> ObjectNeighbours:
        """The same: the object measures as it does."""
        return self

    def nearest(self, among: Rows | None, queries: Rows, k: int) -> tuple[Floats, Rows]:
        """The nearest rows."""
        own = np.arange(self.n_rows) if among is None else among
        fitted = self.make()
        fitted.fit(self.rows_of(own))
        asked = min(k + 1, len(own))
        away, at = fitted.kneighbors(self.rows_of(queries), n_neighbors=asked)
        if np.shape(at) != (len(queries), asked):
            raise DataError(
                f"kneighbors of {type(fitted).__name__} gave an array of shape {np.shape(at)} for "
                f"{len(queries)} rows and {asked} neighbours. Use a whole number of neighbours instead of "
                "the object."
            )
        return without_self(np.asarray(away, np.float64), own[np.asarray(at, np.intp)], queries, k)


def affordable(asked: int, n_rows: int, who: str, owner: str, parameter: str, *, itself: bool = True) -> int:
    """As many neighbours as asked for, or all that there are among so many rows, with a warning.

    `itself`: those who ask are among these rows, and none is its own neighbour.
    """
    there = n_rows - itself
    if asked <= there:
        return asked
    needed = f"{parameter} + 1 = {asked + 1}" if itself else f"{parameter} = {asked}"
    warnings.warn(
        f"{who} has {n_rows} rows, fewer than {needed}: {owner} uses all {there}{' others' * itself} as "
        f"neighbours. Set {parameter}={there}, or use RandomOverSampler or RandomUnderSampler.",
        ResamplingWarning,
        stacklevel=outside(),
    )
    return there


def _refuse_infinite(table: Table) -> None:
    columns = table.columns
    if isinstance(columns, BlockColumns) and isinstance(columns.block, SparseBlock):
        found = columns.block.first_infinite()
        if found is not None:
            raise infinite_value(columns.names[found[0]], found[1], found[2])
        return
    if isinstance(columns, BlockColumns) and isinstance(columns.block, ArrayBlock):
        array = columns.block.array
        if array.dtype.kind != "f":
            return
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(array.sum()):  # one pass: a sum is finite only if every number is
                return
    for column in columns:
        if isinstance(column, NumericColumn) and column.values.dtype.kind == "f":
            infinite = np.isinf(column.values) & (True if column.missing is None else ~column.missing)
            if infinite.any():
                row = int(np.argmax(infinite))
                raise infinite_value(column.name, row, float(column.values[row]))


def has_times(table: Table) -> bool:
    """Whether some column holds dates or durations, which have no unit in common with numbers."""
    columns = table.columns
    looked_at = list(columns.placed.values()) if isinstance(columns, BlockColumns) else columns
    return any(
        not isinstance(column, LevelColumn) and column.unit not in ("number", "bool") for column in looked_at
    )


def farthest_sums(near: Neighbourhood, among: Rows, queries: Rows, others: int, k: int) -> Floats:
    """For each query the sum of its distances to the k farthest of some rows; never all distances at once.

    `others`: how many of those rows are not the query itself.
    """
    sums = np.empty(len(queries))
    together = max(1, _TOGETHER // len(among))
    for first in range(0, len(queries), together):
        part = queries[first : first + together]
        away, _ = near.nearest(among, part, others)
        sums[first : first + together] = away[:, -k:].sum(axis=1)
    return sums
