"""SHAP values of any function, from its values with some columns known: all sets, or orders drawn by chance.

A game gives, for rows and sets of known columns, the mean of the function over the background: equation S12
of docs/methods/explain.md. Orders come in pairs, one the reverse of the other, whose errors partly cancel.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.random import Purpose, draw

#: (rows (q,), known (q, n_columns)) to values (q, n_outputs)
Game: TypeAlias = Callable[[NDArray[np.int64], NDArray[np.bool_]], Floats]

#: the most columns whose sets are all looked at where nobody asks how many orders there should be
MOST_EXACT = 12


def exact_row(game: Game, row: int, n_columns: int, empty: Floats, full: Floats) -> tuple[Floats, Floats]:
    """The values of one row, and its interactions, from all sets of columns.

    Parameters
    ----------
    game : callable
        The function with some columns known.
    row : int
        Which row.
    n_columns : int
        How many columns there are.
    empty, full : ndarray of shape (n_outputs,)
        Its values with no column known, and with all.

    Returns
    -------
    values : ndarray of shape (n_outputs, n_columns)
        They add up to `full` - `empty`.
    interactions : ndarray of shape (n_outputs, n_columns, n_columns)
        Their rows add up to the values.
    """
    numbers = np.arange(2**n_columns)
    known = (numbers[:, np.newaxis] >> np.arange(n_columns)) & 1 == 1
    inner = numbers[1:-1]
    found = np.empty((len(numbers), len(empty)))
    found[0], found[-1] = empty, full
    if len(inner):
        found[inner] = game(np.full(len(inner), row), known[inner])
    size = known.sum(axis=1)
    values = np.zeros((len(empty), n_columns))
    pairs = np.zeros((len(empty), n_columns, n_columns))
    for u in range(n_columns):
        without = numbers[~known[:, u]]
        gained = found[without | 1 << u] - found[without]
        values[:, u] = _mean_of_sizes(gained, size[without], n_columns)
        for w in range(u):
            both = without[~known[without, w]]
            more = found[both | 1 << u | 1 << w] - found[both | 1 << u] - found[both | 1 << w] + found[both]
            pairs[:, u, w] = pairs[:, w, u] = _mean_of_sizes(more, size[both], n_columns - 1) / 2
    rest = values - pairs.sum(axis=2)
    pairs[:, np.arange(n_columns), np.arange(n_columns)] = rest
    return values, pairs


def _mean_of_sizes(gained: Floats, size: NDArray[np.int64], n: int) -> Floats:
    """The mean over sizes 0 … n - 1 of the means over the sets of that size: Shapley's weights."""
    weight = np.array([1.0 / (n * comb(n - 1, k)) for k in range(n)])
    mean: Floats = weight[size] @ gained
    return mean


def sampled_row(
    game: Game, row: int, n_columns: int, empty: Floats, full: Floats, *, n_pairs: int, seed: int
) -> tuple[Floats, Floats]:
    """Estimates of the values of one row, and their standard errors, from pairs of orders of the columns.

    Parameters
    ----------
    game, row, n_columns, empty, full
        As in `exact_row`.
    n_pairs : int
        How many pairs, at least 2.
    seed : int
        What the orders of a row follow from; other rows do not matter.

    Returns
    -------
    values, errors : ndarray of shape (n_outputs, n_columns)
        The values add up to `full` - `empty`.
    """
    orders = []
    for pair in range(n_pairs):
        words = draw(seed, Purpose.EXPLAINED_ORDER, row * 2**20 + pair, np.arange(n_columns, dtype=np.uint64))
        order = np.argsort(words, kind="stable")
        orders += [order, order[::-1]]
    place = np.argsort(np.array(orders), axis=1)  # where each column stands in each order
    # After step s of an order its first s columns are known.
    known = place[:, np.newaxis, :] < np.arange(1, n_columns)[:, np.newaxis]
    inner = np.zeros((0, len(empty)))
    if n_columns > 1:
        inner = game(np.full(known.shape[0] * known.shape[1], row), known.reshape(-1, n_columns))
    steps = np.empty((len(orders), n_columns + 1, len(empty)))
    steps[:, 0], steps[:, -1] = empty, full
    steps[:, 1:-1] = inner.reshape(len(orders), n_columns - 1, len(empty))
    gained = np.take_along_axis(np.diff(steps, axis=1), place[:, :, np.newaxis], axis=1)
    by_pair = gained.reshape(n_pairs, 2, n_columns, -1).mean(axis=1)
    errors = by_pair.std(axis=0, ddof=1) / np.sqrt(n_pairs)
    return by_pair.mean(axis=0).T, errors.T
