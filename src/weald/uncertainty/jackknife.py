"""The variance of a forest's prediction, from the trees and bags it has.

Equations U1–U4 of `docs/methods/forests.md`, after Wager, Hastie and Efron (2014).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from weald.data.table import Table
from weald.model.forest import Forest
from weald.uncertainty.trees import CELLS, Drawn, row_blocks, tree_values

Method = Literal["infinitesimal", "jackknife"]


def prediction_variance(
    forest: Forest, table: Table, drawn: Drawn, *, method: Method, n_threads: int
) -> NDArray[np.float64]:
    """The variance of the mean of the trees' values: (n_rows, width).

    Both estimates are freed of what a finite number of trees adds to them on average, and so may fall below
    0.

    Parameters
    ----------
    forest : Forest
        At least two trees.
    table : Table
        The rows to predict, aligned to the model.
    drawn : Drawn
        The bags.
    method : {"infinitesimal", "jackknife"}
        The infinitesimal jackknife, or the jackknife after the bootstrap.
    n_threads : int
        Threads that look up leaves.
    """
    out = np.empty((table.n_rows, forest.width))
    lack = drawn.n_trees_without() if method == "jackknife" else None
    for places, part in row_blocks(forest, table, n_threads=n_threads):
        values = tree_values(forest, part, n_threads=n_threads).reshape(forest.n_trees, -1)
        values -= values[0].copy()  # so that trees that agree leave 0, not what rounding leaves of a mean
        values -= values.mean(axis=0)
        found = infinitesimal(values, drawn) if lack is None else after_bootstrap(values, drawn, lack)
        out[places] = found.reshape(-1, forest.width)
    return out


def infinitesimal(centred: NDArray[np.float64], drawn: Drawn) -> NDArray[np.float64]:
    """The infinitesimal jackknife (equations U1 and U2) of each column of (n_trees, columns), means 0."""
    n_trees = len(centred)
    total = np.zeros(centred.shape[1])
    for _, counts in drawn.count_blocks(drawn.rows):
        # The values add up to 0 over trees, so the counts need not be centred for a covariance.
        total += _sums_of_squares(counts, centred)
    noise: NDArray[np.float64] = drawn.bags.n_draws / n_trees * np.mean(centred * centred, axis=0)
    return total / n_trees**2 - noise


def after_bootstrap(
    centred: NDArray[np.float64], drawn: Drawn, lack: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The jackknife after the bootstrap (equations U3 and U4) of each column of (n_trees, columns), means 0.

    `lack` tells how many bags lack each row. Rows that no bag lacks are left out of the sum, which is scaled
    up instead; there must be one that some bag lacks.
    """
    n_trees, n_rows = len(centred), len(drawn.rows)
    known = drawn.rows[lack[drawn.rows] > 0]
    n_out = lack[known].astype(np.float64)
    total = np.zeros(centred.shape[1])
    for places, counts in drawn.count_blocks(known):
        total += _sums_of_squares((counts == 0) / n_out[places], centred)
    noise = np.sum(1 / n_out - 1 / n_trees) * np.mean(centred * centred, axis=0)
    scaled: NDArray[np.float64] = (n_rows - 1) / len(known) * (total - noise)
    return scaled


def _sums_of_squares(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of squares of each column of leftᵀ · right, without all of that product at once."""
    together = max(1, CELLS // max(1, left.shape[1]))
    out = np.empty(right.shape[1])
    for first in range(0, right.shape[1], together):
        places = slice(first, first + together)
        product = left.T @ right[:, places]
        out[places] = np.einsum("ij,ij->j", product, product)
    return out
