"""Rows of partitions in another order: the queries of a ranking together, wherever their rows were."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.data.levels import level_key, plain_levels
from weald.data.rows import take_rows
from weald.data.table import BlockColumns, Column, LevelColumn, NumericColumn, Table
from weald.rows.dask.reading import Kinds, Opened
from weald.rows.paged.learning import joined

if TYPE_CHECKING:
    from collections.abc import Hashable

    from weald.rows.dask.cluster import Cluster, Remote

Places = NDArray[np.int64]


def together(keys: NDArray[Any]) -> Places | None:
    """The rows with those of a key together, keys as they first appear; None: they are so already.

    >>> together(np.array([7, 7, 3, 7, 3])).tolist()
    [0, 1, 3, 2, 4]
    """
    if keys.dtype == object:
        place = {key: i for i, key in enumerate(dict.fromkeys(keys.tolist()))}
        rank = np.fromiter((place[key] for key in keys.tolist()), np.int64, len(keys))
    else:
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        rank = first[inverse.reshape(-1)]
    order = np.argsort(rank, kind="stable")
    return None if bool((np.diff(order) == 1).all()) else order


def rearranged(
    cluster: Cluster,
    opened: Sequence[Remote],
    first_rows: Sequence[int],
    order: Places,
    told: tuple[tuple[Hashable, ...] | None, Kinds],
) -> list[Remote]:
    """Partitions of the same sizes whose rows come in this order; `told`: names in their order, and kinds."""
    number = cluster.number()
    found = []
    for q, (a, b) in enumerate(itertools.pairwise(first_rows)):
        rows = order[a:b]
        source = np.searchsorted(np.asarray(first_rows), rows, side="right") - 1
        by_source = np.argsort(source, kind="stable")
        pieces = [
            cluster.submit("piece", (number, q, p), piece, opened[p], rows[source == p] - first_rows[p], told)
            for p in np.unique(source).tolist()
        ]
        found.append(cluster.submit("rearranged", (number, q), put_together, q, by_source, *pieces))
    return found


def piece(opened: Opened, rows: Places, told: tuple[tuple[Hashable, ...] | None, Kinds]) -> Table:
    """Some rows of a partition."""
    return take_rows(opened.settled(*told), rows)


def put_together(number: int, places: Places, *pieces: Table) -> Opened:
    """A partition of pieces; `places`: where each of their rows goes."""
    table = joined(_of_the_same_levels(pieces))
    back = np.empty_like(places)
    back[places] = np.arange(len(places))
    return Opened(take_rows(table, back), {}, number)


def _of_the_same_levels(pieces: Sequence[Table]) -> list[Table]:
    """The pieces with the levels of all in every column of levels."""
    columns = [_columns(table) for table in pieces]
    for j in columns[0]:
        alike = _alike([each[j] for each in columns])
        for each, column in zip(columns, alike, strict=True):
            each[j] = column
    return [_with(table, each) for table, each in zip(pieces, columns, strict=True)]


def _columns(table: Table) -> dict[int, Column]:
    columns = table.columns
    return dict(columns.placed.items() if isinstance(columns, BlockColumns) else enumerate(columns))


def _with(table: Table, columns: dict[int, Column]) -> Table:
    given = table.columns
    if isinstance(given, BlockColumns):
        return replace(table, columns=BlockColumns(given.block, columns, given.names))
    return replace(table, columns=tuple(columns.values()))


def _alike(parts: Sequence[Column]) -> list[Column]:
    place: dict[object, int] = {}
    levels: list[object] = []
    found: list[Column] = []
    maps: list[NDArray[np.int32]] = []
    for part in parts:
        if isinstance(part, NumericColumn):  # what is finer than microseconds is no part of any code
            found.append(replace(part, nanoseconds=None))
            continue
        own = []
        for level in plain_levels(part.levels):
            own.append(place.setdefault(level_key(level), len(levels)))
            if own[-1] == len(levels):
                levels.append(level)
        maps.append(np.array([*own, -1], np.int32))
    if not maps:
        return found
    some = [part for part in parts if isinstance(part, LevelColumn)]
    return [
        replace(part, indices=to[part.indices], levels=tuple(levels))
        for part, to in zip(some, maps, strict=True)
    ]
