"""Any table a user has → a `Table`: pandas, polars, Arrow, NumPy, SciPy, lists, mappings.

Frames are recognised without importing their libraries, and numbers stay in the frame's own memory.
"""

from __future__ import annotations

import numbers
import reprlib
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald.arrays import CategoricalFeatures, ColumnLike, TableLike
from weald.data.blocks import ArrayBlock, Block
from weald.data.frames import from_arrow as arrow_frame
from weald.data.frames import from_pandas as pandas_frame
from weald.data.frames.forms import plain_table
from weald.data.frames.from_arrays import array_column, as_categorical, native_numbers
from weald.data.frames.from_sparse import is_sparse, sparse_block
from weald.data.rows import with_columns
from weald.data.table import BlockColumns, Column, Table
from weald.errors import DataError, DataTypeError, ParameterError, listing, nearest

if TYPE_CHECKING:
    import pandas

_Names: TypeAlias = tuple[Hashable, ...]
#: what `weald.scan` and `weald.open_store` give
_IN_FILES = ("Scan", "Store")


def to_table(X: TableLike, *, categorical_features: CategoricalFeatures = None) -> Table:
    """Read any table. Infinite numbers pass here: the engine refuses them where it reads every value anyway.

    Parameters
    ----------
    X : DataFrame, Arrow table, array, list of rows, or mapping of name to values
        pandas, polars (lazy too), pyarrow or any object with an Arrow stream; NumPy arrays of two dimensions,
        of objects, or structured; SciPy sparse matrices, where what is not stored is 0; rows that are
        sequences or mappings of name to value, and one such mapping alone, which is a row. A `Table` is one.
    categorical_features : None, "from_dtype", names, positions or a mask
        Columns to read as categories whatever their type. Text and unordered categories always are.

    Examples
    --------
    >>> to_table({"x": [1.5, None], "city": ["Bern", None]}).columns[1].levels
    ('Bern',)
    """
    return _read(X, categorical_features)


def column_of(name: Hashable, values: ColumnLike, *, categorical: bool = False) -> Column:
    """One column from one sequence of any library: a Series, an Arrow array, an ndarray or a list."""
    if pandas_frame.is_series(values):
        return pandas_frame.series_column(name, values, categorical=categorical)
    if arrow_frame.has_arrow(values):
        column = arrow_frame.arrow_column(name, values)
        return as_categorical(column) if categorical else column
    array = values if isinstance(values, np.ndarray) else _array_of_sequence(values)
    if array.ndim != 1:
        raise DataError(f"Column {name!r} has {array.ndim} dimensions; one value per row is expected.")
    return array_column(name, array, categorical=categorical)


def _array_of_sequence(values: Any) -> NDArray[Any]:
    """An array of numbers where the values are numbers, else of objects (so that 1 and "a" stay apart)."""
    if isinstance(values, str | bytes) or not (hasattr(values, "__array__") or isinstance(values, Iterable)):
        raise DataTypeError(f"A sequence of values is expected; got {type(values).__name__}.")
    if not hasattr(values, "__array__") and not isinstance(values, Sequence):
        values = list(values)
    try:
        array = np.asarray(values)
    except ValueError:
        array = np.empty(len(values), dtype=object)
        array[:] = values
    if array.dtype.kind in "USMm" and not hasattr(values, "__array__"):
        return np.array(values, dtype=object)
    return array


def _read(X: TableLike, wanted: CategoricalFeatures) -> Table:
    if isinstance(X, Table):
        positions = categorical_positions(X.names, wanted)
        return with_columns(X, {j: as_categorical(X.columns[j]) for j in positions}) if positions else X
    if pandas_frame.is_frame(X):
        return _read_pandas(X, wanted)
    refuse_by_type(X)
    X = plain_table(X)
    if arrow_frame.has_arrow(X):
        read, n_rows = arrow_frame.arrow_columns(X)
        return _finished([column.name for column in read], read, n_rows, wanted)
    if is_sparse(X):
        return _read_block(sparse_block(X), wanted)
    if isinstance(X, Mapping):
        return _read_mapping(X, wanted)
    return _read_array(array_of_rows(X), wanted)


def _read_pandas(X: pandas.DataFrame, wanted: CategoricalFeatures) -> Table:
    names = tuple(X.columns.tolist())
    series = [column for _, column in X.items()]
    return _assemble(
        names,
        len(X),
        wanted,
        lambda j, categorical: pandas_frame.series_column(names[j], series[j], categorical=categorical),
    )


