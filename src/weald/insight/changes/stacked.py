"""A user's table with one more row below it, and rows made of that row and of values of the others.

So every value that is proposed has the type of its column, and exists. What is made is of the table's kind.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import AnyTable, Integers, TableLike
from weald.data.frames import from_pandas as pandas_frame
from weald.data.frames.by_column import form_of, with_columns_of
from weald.data.frames.forms import is_one_row
from weald.data.frames.from_sparse import is_sparse
from weald.data.frames.user_rows import indexable, outline
from weald.data.frames.write_arrow import is_arrow_table
from weald.errors import DataError, DataTypeError, listing


def stacked(X: AnyTable, row: object, owner: str) -> Any:
    """The table X, as `indexable` gave it, with `row` as its last."""
    names = list(outline(X).names)
    if is_sparse(X):
        from scipy import sparse

        last = row if is_sparse(row) else np.reshape(_by_position(row, names, owner), (1, -1)).astype(float)
        return sparse.vstack([X, sparse.csr_array(last)], format="csr")
    if isinstance(X, np.ndarray) and X.dtype.names is None:
        return _below_array(X, _by_position(row, names, owner))
    values = _by_name(row, names, owner)
    if pandas_frame.is_frame(X):
        return _below_pandas(X, values)
    if isinstance(X, Mapping):
        return {name: [*_listed(X[name]), values[name]] for name in names}
    if isinstance(X, np.ndarray):
        last = np.array([tuple(values[name] for name in names)], X.dtype)
        return np.concatenate([X, last])
    if is_arrow_table(X):
        arrow = sys.modules["pyarrow"]
        return arrow.concat_tables([X, arrow.Table.from_pylist([values], schema=X.schema)]).combine_chunks()
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(X, polars.DataFrame):
        last = polars.DataFrame({name: [values[name]] for name in names}, strict=False)
        return polars.concat([X, last.cast(dict(X.schema), strict=False)])
    raise DataTypeError(
        f"{owner} takes pandas, polars and pyarrow tables, arrays, sparse matrices, lists and mappings of "
        f"columns; got {type(X).__name__}. Convert it, for example with pyarrow.table(X)."
    )


def _below_array(X: NDArray[Any], values: Sequence[Any]) -> NDArray[Any]:
    last = np.empty((1, X.shape[1]), object)
    last[0] = list(values)
    if X.dtype.kind in "biuf":
        missing = np.array([value is None for value in values])
        last[0, missing] = np.nan
        numbers = last.astype(np.float64)
        whole = (
            X.dtype.kind in "biu"
            and np.isfinite(numbers).all()
            and (numbers == numbers.astype(X.dtype)).all()
        )
        return np.concatenate([X, numbers.astype(X.dtype) if whole or X.dtype.kind == "f" else numbers])
    return np.concatenate([X.astype(object), last])


def _below_pandas(X: AnyTable, values: Mapping[Any, Any]) -> Any:
    pandas = sys.modules["pandas"]
    columns = []
    for j, name in enumerate(X.columns):
        series, value = X.iloc[:, j], values[name]
        if isinstance(series.dtype, pandas.CategoricalDtype) and not pandas.isna(value):
            unseen = value not in series.cat.categories
            series = series.cat.add_categories([value]) if unseen else series
        try:
            last = pandas.Series([value], dtype=series.dtype)
        except (TypeError, ValueError):  # a gap among whole numbers, a level of another type
            last = pandas.Series([value])
        columns.append(pandas.concat([series.reset_index(drop=True), last], ignore_index=True))
    return pandas.concat(columns, axis=1, keys=X.columns)


def _listed(values: Any) -> list[Any]:
    return list(values.tolist() if hasattr(values, "tolist") else values)


def _single(row: object, owner: str) -> object:
    """A row as a mapping of names to values, or as values one after another."""
    if is_one_row(row):
        return row
    if pandas_frame.is_series(row):
        series: AnyTable = row
        return dict(zip(series.index.tolist(), series.tolist(), strict=True))
    if isinstance(row, Sequence) and row and not isinstance(row[0], Sequence | np.ndarray | Mapping):
        return list(row)
    if isinstance(row, np.ndarray) and row.ndim == 1 and row.dtype.names is None:
        return row.tolist()
    table = indexable(row)  # type: ignore[arg-type]
    whole = outline(table)
    if whole.n_rows != 1:
        raise DataError(f"{owner} is about one row; `row` has {whole.n_rows}. Give one, as in X[:1].")
    values = [value_at(table, 0, j) for j in range(whole.n_columns)]
    return dict(zip(whole.names, values, strict=True)) if whole.named else values


def _by_name(row: object, names: Sequence[Any], owner: str) -> dict[Any, Any]:
    single = _single(row, owner)
    if isinstance(single, Mapping):
        absent = [name for name in names if name not in single]
        extra = [name for name in single if name not in set(names)]
        if absent or extra:
            lacks = f" It lacks {listing(absent)}." if absent else ""
            strange = f" Unknown: {listing(extra)}." if extra else ""
            raise DataError(f"`row` of {owner} must have the columns of X.{lacks}{strange}")
        return {name: single[name] for name in names}
    assert isinstance(single, list)
    if len(single) != len(names):
        raise DataError(f"`row` of {owner} has {len(single)} values, and X has {len(names)} columns.")
    return dict(zip(names, single, strict=True))


def _by_position(row: object, names: Sequence[Any], owner: str) -> list[Any]:
    single = _single(row, owner)
    if isinstance(single, list) and len(single) == len(names):
        return single
    return list(_by_name(single, names, owner).values())


def value_at(table: AnyTable, row: int, column: int) -> Any:
    """One value of a user's table, as Python's own where there is such a type; None for a gap."""
    if pandas_frame.is_frame(table):
        value: object = table.iloc[row, column]
    elif isinstance(table, Mapping):
        value = list(table.values())[column][row]
    elif isinstance(table, np.ndarray) and table.dtype.names is not None:
        value = table[row][column]
    elif isinstance(table, np.ndarray) or is_sparse(table):
        value = table[row, column]
    elif is_arrow_table(table):
        value = table.column(column)[row].as_py()
    else:
        import narwhals

        value = narwhals.from_native(table, eager_only=True)[row, column]
    value = value.item() if isinstance(value, np.generic) else value
    if type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and np.isnan(value)):
        return None
    return value


class MadeRows:
    """Rows that are the last of a table, with the values of other rows in some columns."""

    def __init__(self, table: TableLike) -> None:
        self.table = table
        self.n_known = outline(table).n_rows - 1
        self._form = form_of(table)

    def made(self, n_made: int, donors: Mapping[int, Integers]) -> Any:
        """`n_made` rows; `donors` has for some columns the row that each value is taken from."""
        same = np.full(n_made, self.n_known, np.intp)
        if self._form == "frame":
            return with_columns_of(self.table, same, dict(donors), {})
        table: AnyTable = self.table
        if self._form == "sparse":
            return _sparse_made(table.tocsr(), n_made, donors)
        rows = np.array(np.asarray(table)[same])
        for j, taken in donors.items():
            rows[:, j] = np.asarray(table)[taken, j]
        return rows


def _sparse_made(table: AnyTable, n_made: int, donors: Mapping[int, Integers]) -> Any:
    from scipy import sparse

    last = table.shape[0] - 1
    whole = table[np.full(n_made, last)]
    if not donors:
        return whole
    columns = {j: np.asarray(table[:, [j]].todense()).ravel() for j in donors}
    change = np.concatenate([columns[j][rows] - columns[j][last] for j, rows in donors.items()])
    at = np.tile(np.arange(n_made), len(donors)), np.repeat(list(donors), n_made)
    return sparse.csr_array(whole + sparse.coo_array((change, at), shape=whole.shape))
