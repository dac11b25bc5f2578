"""Forms of a table that stand for another: lazy frames, records, one row as a mapping of names to values.

Everything that takes a table asks here first, so that all of weald takes the same forms.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeGuard, cast

import numpy as np

from weald.arrays import AnyTable, SupportsCollect, TableLike
from weald.data.frames.from_pandas import is_series
from weald.data.frames.from_sparse import is_sparse
from weald.errors import DataError, DataTypeError, told


def plain_table(X: TableLike) -> TableLike:
    """The table itself, or what it stands for; raises for a single column.

    A polars LazyFrame is collected. A list of mappings is a table of their keys, in the order in which they
    come up, as in `pandas.DataFrame(records)`: a key that a record lacks is a missing value. A mapping of
    names to single values is one row.

    >>> plain_table([{"age": 3}, {"age": 5, "city": "Bern"}])
    {'age': [3, 5], 'city': [None, 'Bern']}
    >>> plain_table({"age": 3, "city": "Bern"})
    {'age': [3], 'city': ['Bern']}
    """
    if is_series(X) or _is_arrow_column(X):
        raise one_column()
    if _is_lazy(X):
        return X.collect()
    if is_records(X):
        return _columns_of(X)
    if is_one_row(X):
        return {name: [value] for name, value in X.items()}
    return X


def one_column() -> DataError:
    """The error for a Series or array where a table is expected."""
    return DataError(
        "Expected 2D array, got 1D array instead: X is one column. Reshape your data into a table: "
        "to_frame() makes one of a column; one row as a table is X.iloc[[0]] in pandas, X[:1] in polars."
    )


def as_given(X: TableLike, table: AnyTable) -> TableLike:
    """A table that `plain_table` made of X, or one like it, in the form that X has."""
    if _is_lazy(X):
        return cast(TableLike, table.lazy())
    if is_records(X):
        return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    if is_one_row(X):
        return {name: values[0] for name, values in table.items()}
    return cast(TableLike, table)


def is_records(X: object) -> TypeGuard[Sequence[Mapping[Hashable, Any]]]:
    """Whether X is a list of mappings of names to values, one per row."""
    return isinstance(X, Sequence) and len(X) > 0 and isinstance(X[0], Mapping)


def is_one_row(X: object) -> TypeGuard[Mapping[Hashable, Any]]:
    """Whether X is a mapping of names to single values."""
    # SciPy's matrices by keys are mappings too.
    if not isinstance(X, Mapping) or is_sparse(X):
        return False
    return len(X) > 0 and all(map(_is_single, X.values()))


def _is_single(value: object) -> bool:
    if isinstance(value, str | bytes):
        return True
    if isinstance(value, np.ndarray):
        return value.ndim == 0
    return not hasattr(value, "__len__") and not hasattr(value, "__iter__")


def _columns_of(records: Sequence[object]) -> dict[Hashable, list[Any]]:
    names: dict[Hashable, None] = {}
    rows: list[Mapping[Hashable, Any]] = []
    for row, record in enumerate(records):
        if not isinstance(record, Mapping):
            raise DataTypeError(
                f"Row 0 is a mapping of names to values and row {row} is {told(record)}, a "
                f"{type(record).__name__}. Give every row as a mapping, or none."
            )
        names.update(dict.fromkeys(record))
        rows.append(record)
    return {name: [record.get(name) for record in rows] for name in names}


def _is_lazy(X: object) -> TypeGuard[SupportsCollect]:
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(X, polars.LazyFrame)


def _is_arrow_column(X: object) -> bool:
    """Whether X is one column of polars or pyarrow; a column of structs is a table."""
    polars, arrow = sys.modules.get("polars"), sys.modules.get("pyarrow")
    if polars is not None and isinstance(X, polars.Series):
        return not isinstance(X.dtype, polars.Struct)
    if arrow is not None and isinstance(X, arrow.Array | arrow.ChunkedArray):
        return not arrow.types.is_struct(X.type)
    return False
