"""How much each column moves a prediction of trees: SHAP values, exact, by the covers of the trees.

A leaf's value counts for a set S of known columns with the share of the training weight that comes to it when
the columns of S are as in the row and all others as in training. Shapley's mean over the orders of columns,
for a leaf whose path asks D columns, with o = 1 where the row does as the path says (else 0) and z the share
of the training weight that does:

    φ_u = value (o_u − z_u) Σ_{S ⊆ others} |S|! (D − |S| − 1)! / D!  Π_{j ∈ S} o_j  Π_{j ∉ S} z_j

The sum over sets of one size is a coefficient of Π (z_j + o_j x). Rows that do alike at a leaf are told once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import factorial

import numpy as np
from numpy.typing import NDArray

from weald.data.rows import take_rows
from weald.data.table import BlockColumns, LevelColumn, Table
from weald.errors import DataError
from weald.model.forest import CATEGORIES, COMBINATION, Forest

#: rows that are looked at together: the decisions of a tree's nodes are kept for them
_BLOCK = 4096


@dataclass(frozen=True, slots=True)
class _Path:
    """What leads to a leaf: of each column it asks, the nodes and the sides; and the share of weight."""

    leaf: int
    columns: NDArray[np.int64]  # (D,)
    nodes: tuple[tuple[tuple[int, bool], ...], ...]  # for each column (inner node, whether left)
    share: NDArray[np.float64]  # (D,)


def shap_values(
    forest: Forest, table: Table, trees: tuple[int, int] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What each column adds to the raw scores, and what the trees predict by no column at all.

    Parameters
    ----------
    forest : Forest
        The trees; without splits on sums of columns.
    table : Table
        The rows, aligned to the model's schema.
    trees : (int, int), optional
        The trees [first, last); None for all.

    Returns
    -------
    values : ndarray of shape (n_rows, n_outputs, n_columns)
        They add up to the raw score without `rest` and the base score.
    rest : ndarray of shape (n_outputs,)
        The mean of the trees over the rows they were grown on.
    """
    if (forest.kind == COMBINATION).any():
        raise DataError(
            "SHAP values are for splits on one column each; these trees split on sums of columns."
        )
    first, last = (0, forest.n_trees) if trees is None else trees
    values = np.zeros((table.n_rows, forest.n_outputs, forest.n_columns))
    rest = np.zeros(forest.n_outputs)
    paths = {t: list(_paths(forest, t)) for t in range(first, last)}
    for t, found in paths.items():
        at = int(forest.tree_output[t])
        for path in found:
            rest[at : at + forest.width] += _value(forest, t, path.leaf) * path.share.prod()
    for start in range(0, table.n_rows, _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, table.n_rows))
        part = take_rows(table, rows) if len(rows) < table.n_rows else table
        sides = _Sides(forest, part)
        for t, found in paths.items():
            for path in found:
                _add_leaf(values[rows[0] : rows[-1] + 1], forest, t, path, sides)
    return values, rest


def _value(forest: Forest, t: int, leaf: int) -> NDArray[np.float64]:
    value: NDArray[np.float64] = forest.tree_weight[t] * forest.value[leaf]
    return value


def _paths(forest: Forest, t: int) -> Iterator[_Path]:
    """The paths to the leaves of tree `t`."""
    first = int(forest.tree_start[t])
    waiting: list[tuple[int, dict[int, tuple[tuple[tuple[int, bool], ...], float]]]] = [(0, {})]
    while waiting:
        node, asked = waiting.pop()
        slot = int(forest.slot[first + node])
        if slot < 0:
            columns = np.array(list(asked), np.int64)
            share = np.array([part for _, part in asked.values()])
            yield _Path(~slot, columns, tuple(nodes for nodes, _ in asked.values()), share)
            continue
        column, whole = int(forest.column[slot]), float(forest.cover[first + node])
        for child, left in ((node + 1, True), (int(forest.right[slot]), False)):
            nodes, part = asked.get(column, ((), 1.0))
            ratio = float(forest.cover[first + child]) / whole if whole > 0 else 0.5
            waiting.append((child, {**asked, column: ((*nodes, (slot, left)), part * ratio)}))


class _Sides:
    """Which rows go left at an inner node; told when asked, a column's values read once."""

    def __init__(self, forest: Forest, table: Table) -> None:
        self._forest, self._table = forest, table
        self._columns: dict[int, tuple[NDArray[np.float64], NDArray[np.bool_]]] = {}
        self._left: dict[int, NDArray[np.bool_]] = {}

    def left(self, slot: int) -> NDArray[np.bool_]:
        if slot not in self._left:
            forest = self._forest
            values, missing = self._column(int(forest.column[slot]))
            if forest.kind[slot] == CATEGORIES:
                side = int(forest.side[slot])
                left = np.isin(values + 1, forest.listed_codes(side)) == forest.set_left[side]
            else:
                left = values <= forest.threshold[slot]
            self._left[slot] = np.where(missing, forest.missing_left[slot], left)
        return self._left[slot]

    def _column(self, j: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The values of a column, levels by their numbers, and which of them are missing."""
        if j not in self._columns:
            column = self._table.columns[j]
            if isinstance(column, LevelColumn):
                values = column.indices.astype(np.float64) + column.ordered  # thresholds count ranks from 1
                missing = column.indices < 0
            else:
                values = np.asarray(column.values, np.float64)
                missing = np.isnan(values)
                if column.missing is not None:
                    missing = missing | column.missing
                if self._absent_missing(j):
                    missing = missing | (values == 0)
            self._columns[j] = (values, missing)
        return self._columns[j]

    def _absent_missing(self, j: int) -> bool:
        columns = self._table.columns
        if not isinstance(columns, BlockColumns) or j in columns.placed:
            return False
        return bool(getattr(columns.block, "absent_missing", False))


def _add_leaf(out: NDArray[np.float64], forest: Forest, t: int, path: _Path, sides: _Sides) -> None:
    """Add what a leaf predicts to the values of all rows: (n_rows, n_outputs, n_columns)."""
    d = len(path.columns)
    if not d:
        return
    does = np.empty((len(out), d), np.bool_)
    for i, nodes in enumerate(path.nodes):
        does[:, i] = np.logical_and.reduce([sides.left(slot) == left for slot, left in nodes])
    # Rows by what they do: as many kinds as there are combinations, at most.
    kinds, kind_of = np.unique(np.packbits(does, axis=1), axis=0, return_inverse=True)
    alike = np.unpackbits(kinds, axis=1, count=d).astype(np.float64)
    moved = _shares_moved(alike, path.share)[kind_of.reshape(-1)]
    at = int(forest.tree_output[t])
    for k, value in enumerate(_value(forest, t, path.leaf).tolist()):
        out[:, at + k, path.columns] += value * moved


def _shares_moved(does: NDArray[np.float64], share: NDArray[np.float64]) -> NDArray[np.float64]:
    """The formula above for the value 1: (n_kinds, D) of what each kind of row does."""
    n_kinds, d = does.shape
    weight = np.array([factorial(size) * factorial(d - size - 1) / factorial(d) for size in range(d)])
    moved = np.empty((n_kinds, d))
    for u in range(d):
        sums = np.zeros((n_kinds, d))  # the coefficients of the product over all columns but u
        sums[:, 0] = 1.0
        for j in range(d):
            if j != u:
                known = sums[:, :-1] * does[:, j : j + 1]
                sums *= share[j]
                sums[:, 1:] += known
        moved[:, u] = (does[:, u] - share[u]) * (sums @ weight)
    return moved
