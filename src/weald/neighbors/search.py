"""The nearest rows of rows: exact, ties by row number, the same for any number of threads."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats, Integers
from weald.errors import DataError
from weald.neighbors.places import Places
from weald.neighbors.space import RowSpace

_BLOCK = 1 << 22


def nearest(
    space: RowSpace,
    fitted: Places,
    queries: Places,
    k: int,
    *,
    exclude_self: bool = False,
    n_threads: int = 1,
) -> tuple[Floats, Integers]:
    """The k nearest fitted rows of each query: distances and row numbers, (n, k), nearest first.

    Ties go to the lower row number. With `exclude_self` the queries are the fitted rows, and no row is its
    own neighbour (another row at the same place is).
    """
    most = fitted.n_rows - exclude_self
    if not 1 <= k <= most:
        raise DataError(f"{k} neighbours are asked for, among {most} rows. Ask for at most that many.")
    gaps = space.gaps(fitted) | space.gaps(queries)
    left, right = space.points(queries, gaps), space.points(fitted, gaps)
    if fitted.is_sparse:
        left, right = left.toarray(), right.toarray()
    distances, rows = np.empty((queries.n_rows, k)), np.empty((queries.n_rows, k), np.int64)
    step = max(1, _BLOCK // max(1, fitted.n_rows))
    for start in range(0, queries.n_rows, step):
        part = slice(start, start + step)
        sums = _sums(space, left[part], queries.codes[part], right, fitted.codes)
        if exclude_self:
            own = np.arange(start, start + len(sums))
            sums[np.arange(len(sums)), own] = np.nan  # sorted behind everything, infinity too
        order = np.argsort(sums, axis=1, kind="stable")[:, :k]
        rows[part] = order
        distances[part] = np.take_along_axis(sums, order, axis=1)
    p = space.metric.p
    if space.metric.rule == "powers" and p != 1:
        distances = np.sqrt(distances) if p == 2 else distances ** (1 / p)
    return distances, rows


def _sums(
    space: RowSpace, x: Floats, x_codes: NDArray[np.int32], z: Floats, z_codes: NDArray[np.int32]
) -> Floats:
    cosine, p = space.metric.rule == "cosine", space.metric.p
    sums = np.zeros((len(x), len(z)))
    for j in range(x.shape[1]):
        if cosine:
            sums += x[:, j, None] * z[None, :, j]
            continue
        away = np.abs(x[:, j, None] - z[None, :, j])
        sums = np.maximum(sums, away) if np.isinf(p) else sums + (away * away if p == 2 else away**p)
    cost, against, starts = space.costs()
    for j in range(len(cost)):
        a, b = x_codes[:, j, None], z_codes[None, :, j]
        one = against[starts[j] : starts[j + 1]]
        term = np.where(a == b, 0.0, np.where(a == 0, one[b], np.where(b == 0, one[a], cost[j])))
        if cosine:
            sums += (cost[j] - term) / 2
        else:
            sums = np.maximum(sums, term) if np.isinf(p) else sums + term
    if not cosine:
        return sums
    own = cost.sum() / 2
    sizes = np.sqrt((x * x).sum(axis=1) + own)[:, None] * np.sqrt((z * z).sum(axis=1) + own)[None, :]
    return np.clip(1.0 - np.where(sizes > 0, sums / np.where(sizes > 0, sizes, 1.0), 0.0), 0.0, 2.0)
