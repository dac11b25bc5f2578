"""Nearest rows as the equations are written, all pairs at once: the readable twin of core/neighbors.

Columns are added in ascending order, numbers before categories, so that the bits are the core's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.neighbors.places import Places
from weald.neighbors.space import RowSpace

Floats = NDArray[np.float64]


def nearest(
    space: RowSpace, fitted: Places, queries: Places, k: int, *, exclude_self: bool = False
) -> tuple[Floats, NDArray[np.int64]]:
    """Distances and rows of the k nearest, ties by row number."""
    sums = pair_sums(space, fitted, queries)
    if exclude_self:
        np.fill_diagonal(sums, np.nan)  # sorted behind everything, infinity too
    rows = np.argsort(sums, axis=1, kind="stable")[:, :k]
    found = np.take_along_axis(sums, rows, axis=1)
    p = space.metric.p
    if space.metric.rule == "powers" and p != 1:
        found = np.sqrt(found) if p == 2 else found ** (1 / p)
    return found, rows


def pair_sums(space: RowSpace, fitted: Places, queries: Places) -> Floats:
    """What is compared, of every query with every fitted row."""
    gaps = space.gaps(fitted) | space.gaps(queries)
    x, z = space.points(queries, gaps), space.points(fitted, gaps)
    cosine = space.metric.rule == "cosine"
    x_weight = z_weight = np.ones(1)
    if cosine:
        (x, x_weight), (z, z_weight) = space.of_length_one(x), space.of_length_one(z)
    x, z = (each if isinstance(each, np.ndarray) else each.toarray() for each in (x, z))
    sums = np.zeros((len(x), len(z)))
    for j in range(x.shape[1]):
        sums = _with(space, sums, x[:, j, None], z[None, :, j])
    alike = np.zeros_like(sums)
    cost, against, starts = space.costs()
    for j in range(len(cost)):
        a, b = queries.codes[:, j, None], fitted.codes[None, :, j]
        one = against[starts[j] : starts[j + 1]]
        term = np.where(a == b, 0.0, np.where(a == 0, one[b], np.where(b == 0, one[a], cost[j])))
        alike += (cost[j] - term) / 2
        if not cosine:
            sums = np.maximum(sums, term) if np.isinf(space.metric.p) else sums + term
    if not cosine:
        return sums
    if len(cost):
        sums = sums + alike * x_weight[:, None] * z_weight[None, :]
    return np.clip(np.where(np.isnan(sums), 1.0, 1.0 - sums), 0.0, 2.0)


def _with(space: RowSpace, sums: Floats, x: Any, z: Any) -> Floats:
    """The sums with one more column."""
    if space.metric.rule == "cosine":
        return sums + x * z
    away, p = np.abs(x - z), space.metric.p
    if np.isinf(p):
        return np.maximum(sums, away)
    return sums + (_whole_power(away, int(p)) if p == int(p) else away**p)


def _whole_power(away: Floats, p: int) -> Floats:
    result, power = np.ones_like(away), away
    while p:
        if p & 1:
            result = result * power
        power, p = power * power, p >> 1
    return result
