"""Trees and forests on rows that are not in memory: a scan, a path or a store, columns by their names.

The rows are coded into pages, by the codebook that memory would find; the model is the one of memory, byte
for byte. What cannot be so is refused, with what works.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import TableLike
from weald.data.adapters import to_table
from weald.data.scanning.scan import Scan, is_path, scan
from weald.data.table import Table
from weald.engine import thread_count
from weald.errors import DataTypeError, ParameterError
from weald.parameters import GrowthOptions
from weald.rows.paged import Store, open_store, store_of_scan
from weald.rows.paged.scans import is_place


def are_paged(X: object) -> bool:
    """Whether rows are in files or in a store, not in a table."""
    return isinstance(X, Scan | Store) or is_path(X)


@contextmanager
def opened(
    X: Any, y: Any, sample_weight: Any, options: GrowthOptions, owner: str
) -> Iterator[tuple[Any, Any, Any]]:
    """The same rows with a store in place of a scan or a path, and columns in place of their names.

    A temporary store is gone in the end, whatever happened. Tables in memory stay as they are.
    """
    if not are_paged(X):
        yield X, y, sample_weight
        return
    _check_options(options, owner)
    targets, weight = _names(y, sample_weight, owner)
    with ExitStack() as stack:
        store = _store(X, targets, weight, options, owner, stack)
        found = [target_of(store, name) for name in targets]
        yield (
            store,
            found[0] if isinstance(y, str) else np.stack(found, axis=1),
            None if weight is None else store.column(weight),
        )


def rows_of_store(store: Store) -> Table:
    """A table that only tells how many rows a store has."""
    return Table((), store.n_rows, store.schema.named)


def target_of(store: Store, name: str) -> NDArray[Any]:
    """A kept column with its labels."""
    values, levels = store.column(name), store.levels(name)
    if levels is None:
        return values
    labels: NDArray[Any] = np.array([*levels, None], object)
    found: NDArray[Any] = labels[values]
    return found


def check_store(store: Store, asked: dict[str, object], owner: str) -> None:
    """Refuse a store whose codes are not those that the parameters ask for."""
    for name, value in asked.items():
        known = store.settings.get(name)
        if known != value:
            raise ParameterError(
                f"The store was built with {name}={known!r}, and {owner} asks for {value!r}. Fit on the scan "
                "again, with a folder of its own, or set the parameter to what the store has."
            )


def _store(
    X: TableLike | Store | Scan,
    targets: list[str],
    weight: str | None,
    options: GrowthOptions,
    owner: str,
    stack: ExitStack,
) -> Store:
    """The store of the rows: that which was given, or one that is built."""
    bins = options.max_bins
    assert bins is not None
    if is_place(X):
        X = stack.enter_context(open_store(X))  # type: ignore[arg-type]
    if isinstance(X, Store):
        check_store(X, {"max_bins": bins, "weight": weight, "unknown": options.unknown}, owner)
        return X
    declared = options.categorical_features

    def read(table: TableLike) -> Table:
        return to_table(table, categorical_features=declared)

    return stack.enter_context(
        store_of_scan(
            X if isinstance(X, Scan) else scan(X),
            targets if weight is None else [*targets, weight],
            max_bins=bins,
            weight=weight,
            read=read,
            unknown=options.unknown,
            # as XGB* has them by default, so that one store serves both
            settings={"missing": repr(np.nan), "types": repr(None), "categorical": repr(declared)},
            n_threads=thread_count(options.n_jobs),
        )
    )


def _names(y: object, sample_weight: object, owner: str) -> tuple[list[str], str | None]:
    """The columns that have a role."""
    targets = [y] if isinstance(y, str) else y
    if (
        not isinstance(targets, list | tuple)
        or not targets
        or not all(isinstance(name, str) for name in targets)
    ):
        raise DataTypeError(
            f"The rows of {owner} are in files, so the target is the name of a column, as in "
            f'fit("flights/*.parquet", "late"); got {type(y).__name__}.'
        )
    if sample_weight is not None and not isinstance(sample_weight, str):
        raise DataTypeError(
            f"`sample_weight` of {owner} is the name of a column where the rows are in files; got "
            f"{type(sample_weight).__name__}."
        )
    return list(targets), sample_weight


def _check_options(options: GrowthOptions, owner: str) -> None:
    """Refuse what needs all rows in memory, and name the way."""
    if options.max_bins is None:
        raise ParameterError(
            f"max_bins=None of {owner} sorts the values of all rows in memory, and these are in files. Use "
            "max_bins=255, or read the files into a table first."
        )
    if options.criterion == "absolute_error":
        raise ParameterError(
            f"criterion='absolute_error' of {owner} looks for medians among all rows in memory, and these "
            "are in files. Use 'squared_error', XGBRegressor(objective='reg:absoluteerror', "
            "tree_method='hist'), or read the files into a table first."
        )
    if getattr(options, "class_weight", None) is not None:
        raise ParameterError(
            f"`class_weight` of {owner} weighs the cuts of columns too, and those of files are made before "
            "the classes are known. Write the weights as a column and name it as sample_weight."
        )
    for name, why in (
        ("prune", "compares trees on rows left out of them. Use ccp_alpha"),
        ("oob_score", "looks at the values of rows again. Predict a file that was left out"),
        ("feature_combinations", "adds up values of columns row by row. Leave it None"),
    ):
        if getattr(options, name, None):
            raise ParameterError(
                f"`{name}` of {owner} {why}, or read the files into a table in memory: these are in files."
            )
