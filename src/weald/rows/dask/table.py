"""A user's Dask data: its partitions in order, what is kept of them, and their codes.

Partitions are numbered in the user's order; the rows of each are counted first, so that every row has the
number that it would have in one table. Empty partitions are passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats, TableLike
from weald.data.schema import Schema
from weald.data.table import Table
from weald.engine.storage import pages as native
from weald.errors import DataError, DataTypeError, told
from weald.rows.dask import work
from weald.rows.dask.codes import DaskCodes
from weald.rows.dask.given import Blocks, is_collection, is_dask
from weald.rows.dask.order import rearranged, together
from weald.rows.dask.reading import CodingPlan, Look, Reader, check_looks, joined_kinds
from weald.rows.dask.work import RowValues
from weald.rows.paged.extras import Extra, narrowest

if TYPE_CHECKING:
    from weald.rows.dask.cluster import Cluster, Remote


class DaskTable:
    """Partitions of a user's data, opened on workers.

    Parameters
    ----------
    cluster : Cluster
        Where they are.
    X : Dask frame, array, or list of delayed frames
        The rows.
    roles : mapping of role to column
        Names of columns of `X`, several in a list, or Dask data with the same partitions; None: not given.
    read : callable
        Makes a table of what is learnt from, as the estimator reads tables.
    keep_values : bool
        Whether values stay on the workers beside the codes, for trees that know nothing of these.
    """

    def __init__(
        self,
        cluster: Cluster,
        X: object,
        roles: Mapping[str, object],
        read: Callable[[TableLike], Table],
        *,
        keep_values: bool = False,
    ) -> None:
        self.cluster, self._keep_values = cluster, keep_values
        given = {role: value for role, value in roles.items() if value is not None}
        names = {role: _names(value) for role, value in given.items() if not is_dask(value)}
        beside = {role: value for role, value in given.items() if is_dask(value)}
        _check_roles({role: given[role] for role, found in names.items() if found is None})
        reader = Reader(read, {role: found for role, found in names.items() if found is not None})
        self._open(X, beside, reader)
        self.schema: Schema | None = None

    def _open(self, X: object, beside: Mapping[str, object], reader: Reader) -> None:
        cluster, number = self.cluster, self.cluster.number()
        rows = futures_of(cluster, X, "the rows")
        others = {role: futures_of(cluster, value, role) for role, value in beside.items()}
        for role, parts in others.items():
            if len(parts) != len(rows):
                raise DataError(
                    f"`{role}` has {len(parts)} partitions, and the rows have {len(rows)}. Give both "
                    "with the same partitions: repartition one like the other."
                )
        opened = [
            cluster.submit(
                "open",
                (number, p),
                work.open_partition,
                reader,
                part,
                {role: parts[p] for role, parts in others.items()},
                p,
            )
            for p, part in enumerate(rows)
        ]
        looks: list[Look] = cluster.gather(
            [cluster.submit("look", (number, p), work.look, each) for p, each in enumerate(opened)]
        )
        check_looks(looks)
        filled = [p for p, look in enumerate(looks) if look.n_rows]
        self._looks, self._opened = [looks[p] for p in filled], [opened[p] for p in filled]
        self.first_rows = [0, *np.cumsum([look.n_rows for look in self._looks]).tolist()]
        self._names = self._looks[0].names
        self._kinds = joined_kinds(self._looks, self._names)

    @property
    def n_rows(self) -> int:
        """Of all partitions."""
        return int(self.first_rows[-1])

    @property
    def named(self) -> bool:
        """Whether columns have names."""
        return self._names is not None

    def kept(self, role: str) -> NDArray[Any] | None:
        """The values of a role, (n_rows,) or (n_rows, columns); None if it is not given."""
        parts = [look.kept.get(role) for look in self._looks]
        if parts[0] is None:
            return None
        columns = []
        for k in range(len(parts[0])):
            extra = Extra(role)
            values = np.concatenate([extra.read(part[k]) for part in parts if part is not None])
            columns.append(values if extra.levels is None else _labels(extra)[values])
        return columns[0] if len(columns) == 1 else np.stack(columns, axis=1)

    def put_together(self, keys: NDArray[Any]) -> NDArray[np.int64] | None:
        """Put the rows of a key together; returns the order of rows, None if they stood so."""
        order = together(keys)
        if order is not None:
            assert self._kinds is not None
            told = self._names, self._kinds
            self._opened = rearranged(self.cluster, self._opened, self.first_rows, order, told)
        return order

    def forget_kept(self) -> None:
        """Free what `kept` gives."""
        self._looks = [look._replace(kept={}) for look in self._looks]

    def learn(
        self,
        weight: Floats | None,
        *,
        max_bins: int,
        unknown: str,
        owner: str,
        schema: Schema | None = None,
    ) -> DaskCodes:
        """The codes of all rows by the codebook that memory would find; `schema`: the columns, if known."""
        cluster, number = self.cluster, self.cluster.number()
        columns = (self._names, self._kinds)
        learners = []
        for p, (opened, rows) in enumerate(zip(self._opened, self._slices(), strict=True)):
            values = RowValues(np.empty((0, 0)), None if weight is None else narrowest(weight[rows]))
            place = (number, p)
            learners.append(
                cluster.submit(
                    "learn", place, work.learn, opened, values, rows.start, columns, (max_bins, unknown)
                )
            )
        merged = cluster.combined("merge", (number,), work.merge, learners)
        learnt: work.Learnt
        [learnt] = cluster.gather([cluster.submit("codebook", (number,), work.settle, merged, schema)])
        self.schema = learnt.schema
        plan = CodingPlan(learnt.schema, learnt.codebook, self._kinds, self._names, owner)
        return self._code(plan)

    def coded_as(self, schema: Schema, codes: DaskCodes, owner: str) -> DaskCodes:
        """The codes of all rows by those of other rows."""
        self.schema = schema
        return self._code(CodingPlan(schema, codes.columns, None, self._names, owner))

    def _code(self, plan: CodingPlan) -> DaskCodes:
        cluster, number = self.cluster, self.cluster.number()
        partitions = [
            cluster.submit("code", (number, p), work.code, opened, plan, first)
            for p, (opened, first) in enumerate(zip(self._opened, self.first_rows[:-1], strict=True))
        ]
        coded: list[work.Coded] = cluster.gather(
            [
                cluster.submit("describe", (number, p), work.describe, each)
                for p, each in enumerate(partitions)
            ]
        )
        columns = _settled(plan.codebook, coded, self.n_rows)
        if columns is not plan.codebook:
            partitions = [
                cluster.submit("recode", (number, p), work.recode, each, columns)
                for p, each in enumerate(partitions)
            ]
        codes = DaskCodes(cluster, columns, partitions, self.first_rows, coded)
        if self._keep_values:
            codes.keep_values(self._opened, plan)
        self._opened = []
        return codes

    def _slices(self) -> list[slice]:
        return [slice(a, b) for a, b in zip(self.first_rows[:-1], self.first_rows[1:], strict=True)]


def _settled(
    columns: Sequence[native.CodebookColumn], coded: Sequence[work.Coded], n_rows: int
) -> Sequence[native.CodebookColumn]:
    """The codebook; a sparse column that lists every row has no default code."""
    sparse = [j for j, column in enumerate(columns) if column.sparse]
    entries = [sum(each.entries[k] for each in coded) for k in range(len(sparse))]
    full = {j for j, n in zip(sparse, entries, strict=True) if n == n_rows}
    if not any(columns[j].default_code for j in full):
        return columns
    return [each._replace(default_code=0) if j in full else each for j, each in enumerate(columns)]


def futures_of(cluster: Cluster, X: object, what: str) -> list[Remote]:
    """The partitions of a user's data, in order."""
    if isinstance(X, list | tuple):
        parts = list(X)
    elif is_collection(X):
        found = cast("Blocks", X)
        if getattr(found, "ndim", 0) == 2 and hasattr(found, "chunks"):
            found = found.rechunk({1: -1})
        parts = np.ravel(found.to_delayed()).tolist()
    else:
        parts = [X]
    if not parts:
        raise DataError(f"The list of partitions of {what} is empty: at least one is needed.")
    return cluster.started(parts)


def _names(value: object) -> list[str] | None:
    """The columns that a role names."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list | tuple) and value and all(isinstance(name, str) for name in value):
        return list(value)
    return None


def _check_roles(strange: Mapping[str, object]) -> None:
    for role, value in strange.items():
        raise DataTypeError(
            f'`{role}` of rows on Dask is the name of one of their columns, as in fit(ddf, "late"), or Dask '
            f"data with the same partitions; got {told(value)}."
        )


def _labels(extra: Extra) -> NDArray[Any]:
    assert extra.levels is not None
    labels: NDArray[Any] = np.empty(len(extra.levels) + 1, object)
    labels[:-1], labels[-1] = extra.levels, None
    return labels
