"""Shapley values and interactions of a forest from their definitions: all sets of columns, row by row."""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.data.table import LevelColumn, Table
from weald.model.forest import CATEGORIES, Forest

Row = list[float]  # NaN is missing; levels by their numbers from 0, ordered ones from 1


def plain_rows(table: Table) -> list[Row]:
    """The rows of an aligned table as numbers."""
    columns: list[list[float]] = []
    for column in table.columns:
        if isinstance(column, LevelColumn):
            numbers = column.indices + (1 if column.ordered else 0)
            columns.append(
                [float("nan") if i < 0 else float(n) for i, n in zip(column.indices, numbers, strict=True)]
            )
        else:
            values = np.asarray(column.values, np.float64).copy()
            if column.missing is not None:
                values[column.missing] = np.nan
            columns.append(values.tolist())
    return [list(row) for row in zip(*columns, strict=True)]


def goes_left(forest: Forest, slot: int, row: Row) -> bool:
    """What a split says of a row."""
    value = row[int(forest.column[slot])]
    if value != value:
        return bool(forest.missing_left[slot])
    if forest.kind[slot] == CATEGORIES:
        side = int(forest.side[slot])
        return bool((value + 1 in forest.listed_codes(side)) == forest.set_left[side])
    return bool(value <= forest.threshold[slot])


def expected(forest: Forest, t: int, row: Row, known: set[int]) -> NDArray[Any]:
    """What a tree says if only these columns are known: at others both ways, by cover."""
    first = int(forest.tree_start[t])

    def below(node: int) -> NDArray[Any]:
        slot = int(forest.slot[first + node])
        if slot < 0:
            return np.asarray(forest.value[~slot])
        left, right = node + 1, int(forest.right[slot])
        if int(forest.column[slot]) in known:
            return below(left if goes_left(forest, slot, row) else right)
        whole = forest.cover[first + node]
        shares = [forest.cover[first + child] / whole if whole > 0 else 0.5 for child in (left, right)]
        return np.asarray(shares[0] * below(left) + shares[1] * below(right))

    return below(0)


def by_covers(forest: Forest, rows: list[Row]) -> NDArray[Any]:
    """v(S) of every row and set, path-dependent: (n_rows, 2^n_columns, n_outputs)."""
    out = np.zeros((len(rows), 2**forest.n_columns, forest.n_outputs))
    for i, row in enumerate(rows):
        for number in range(2**forest.n_columns):
            known = {j for j in range(forest.n_columns) if number >> j & 1}
            for t in range(forest.n_trees):
                at = int(forest.tree_output[t])
                out[i, number, at : at + forest.width] += forest.tree_weight[t] * expected(
                    forest, t, row, known
                )
    return out


def by_background(
    forest: Forest, rows: list[Row], background: list[Row], weight: NDArray[Any]
) -> NDArray[Any]:
    """v(S) of every row and set, against a background: (n_rows, 2^n_columns, n_outputs)."""
    every = set(range(forest.n_columns))
    out = np.zeros((len(rows), 2**forest.n_columns, forest.n_outputs))
    for i, row in enumerate(rows):
        for number in range(2**forest.n_columns):
            for other, share in zip(background, weight, strict=True):
                mixed = [row[j] if number >> j & 1 else other[j] for j in range(forest.n_columns)]
                for t in range(forest.n_trees):
                    at = int(forest.tree_output[t])
                    leaf = expected(forest, t, mixed, every)
                    out[i, number, at : at + forest.width] += share * forest.tree_weight[t] * leaf
    return out


def shapley(game: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Values and interactions of games (n_rows, 2^n, n_outputs): outputs before columns."""
    n = game.shape[1].bit_length() - 1
    numbers = np.arange(2**n)
    size = np.array([int(number).bit_count() for number in numbers])
    values = np.zeros((len(game), game.shape[2], n))
    pairs = np.zeros((len(game), game.shape[2], n, n))
    for u in range(n):
        for s in numbers[(numbers >> u & 1) == 0]:
            weight = factorial(size[s]) * factorial(n - size[s] - 1) / factorial(n)
            values[:, :, u] += weight * (game[:, s | 1 << u] - game[:, s])
        for w in range(n):
            if u == w:
                continue
            for s in numbers[((numbers >> u & 1) == 0) & ((numbers >> w & 1) == 0)]:
                weight = factorial(size[s]) * factorial(n - size[s] - 2) / (2 * factorial(n - 1))
                more = game[:, s | 1 << u | 1 << w] - game[:, s | 1 << u] - game[:, s | 1 << w] + game[:, s]
                pairs[:, :, u, w] += weight * more
    place = np.arange(n)
    pairs[:, :, place, place] = values - pairs.sum(axis=3)
    return values, pairs
