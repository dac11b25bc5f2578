"""Rows on a Dask cluster in place of a table: columns by their names, or Dask data with the same partitions.

The model is that of the concatenated table in memory, byte for byte. What cannot be so is refused, with what
works.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from weald.arrays import TableLike
from weald.boosting.records import BoostTarget
from weald.data.schema import Schema
from weald.data.table import Table
from weald.errors import DataTypeError, ParameterError
from weald.estimators.xgboost.options import XGBOptions
from weald.estimators.xgboost.rows import Given, Rows, read_margin, read_table, training_table
from weald.rows.dask import is_dask
from weald.rows.dask.codes import DaskCodes
from weald.rows.dask.table import DaskTable

if TYPE_CHECKING:
    from weald.estimators.xgboost.pages import Start
    from weald.rows.dask.cluster import Cluster

DEFAULT_BINS = 255
#: parameters of `fit` that are columns of the rows
_ROLES = ("y", "sample_weight", "base_margin", "qid")


@contextmanager
def opened(
    given: Given, sets: Sequence[Given], options: XGBOptions, owner: str, start: Start | None
) -> Iterator[tuple[Given, list[Given], XGBOptions]]:
    """The same rows with their partitions opened on the cluster, and columns in place of their names.

    In the end the cluster keeps nothing of them, whatever happened.
    """
    from weald.rows.dask.cluster import Cluster

    _check_options(options, owner)
    cluster = Cluster()
    try:
        yield _all_opened(given, sets, options, owner, cluster, start)
    finally:
        cluster.close()


def _all_opened(
    given: Given,
    sets: Sequence[Given],
    options: XGBOptions,
    owner: str,
    cluster: Cluster,
    start: Start | None,
) -> tuple[Given, list[Given], XGBOptions]:
    held_out = options.early_stopping
    asked = isinstance(held_out, tuple | list) and len(held_out) == 2
    if asked:
        sets = [*sets, Given(held_out[0], held_out[1], where="early_stopping")]  # type: ignore[index]
    training = _opened(given, cluster, options, owner, start)
    watched = []
    for each in sets:
        if not is_dask(each.X):
            watched.append(each)
        elif each.same_rows(replace(given, where=each.where)):
            again = replace(training, where=each.where)
            own = each.sample_weight is given.sample_weight
            watched.append(again if own else _weighed(again, each, cluster, options, owner))
        else:
            watched.append(_opened(each, cluster, options, owner, start))
    if asked:
        last = watched.pop()
        options = replace(options, early_stopping=(last.X, last.y))
    return training, watched, options


def _opened(
    given: Given, cluster: Cluster, options: XGBOptions, owner: str, start: Start | None = None
) -> Given:
    """Rows with their partitions opened, and what is kept of them fetched."""
    if given.group is not None:
        raise ParameterError(
            f"{owner} takes the queries of rows on Dask by the name of their column: use qid."
        )
    if given.y is None:
        raise DataTypeError(f'{owner} needs a target: fit(ddf, "late") names its column.')
    # What reading rows does not ask for, and what may not travel.
    reading = replace(options, objective=None, eval_metric=None, callbacks=None, early_stopping=None)
    roles = {name: getattr(given, name) for name in _ROLES}
    where = f"{given.where}: " if given.where else ""
    read = partial(read_table, options=reading, owner=owner)
    if start is not None:
        read = partial(training_table, options=reading, owner=owner, schema=start.schema)
    try:
        table = DaskTable(cluster, given.X, roles, read, keep_values=start is not None)
    except DataTypeError as error:
        raise DataTypeError(f"{where}{error}") from None
    columns: dict[str, Any] = {name: table.kept(name) for name in _ROLES}
    table.forget_kept()
    if given.sort_groups and columns["qid"] is not None:
        order = table.put_together(columns["qid"])
        if order is not None:
            columns = {name: None if each is None else each[order] for name, each in columns.items()}
    return replace(given, X=cast("TableLike", table), **columns)


def _weighed(again: Given, given: Given, cluster: Cluster, options: XGBOptions, owner: str) -> Given:
    """The training rows as a set with weights of its own."""
    own = given.sample_weight
    if own is None:
        return replace(again, sample_weight=None)
    found = _opened(given, cluster, options, owner)
    return replace(again, sample_weight=found.sample_weight)


def learnt_rows(
    table: DaskTable,
    target: BoostTarget,
    given: Given,
    options: XGBOptions,
    owner: str,
    known: Schema | None,
) -> tuple[Schema, Rows]:
    """The training rows in codes of their own, and their columns; `known`: those of a model to go on from."""
    codes = table.learn(
        target.weight,
        max_bins=options.max_bin or DEFAULT_BINS,
        unknown=options.unknown,
        owner=owner,
        schema=known,
    )
    assert table.schema is not None
    return table.schema, _rows(table, codes, target, given)


def coded_rows(table: DaskTable, target: BoostTarget, given: Given, schema: Schema, like: object) -> Rows:
    """Rows in the codes of the training rows."""
    assert isinstance(like, DaskCodes)  # `opened` is given both or none
    return _rows(table, table.coded_as(schema, like, "the training rows"), target, given)


def _rows(table: DaskTable, codes: DaskCodes, target: BoostTarget, given: Given) -> Rows:
    told = Table((), table.n_rows, table.named)
    return Rows(told, target, read_margin(given.base_margin, table.n_rows), codes)


def refuse_sets(sets: Sequence[Given], owner: str) -> None:
    """Refuse Dask data beside training rows that are none."""
    found = [each.where for each in sets if is_dask(each.X)]
    if found:
        raise DataTypeError(
            f"{', '.join(found)} of {owner} is on Dask, and the training rows are not. Give both alike, or "
            "compute() the set."
        )


def _check_options(options: XGBOptions, owner: str) -> None:
    """Refuse what needs all rows in one place, and name the way."""
    if options.tree_method in ("exact", "approx"):
        raise ParameterError(
            f"tree_method={options.tree_method!r} of {owner} needs the rows in memory, and these are on "
            "Dask. Use tree_method='hist', or compute() the rows first."
        )
    if options.max_bin is not None and options.max_bin > 65_535:
        raise ParameterError(
            f"`max_bin` of {owner} is at most 65,535 for rows on Dask; got {options.max_bin}."
        )
    if isinstance(options.early_stopping, float | str):
        raise ParameterError(
            f"early_stopping={options.early_stopping!r} of {owner} parts the rows in memory, and these are "
            "on Dask. Give the rows to measure on by themselves: early_stopping=(ddf, 'late'), where "
            "ddf.random_split([0.9, 0.1]) makes two of one."
        )