def refuse_by_type(X: object) -> None:
    """Raise for what is no table at all, or stands for rows in files."""
    if isinstance(X, PurePath) or (type(X).__module__.startswith("weald.") and type(X).__name__ in _IN_FILES):
        raise DataTypeError(
            f"A table is expected, and this {type(X).__name__} stands for rows in files. Read all of them, "
            "or some files, by weald.read(…). What takes files as they are: predictions, shap_values, and "
            "fit of XGB* with tree_method='hist'."
        )
    if X is None or isinstance(X, str | bytes) or np.isscalar(X):
        raise DataTypeError(
            f"A table is expected: a DataFrame, an Arrow table, a 2-D array or a list of rows; "
            f"got {type(X).__name__}."
        )


def _read_mapping(X: Mapping[Hashable, Any], wanted: CategoricalFeatures) -> Table:
    names = tuple(X)
    for name, value in X.items():
        if isinstance(value, str | bytes) or not hasattr(value, "__len__"):
            raise DataTypeError(f"Column {name!r} must be a sequence of values; got {type(value).__name__}.")
    values = list(X.values())
    lengths = [len(column) for column in values]
    for name, length in zip(names, lengths, strict=True):
        if length != lengths[0]:
            raise DataError(
                f"Column {name!r} has {length} rows and column {names[0]!r} has {lengths[0]}. "
                "All columns must be equally long."
            )
    n_rows = lengths[0] if lengths else 0
    return _assemble(
        names, n_rows, wanted, lambda j, categorical: column_of(names[j], values[j], categorical=categorical)
    )


def array_of_rows(X: object) -> NDArray[Any]:
    """A 2-D array (or a 1-D structured one) from an array or a list of rows."""
    array: NDArray[Any]
    if isinstance(X, np.ma.MaskedArray):
        array = X
    elif isinstance(X, np.ndarray) or hasattr(X, "__array__"):
        array = np.asarray(X)
    else:
        array = _array_of_list(X)
    if array.dtype.names is not None and array.ndim == 1:
        return array
    if array.ndim < 2:
        shape = "1D array" if array.ndim == 1 else "scalar array"
        raise DataError(
            f"Expected 2D array, got {shape} instead:\narray={reprlib.repr(array.tolist())}.\n"
            "Reshape your data either using array.reshape(-1, 1) if your data has a single feature or "
            "array.reshape(1, -1) if it contains a single sample."
        )
    if array.ndim > 2:
        raise DataError(f"Found array with dim {array.ndim}. A table has two dimensions: rows and columns.")
    return array


def _array_of_list(X: object) -> NDArray[Any]:
    if not isinstance(X, Sequence):
        if not isinstance(X, Iterable):
            raise DataTypeError(
                f"A table is expected: a DataFrame, an Arrow table, a 2-D array or a list of rows; got "
                f"{type(X).__name__}."
            )
        X = list(X)
    lengths = {len(row) for row in X if hasattr(row, "__len__") and not isinstance(row, str)}
    if len(lengths) > 1:
        first = len(X[0]) if hasattr(X[0], "__len__") else 1
        row = next(i for i, r in enumerate(X) if not hasattr(r, "__len__") or len(r) != first)
        raise DataError(
            f"Row {row} has another length than row 0 ({first} values). Rows must be equally long."
        )
    try:
        array = np.asarray(X)
        if array.dtype.kind in "biufc":
            return array
        return np.array(X, dtype=object)
    except ValueError as error:
        raise DataError(f"The list cannot be read as rows of equal length: {error}.") from None


def _read_array(array: NDArray[Any], wanted: CategoricalFeatures) -> Table:
    if array.dtype.names is not None:
        fields = tuple(array.dtype.names)
        return _assemble(
            fields,
            len(array),
            wanted,
            lambda j, categorical: array_column(fields[j], array[fields[j]], categorical=categorical),
        )
    if array.dtype.kind == "c":
        raise DataError(f"Complex data not supported: the array is {array.dtype}. Take its real part.")
    if array.dtype.kind in "biuf" and not isinstance(array, np.ma.MaskedArray):
        return _read_block(ArrayBlock(native_numbers(array)), wanted)
    return _assemble(
        tuple(range(array.shape[1])),
        array.shape[0],
        wanted,
        lambda j, categorical: array_column(j, array[:, j], categorical=categorical),
    )


