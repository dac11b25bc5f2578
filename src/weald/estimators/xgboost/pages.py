"""Rows that are not in memory: a scan, a path or a store in place of a table, columns by their names.

The rows are coded into pages, by the codebook that memory would find; the model is the one of memory, byte
for byte. What cannot be so is refused, with what works.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from weald.arrays import AnyTable, TableLike
from weald.boosting.records import BoostTarget
from weald.data.scanning.scan import Scan, scan
from weald.data.schema import Schema
from weald.data.table import Table
from weald.engine import thread_count
from weald.errors import DataError, DataTypeError, ParameterError
from weald.estimators.shared.paged import are_paged, check_store, rows_of_store, target_of
from weald.estimators.xgboost import dask_rows
from weald.estimators.xgboost.options import XGBOptions
from weald.estimators.xgboost.plan import FINE_BINS
from weald.estimators.xgboost.predict import BoostedPredictions
from weald.estimators.xgboost.rows import Given, Rows, as_wide, read_margin, training_table
from weald.model.forest import Forest
from weald.rows.blocks import PagedCodes
from weald.rows.blocks.values import between_cuts, decoded
from weald.rows.dask import is_dask
from weald.rows.dask.table import DaskTable
from weald.rows.paged import Store, open_store, store_of_scan
from weald.rows.paged.scans import ScanSource, is_place

DEFAULT_BINS = 255
#: gives the values of rows block by block
Values: TypeAlias = Callable[[], Iterator[Table]]
#: parameters of a column's name, and what they hold
_ROLES = ("sample_weight", "base_margin", "qid")


@dataclass(frozen=True, slots=True)
class Start:
    """A model to go on from."""

    schema: Schema
    forest: Forest

    @classmethod
    def of(cls, model: BoostedPredictions | None) -> Start | None:
        """A fitted model, or none."""
        return None if model is None else cls(model.schema_, model.forest_)


@contextmanager
def opened(
    given: Given, sets: Sequence[Given], options: XGBOptions, owner: str, start: Start | None
) -> Iterator[tuple[Given, list[Given], XGBOptions]]:
    """The same rows with stores in place of scans and paths, and columns in place of their names.

    Temporary stores are gone in the end, whatever happened. Tables in memory stay as they are.
    """
    if is_dask(given.X):
        with dask_rows.opened(given, sets, options, owner, start) as found:
            yield found
        return
    dask_rows.refuse_sets(sets, owner)
    held_out = options.early_stopping
    asked = isinstance(held_out, tuple | list) and len(held_out) == 2
    if asked:
        sets = [*sets, Given(held_out[0], held_out[1], where="early_stopping")]  # type: ignore[index]
    with ExitStack() as stack:
        if not are_paged(given.X):
            _refuse_sets(sets, owner)
            yield given, list(sets[: len(sets) - asked]), options
            return
        _check_options(options, owner)
        store, values = _store(given, options, owner, stack, None, start)
        watched = []
        for each in sets:
            if not are_paged(each.X):
                watched.append(each)
            elif each.X is given.X and each.y == given.y:
                watched.append(replace(with_columns(each, store, owner), y=None, values=values))
            else:
                other, own = _store(each, options, owner, stack, store, start)
                watched.append(replace(with_columns(each, other, owner), values=own))
        training = replace(with_columns(given, store, owner), values=values)
        watched = [replace(each, y=training.y) if each.y is None else each for each in watched]
        if asked:
            options = replace(options, early_stopping=(watched.pop(),))
        yield training, watched, options


def with_columns(given: Given, store: Store, owner: str) -> Given:
    """A store, and the columns that were named as they are kept there."""
    names = {name: getattr(given, name) for name in _ROLES}
    if given.group is not None:
        raise ParameterError(
            f"{owner} takes the queries of rows in pages by the name of their column: use qid."
        )
    columns: dict[str, Any] = {
        name: None if column is None else store.column(column) for name, column in names.items()
    }
    wanted: list[str] = [given.y] if isinstance(given.y, str) else list(given.y or ())  # type: ignore[arg-type]
    rows: Any = store
    targets = [target_of(store, name) for name in wanted]
    y = targets[0] if isinstance(given.y, str) else np.stack(targets, axis=1)
    return replace(given, X=rows, y=y, **columns)


def learnt_rows(
    X: Store | DaskTable,
    target: BoostTarget,
    given: Given,
    options: XGBOptions,
    owner: str,
    known: Schema | None,
) -> tuple[Schema, Rows]:
    """The training rows, and their columns; `known`: those of a model to go on from."""
    if isinstance(X, DaskTable):
        return dask_rows.learnt_rows(X, target, given, options, owner, known)
    return X.schema, _rows_of(X, target, given)


def coded_rows(X: Store | DaskTable, target: BoostTarget, given: Given, schema: Schema, like: object) -> Rows:
    """Rows in the codes of the training rows."""
    if isinstance(X, DaskTable):
        return dask_rows.coded_rows(X, target, given, schema, like)
    return _rows_of(X, target, given)


def _rows_of(store: Store, target: BoostTarget, given: Given) -> Rows:
    """The rows of a store, with a table that only tells how many they are."""
    table = rows_of_store(store)
    margin = read_margin(given.base_margin, store.n_rows)
    return Rows(table, target, margin, PagedCodes(store, given.values))


def _store(
    given: Given,
    options: XGBOptions,
    owner: str,
    stack: ExitStack,
    like: Store | None,
    start: Start | None,
) -> tuple[Store, Values | None]:
    """The store of the rows: that which was given, or one that is built; what a model to go on from reads."""
    X: AnyTable = given.X
    kept = _names(given, owner)
    bins = FINE_BINS if options.tree_method == "approx" else options.max_bin or DEFAULT_BINS
    weight = None if given.sample_weight is None else str(given.sample_weight)
    settings = {"missing": repr(options.missing), "types": repr(options.feature_types)}
    settings["categorical"] = repr(options.categorical_features)
    if is_place(X):
        X = stack.enter_context(open_store(X))
    if isinstance(X, Store):
        if like is None:
            check_store(X, {"max_bins": bins, "weight": weight, "unknown": options.unknown}, owner)
        elif X.codebook is not like.codebook:
            raise DataError(
                f"{given.where or 'A set'} is a store with codes of its own. Give the scan that it was built "
                "from: it is coded as the training rows are."
            )
        return X, None if start is None else _values_of_store(X, start, owner)
    found = X if isinstance(X, Scan) else scan(X)

    def read(table: TableLike) -> Table:
        wide = table if start is None else as_wide(table, len(start.schema.columns))
        return training_table(wide, options, owner, None if start is None else start.schema)

    store = stack.enter_context(
        store_of_scan(
            found,
            kept,
            max_bins=bins,
            weight=weight if like is None else None,
            read=read,
            unknown=options.unknown,  # type: ignore[arg-type]
            settings=settings,
            n_threads=thread_count(options.n_jobs),
            like=like,
            schema=None if start is None else start.schema,
        )
    )
    if start is None:
        return store, None
    return store, lambda: ScanSource(found, kept, read).values(store.page_rows)


def _values_of_store(store: Store, start: Start, owner: str) -> Values:
    """What the codes of a store stand for in the trees of a model to go on from."""
    way = "Give the scan that it was built from: its rows are read again."
    if store.schema != start.schema:
        raise DataError(
            f"The columns of the store, or their categories, are not those of the xgb_model of {owner}. {way}"
        )
    codes = PagedCodes(store)
    strange = between_cuts(start.forest, codes)
    if strange is not None:
        name = start.schema.columns[strange[0]].name
        raise DataError(
            f"The xgb_model of {owner} splits column {name!r} at {strange[1]:g}, which is no cut of the "
            f"store: codes do not tell on which side its rows are. {way}"
        )
    return lambda: decoded(codes, start.schema, start.forest)


def _names(given: Given, owner: str) -> list[str]:
    """The columns that have a role."""
    where = f"{given.where}: " if given.where else ""
    targets = [given.y] if isinstance(given.y, str) else given.y
    if not isinstance(targets, list | tuple) or not all(isinstance(name, str) for name in targets):
        raise DataTypeError(
            f"{where}The rows of {owner} are in files, so the target is the name of a column, as in "
            f'fit("flights/*.parquet", "late"); got {type(given.y).__name__}.'
        )
    names = list(targets)
    for role in _ROLES:
        name = getattr(given, role)
        if name is None:
            continue
        if not isinstance(name, str):
            raise DataTypeError(
                f"{where}`{role}` of {owner} is the name of a column where the rows are in files; got "
                f"{type(name).__name__}."
            )
        names.append(name)
    return names


def _check_options(options: XGBOptions, owner: str) -> None:
    """Refuse what needs all rows in memory, and name the way."""
    if options.tree_method == "exact":
        raise ParameterError(
            f"tree_method='exact' of {owner} needs the rows in memory, and these are in files. Use "
            "tree_method='hist' or 'approx', or read the files into a table first."
        )
    if options.max_bin is not None and options.max_bin > 65_535:
        raise ParameterError(
            f"`max_bin` of {owner} is at most 65,535 for rows in files; got {options.max_bin}."
        )
    if options.class_weight is not None:
        raise ParameterError(
            f"`class_weight` of {owner} weighs the cuts of columns too, and those of files are made before "
            "the classes are known. Write the weights as a column and name it as sample_weight; "
            "scale_pos_weight works as it is."
        )
    if isinstance(options.early_stopping, float | str):
        raise ParameterError(
            f"early_stopping={options.early_stopping!r} of {owner} parts the rows in memory, and these are "
            "in files. Put the rows to measure on in a file of their own: early_stopping=(scan, 'late')."
        )


def _refuse_sets(sets: Sequence[Given], owner: str) -> None:
    paged = [each.where for each in sets if are_paged(each.X)]
    if paged:
        raise DataTypeError(
            f"{', '.join(paged)} of {owner} is in files, and the training rows are a table in memory. "
            "Give the training rows as a scan too, or read the files of the set into a table."
        )
