"""The curves of a forest: what it predicts for each row while columns are set to their points.

For raw scores and the links that the core knows, means and spreads over rows come from one pass over the rows
for all columns together; any other function of raw scores is applied to the curves of some rows at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.boosting.links import apply_link
from weald.data.levels import missing_rows
from weald.data.rows import with_columns
from weald.data.table import BlockColumns, Column, LevelColumn, Table
from weald.engine import FreeColumn, dependence_curves
from weald.engine.explain.dependence import CurveLink
from weald.inspection.dependence.axes import Axis
from weald.inspection.dependence.moments import Curves, Moments, Pick
from weald.model.forest import CATEGORIES, COMBINATION, Forest
from weald.model.predict import laid_out, raw_scores

#: numbers of one piece of work: all points of some columns for 64 rows, and the curves of some rows
_TILE, _PIECE = 2**19, 2**22


@dataclass(frozen=True, eq=False)
class TreeSum:
    """A prediction that is a function of a sum of trees.

    Either the core knows the function (`link`, `factor`), or `finish` makes of raw scores, (rows, outputs),
    what is predicted, (rows, results).
    """

    forest: Forest
    table: Table  # aligned to the model
    trees: tuple[int, int]
    n_threads: int
    link: CurveLink = "identity"
    factor: float = 1.0
    finish: Callable[[Floats], Floats] | None = None

    @staticmethod
    def takes(forest: Forest) -> bool:
        """Whether every split reads one column alone, so that what passes it is known beforehand."""
        return not bool((forest.kind == COMBINATION).any())

    def at(self, columns: Mapping[int, Column]) -> Floats:
        """What is predicted where some columns are others: (rows, results)."""
        table = with_columns(self.table, columns) if columns else self.table
        raw = raw_scores(self.forest, table, n_threads=self.n_threads, trees=self.trees)
        if self.finish is not None:
            return self.finish(raw)
        if self.link == "identity":
            return raw
        name = "exp" if self.link == "exponential" else self.link
        return apply_link(name, raw if self.factor == 1.0 else self.factor * raw, n_threads=self.n_threads)

    def thresholds(self, column: int) -> Floats:
        """Where the splits on a column are."""
        _, slots = self._splits
        on = (self.forest.column[slots] == column) & (self.forest.kind[slots] != CATEGORIES)
        return np.unique(self.forest.threshold[slots[on]])

    def share_a_tree(self, a: int, b: int) -> bool:
        """Whether a tree splits on both columns."""
        trees, slots = self._splits
        column = self.forest.column[slots]
        return bool(np.intersect1d(trees[column == a], trees[column == b]).size)

    @cached_property
    def _splits(self) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
        """The tree of each split, and its place in the arrays of the forest."""
        first, last = (int(self.forest.tree_start[t]) for t in self.trees)
        nodes = first + np.flatnonzero(self.forest.slot[first:last] >= 0)
        return np.searchsorted(self.forest.tree_start, nodes, side="right"), self.forest.slot[nodes]

    def curves(
        self,
        axes: Sequence[tuple[int, Axis]],
        picks: Sequence[Pick],
        weight: Floats | None,
        *,
        pair: bool = False,
        centred: bool = False,
        keep: bool = False,
        told: Callable[[int], object] = int,
    ) -> list[Curves]:
        """The curves of each axis, or of two together.

        Parameters
        ----------
        axes : sequence of (int, Axis)
            The positions of columns, and their points.
        picks : sequence of Pick
            The targets.
        weight : ndarray of shape (n_rows,), optional
            None for 1 each.
        pair : bool
            Whether the two axes are set together; the points of the second then stand within the first's.
        centred : bool
            Whether each curve starts from 0.
        keep : bool
            Whether to give the curves of the rows too.
        told : function
            Called with the number of axes that are done, group after group.
        """
        found: list[Curves] = []
        for group in [list(axes)] if pair else self._groups(axes):
            free = [_free(position, axis) for position, axis in group]
            sizes = [each.n_points for each in free]
            whole = self._native if self.finish is None else self._finished
            together = whole(free, picks, weight, pair=pair, centred=centred, keep=keep)
            found += [together] if pair else _apart(together, sizes)
            told(len(group))
        return found

    def means(self, axes: Sequence[tuple[int, Axis]], weight: Floats | None, *, pair: bool) -> Floats:
        """The mean raw scores at all points: (points, outputs); rows are added up, not kept apart."""
        free = [_free(position, axis) for position, axis in axes]
        mean, _ = dependence_curves(
            laid_out(self.forest),
            self.trees,
            free,
            self._values,
            self._raw,
            weight,
            pair=pair,
            rows_apart=False,
            n_threads=self.n_threads,
        )
        return mean

    @cached_property
    def _raw(self) -> Floats:
        found = raw_scores(self.forest, self.table, n_threads=self.n_threads, trees=self.trees)
        return np.ascontiguousarray(found)

    @cached_property
    def _values(self) -> Floats:
        """The columns that splits read, (columns, rows): numbers, or codes from 1; NaN where missing."""
        used = np.unique(self.forest.column).tolist()
        columns = self.table.columns
        taken = columns.take(used) if isinstance(columns, BlockColumns) else [columns[j] for j in used]
        out = np.empty((len(used), self.table.n_rows))
        for values, column in zip(out, taken, strict=True):
            if isinstance(column, LevelColumn):
                values[:] = column.indices + 1.0
                values[column.indices < 0] = np.nan
            else:
                values[:] = column.values
                lacks = missing_rows(column)
                if lacks is not None:
                    values[lacks] = np.nan
        return out

    def _groups(self, axes: Sequence[tuple[int, Axis]]) -> Iterator[list[tuple[int, Axis]]]:
        """Axes whose points are few enough to be worked on together."""
        group: list[tuple[int, Axis]] = []
        size, most = 0, _TILE // (64 * self.forest.n_outputs)
        for position, axis in axes:
            if group and size + axis.n_points > most:
                yield group
                group, size = [], 0
            group.append((position, axis))
            size += axis.n_points
        if group:
            yield group

    def _native(
        self,
        free: Sequence[FreeColumn],
        picks: Sequence[Pick],
        weight: Floats | None,
        *,
        pair: bool,
        centred: bool,
        keep: bool,
    ) -> Curves:
        """Curves through a link that the core knows."""
        n_points = _n_points(free, pair)
        results = [pick.result for pick in picks]
        individual = np.empty((len(picks), self.table.n_rows, n_points)) if keep else None
        mean, squares = dependence_curves(
            laid_out(self.forest),
            self.trees,
            free,
            self._values,
            self._raw,
            weight,
            link=self.link,
            factor=self.factor,
            centred=centred,
            pair=pair,
            outputs=results,
            individual=individual,
            n_threads=self.n_threads,
        )
        sign = np.array([[pick.sign] for pick in picks])
        offset = np.array([[0.0 if centred else pick.offset] for pick in picks])
        if individual is not None and not ((sign == 1.0).all() and (offset == 0.0).all()):
            individual *= sign[:, :, None]
            individual += offset[:, :, None]
        return Curves(offset + sign * mean[:, results].T, np.square(sign) * squares[:, results].T, individual)

    def _finished(
        self,
        free: Sequence[FreeColumn],
        picks: Sequence[Pick],
        weight: Floats | None,
        *,
        pair: bool,
        centred: bool,
        keep: bool,
    ) -> Curves:
        """Curves through any function of raw scores, some rows at a time."""
        assert self.finish is not None
        n_rows, n_outputs = self._raw.shape
        n_points = _n_points(free, pair)
        firsts = [0] if pair else np.cumsum([0, *(each.n_points for each in free[:-1])]).tolist()
        individual = np.empty((len(picks), n_rows, n_points)) if keep else None
        moments = Moments(len(picks), n_points)
        size = max(64, _PIECE // (n_points * n_outputs))
        for first in range(0, n_rows, size):
            rows = slice(first, min(first + size, n_rows))
            raw = self._raw_curves(free, rows, pair=pair)
            results = self.finish(raw.reshape(n_outputs, -1).T)
            values = np.stack([pick.offset + pick.sign * results[:, pick.result] for pick in picks])
            values = values.reshape(len(picks), -1, n_points)
            if centred:
                start = values[:, :, np.repeat(firsts, np.diff([*firsts, n_points]))]
                values = values - start
            moments.add(values, None if weight is None else weight[rows])
            if individual is not None:
                individual[:, rows] = values
        return moments.curves(individual)

    def _raw_curves(self, free: Sequence[FreeColumn], rows: slice, *, pair: bool) -> Floats:
        """The raw scores of some rows: (outputs, rows, points)."""
        raw = self._raw[rows]
        outputs = range(raw.shape[1])
        out = np.empty((len(outputs), len(raw), _n_points(free, pair)))
        dependence_curves(
            laid_out(self.forest),
            self.trees,
            free,
            np.ascontiguousarray(self._values[:, rows]),
            raw,
            None,
            pair=pair,
            outputs=outputs,
            individual=out,
            n_threads=self.n_threads,
        )
        return out


def _free(position: int, axis: Axis) -> FreeColumn:
    codes = axis.codes if axis.kind == "numeric" else axis.codes + 1.0
    return FreeColumn(position, codes, axis.missing)


def _n_points(free: Sequence[FreeColumn], pair: bool) -> int:
    sizes: list[int] = [each.n_points for each in free]
    return sizes[0] * sizes[1] if pair else sum(sizes)


def _apart(together: Curves, sizes: Sequence[int]) -> Iterator[Curves]:
    """The curves of several columns, which stand one after another, by column."""
    first = 0
    for size in sizes:
        part: slice = slice(first, first + size)
        individual = None if together.individual is None else together.individual[:, :, part]
        yield Curves(together.mean[:, part], together.squares[:, part], individual)
        first += size