def _read_block(block: Block, wanted: CategoricalFeatures) -> Table:
    """The columns of a block, those that were asked for as categories."""
    n_rows, n_columns = block.shape
    check_size(n_rows, n_columns)
    columns = BlockColumns(block)
    positions = categorical_positions(range(n_columns), wanted)
    if positions:
        read = zip(positions, columns.take(positions), strict=True)
        columns = BlockColumns(block, {j: as_categorical(column) for j, column in read})
    return Table(columns, n_rows, named=False)


def _assemble(
    names: _Names, n_rows: int, wanted: CategoricalFeatures, read: Callable[[int, bool], Column]
) -> Table:
    named = names_are_given(names)
    check_size(n_rows, len(names))
    categorical = set(categorical_positions(names, wanted))
    columns = tuple(read(j, j in categorical) for j in range(len(names)))
    return Table(columns, n_rows, named)


def _finished(
    names: Sequence[Hashable], columns: Sequence[Column], n_rows: int, wanted: CategoricalFeatures
) -> Table:
    def read(j: int, categorical: bool) -> Column:
        return as_categorical(columns[j]) if categorical else columns[j]

    return _assemble(tuple(names), n_rows, wanted, read)


def check_size(n_rows: int, n_columns: int) -> None:
    """Raise for a table without rows or without columns."""
    for count, word in ((n_rows, "sample(s)"), (n_columns, "feature(s)")):
        if count == 0:
            raise DataError(
                f"Found array with 0 {word} (shape=({n_rows}, {n_columns})) while a minimum of 1 is required."
            )


def names_are_given(names: _Names) -> bool:
    """Whether the names are the user's own (all text); raises for duplicates and for mixtures with text."""
    if len(set(names)) < len(names):
        seen: set[Hashable] = set()
        twice = dict.fromkeys(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise DataError(
            f"Column names must be unique; more than once: {listing(twice)}. Rename or drop them."
        )
    kinds = sorted({type(name).__qualname__ for name in names})
    if len(kinds) > 1 and "str" in kinds:
        raise DataTypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{kinds} as feature name / column name types. Convert them all, for example with "
            "X.columns = X.columns.astype(str)."
        )
    return kinds == ["str"]


def categorical_positions(names: Sequence[Hashable], wanted: CategoricalFeatures) -> list[int]:
    """Which columns `categorical_features` asks for: their positions among `names`, ascending."""
    if wanted is None or (isinstance(wanted, str) and wanted == "from_dtype"):
        return []
    if isinstance(wanted, str | bytes) or not isinstance(wanted, Iterable):
        raise ParameterError(
            f"categorical_features must be None, 'from_dtype', or a list of names, positions or bools; "
            f"got {wanted!r}."
        )
    entries = list(wanted.tolist() if isinstance(wanted, np.ndarray) else wanted)
    if entries and all(isinstance(entry, bool | np.bool_) for entry in entries):
        if len(entries) != len(names):
            raise ParameterError(
                f"categorical_features is a mask of {len(entries)} bools for {len(names)} columns. "
                "Give one bool per column."
            )
        return [int(j) for j in np.flatnonzero(entries)]
    position = {} if isinstance(names, range) else {name: j for j, name in enumerate(names)}
    return sorted({_position_of(entry, position, len(names)) for entry in entries})


def _position_of(entry: Hashable, position: Mapping[Hashable, int], n_columns: int) -> int:
    """The position of a column that is named, or numbered; `position` is empty where there are no names."""
    if isinstance(entry, numbers.Integral) and not isinstance(entry, bool):
        if 0 <= int(entry) < n_columns:
            return int(entry)
        raise ParameterError(
            f"categorical_features names position {int(entry)}; positions go from 0 to {n_columns - 1}."
        )
    if entry in position:
        return position[entry]
    close = nearest(str(entry), [str(name) for name in position])
    hint = f" Did you mean {close!r}?" if close else f" The columns are {listing(position)}."
    if not position:
        hint = f" Its columns have no names, but positions from 0 to {n_columns - 1}."
    raise ParameterError(
        f"categorical_features names the column {entry!r}, which the table does not have.{hint}"
    )
