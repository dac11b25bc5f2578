"""Random tables as plain Python values, and the same values as every kind of table that users have."""

from __future__ import annotations

import datetime
import string
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

EPOCH = datetime.datetime(2020, 1, 1)
WORDS = ["a", "b", "B", "zebra", "ü", "", " ", "a b", "None", "nan", "0", "1.5", "東京", "x" * 40, "\n", "'"]
NAMES = ["x", "y y", "ü", "0", "", "weight", "__class__", "a.b", "x" * 60, "f[0]", "名"]


@dataclass(frozen=True)
class RandomColumn:
    """One column: what its values are, and the values with None for missing."""

    name: str
    kind: str
    values: list[Any]
    levels: tuple[str, ...] = ()

    @property
    def numeric(self) -> bool:
        """Whether the values are numbers."""
        return self.kind in {"float64", "float32", "int64", "int8", "uint16", "bool"}


@dataclass(frozen=True)
class RandomTable:
    """Columns of equal length."""

    columns: tuple[RandomColumn, ...]

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return len(self.columns[0].values)

    @property
    def numeric(self) -> bool:
        """Whether every column holds numbers, so that the table can be an array."""
        return all(column.numeric for column in self.columns)

    def rows(self, start: int, stop: int) -> RandomTable:
        """Some of the rows."""
        return RandomTable(
            tuple(RandomColumn(c.name, c.kind, c.values[start:stop], c.levels) for c in self.columns)
        )


# --------------------------------------------------------------------------- drawing


def random_table(random: np.random.Generator, *, gentle: bool = False) -> RandomTable:
    """A table of one to seven columns; `gentle`: numbers of ordinary size only."""
    n_rows = int(random.choice([2, 3, 7, 20, 60, 150], p=[0.04, 0.06, 0.15, 0.25, 0.3, 0.2]))
    n_columns = int(random.integers(1, 8))
    names = random.permutation(NAMES)[:n_columns].tolist()
    only_numbers = random.random() < 0.4
    return RandomTable(
        tuple(_column(random, name, n_rows, only_numbers=only_numbers, gentle=gentle) for name in names)
    )


def in_lasting_types(table: RandomTable) -> RandomTable:
    """The table without the types that not every form keeps: lists have no float32, and pandas no days."""
    return RandomTable(tuple(_lasting(column) for column in table.columns))


def _lasting(column: RandomColumn) -> RandomColumn:
    if column.kind == "float32":
        return replace(column, kind="float64")
    if column.kind == "date":
        midnight = datetime.time()
        days = [None if day is None else datetime.datetime.combine(day, midnight) for day in column.values]
        return replace(column, kind="datetime", values=days)
    return column


def _column(
    random: np.random.Generator, name: str, n_rows: int, *, only_numbers: bool, gentle: bool
) -> RandomColumn:
    numeric = ["float64", "float64", "float32", "int64", "int8", "uint16", "bool"]
    other = ["str", "categorical", "ordinal", "datetime", "date"]
    kind = str(random.choice(numeric if only_numbers else numeric + other))
    levels: tuple[str, ...] = ()
    if kind in {"str", "categorical", "ordinal"}:
        levels = tuple(random.permutation(WORDS)[: random.integers(1, len(WORDS))].tolist())
        values = [levels[i] for i in random.integers(0, len(levels), n_rows)]
    else:
        values = [_native(kind, number) for number in _numbers(random, kind, n_rows, gentle=gentle)]
    missing = random.choice([0.0, 0.0, 0.1, 0.5, 1.0], p=[0.4, 0.2, 0.25, 0.1, 0.05])
    gone = random.random(n_rows) < missing
    return RandomColumn(
        name, kind, [None if none else v for v, none in zip(values, gone, strict=True)], levels
    )


def _numbers(random: np.random.Generator, kind: str, n_rows: int, *, gentle: bool) -> np.ndarray:
    """Numbers that suit the kind: ties, zeros, and where they may be, extremes."""
    shape = random.choice(["normal", "few", "sparse", "extreme", "far", "constant"])
    if kind == "bool":
        return (random.random(n_rows) < random.random()).astype(float)
    if kind in {"int8", "uint16"}:
        return random.integers(0, 120, n_rows).astype(float) * (random.random(n_rows) < random.random())
    if kind in {"int64", "datetime", "date"}:
        wide = 2**40 if kind == "int64" and not gentle and shape == "extreme" else 400
        return random.integers(-wide if kind == "int64" else 0, wide, n_rows).astype(float)
    numbers = random.normal(size=n_rows)
    if shape == "few":
        numbers = np.round(numbers)
    elif shape == "sparse":
        numbers *= random.random(n_rows) < 0.2
    elif shape == "constant":
        numbers[:] = numbers[0]
    elif shape == "far":
        numbers += 1e6
    elif shape == "extreme" and not gentle:
        span = 30 if kind == "float32" else 150
        numbers *= 10.0 ** random.integers(-span, span, n_rows)
    return numbers


def _native(kind: str, number: float) -> Any:
    if kind == "bool":
        return bool(number)
    if kind in {"int64", "int8", "uint16"}:
        return int(number)
    if kind == "float32":
        return float(np.float32(number))
    if kind == "datetime":
        return EPOCH + datetime.timedelta(hours=7 * number)
    if kind == "date":
        return (EPOCH + datetime.timedelta(days=number)).date()
    return float(number)


# --------------------------------------------------------------------------- as users have them

_PANDAS_NUMBERS = {"int64": "Int64", "int8": "Int8", "uint16": "UInt16", "bool": "boolean"}
_POLARS = {
    "float64": pl.Float64,
    "float32": pl.Float32,
    "int64": pl.Int64,
    "int8": pl.Int8,
    "uint16": pl.UInt16,
    "bool": pl.Boolean,
    "str": pl.String,
    "categorical": pl.Categorical,
    "datetime": pl.Datetime("us"),
    "date": pl.Date,
}
_ARROW = {
    "float64": pa.float64(),
    "float32": pa.float32(),
    "int64": pa.int64(),
    "int8": pa.int8(),
    "uint16": pa.uint16(),
    "bool": pa.bool_(),
    "str": pa.string(),
    "datetime": pa.timestamp("us"),
    "date": pa.date32(),
}


def as_pandas(table: RandomTable) -> pd.DataFrame:
    """A pandas frame with pandas' own types."""
    return pd.DataFrame({column.name: _pandas_series(column) for column in table.columns})


def _pandas_series(column: RandomColumn) -> pd.Series:
    values, has_gaps = column.values, None in column.values
    if column.kind in {"categorical", "ordinal"}:
        return pd.Series(pd.Categorical(values, list(column.levels), ordered=column.kind == "ordinal"))
    if column.kind in {"float64", "float32"}:
        return pd.Series(np.array(values, dtype=column.kind))
    if column.kind in _PANDAS_NUMBERS:
        return pd.Series(values, dtype=_PANDAS_NUMBERS[column.kind] if has_gaps else column.kind)
    if column.kind in {"datetime", "date"}:
        return pd.Series(pd.to_datetime(pd.Series(values, dtype=object)), dtype="datetime64[us]")
    # A column of None alone does not tell what it would hold, unless its type does.
    return pd.Series(values, dtype="string" if all(value is None for value in values) else object)


def as_polars(table: RandomTable) -> pl.DataFrame:
    """A polars frame with polars' own types."""
    return pl.DataFrame({column.name: _polars_series(column) for column in table.columns})


def _polars_series(column: RandomColumn) -> pl.Series:
    dtype = pl.Enum(list(column.levels)) if column.kind == "ordinal" else _POLARS[column.kind]
    return pl.Series(column.name, column.values, dtype)


def as_arrow(table: RandomTable) -> pa.Table:
    """An Arrow table; categories as dictionaries."""
    return pa.table([_arrow_array(c) for c in table.columns], names=[c.name for c in table.columns])


def _arrow_array(column: RandomColumn) -> pa.Array:
    if column.kind in {"categorical", "ordinal"}:
        places = [None if v is None else column.levels.index(v) for v in column.values]
        return pa.DictionaryArray.from_arrays(
            pa.array(places, pa.int32()),
            pa.array(list(column.levels), pa.string()),
            ordered=column.kind == "ordinal",
        )
    return pa.array(column.values, _ARROW[column.kind])


def can_be_lists(table: RandomTable) -> bool:
    """Whether the values alone tell what the columns hold."""
    return all(
        (column.numeric or column.kind == "str") and any(value is not None for value in column.values)
        for column in table.columns
    )


def as_mapping(table: RandomTable) -> dict[str, list[Any]]:
    """A dict of lists."""
    return {column.name: list(column.values) for column in table.columns}


def as_numpy(table: RandomTable) -> np.ndarray:
    """Numbers only: a float64 array with NaN for missing."""
    return np.array([_floats(column) for column in table.columns]).T.copy()


def as_lists(table: RandomTable) -> list[list[float]]:
    """Numbers only: rows as lists of floats."""
    return as_numpy(table).tolist()


def as_fortran(table: RandomTable) -> np.ndarray:
    """Numbers only: an array column after column."""
    return np.asfortranarray(as_numpy(table))


def as_csr(table: RandomTable) -> sparse.csr_array:
    """Numbers only: zeros are not stored."""
    return sparse.csr_array(as_numpy(table))


def as_csc(table: RandomTable) -> sparse.csc_matrix:
    """Numbers only: zeros are not stored."""
    return sparse.csc_matrix(as_numpy(table))


def _floats(column: RandomColumn) -> list[float]:
    return [float("nan") if value is None else float(value) for value in column.values]


Form = Callable[[RandomTable], Any]
NAMED: tuple[Form, ...] = (as_pandas, as_polars, as_arrow)
DENSE: tuple[Form, ...] = (as_numpy, as_lists, as_fortran)
SPARSE: tuple[Form, ...] = (as_csr, as_csc)


# --------------------------------------------------------------------------- targets and weights


def random_labels(random: np.random.Generator, n_rows: int) -> np.ndarray:
    """Labels of any type, every class at least once where there are enough rows."""
    n_classes = int(random.choice([1, 2, 2, 2, 3, 5]))
    places = np.concatenate([np.arange(n_classes), random.integers(0, n_classes, n_rows)])[:n_rows]
    random.shuffle(places)
    kind = random.choice(["int", "str", "bool", "float", "negative"])
    if kind == "str":
        return np.array(random.permutation(list(string.ascii_letters))[:n_classes])[places]
    if kind == "bool" and n_classes <= 2:
        return places == 1
    if kind == "float":
        return places.astype(float)
    return places - 3 if kind == "negative" else places


def random_numbers(random: np.random.Generator, n_rows: int) -> np.ndarray:
    """Targets of a regression: ordinary, tied, constant, tiny, huge or far from 0."""
    numbers = random.normal(size=n_rows)
    shape = random.choice(["normal", "ties", "constant", "scaled", "far"])
    if shape == "ties":
        return np.round(numbers)
    if shape == "constant":
        return np.full(n_rows, numbers[0])
    if shape == "scaled":
        return numbers * 10.0 ** int(random.integers(-12, 12))
    return numbers + 1e7 if shape == "far" else numbers


def random_weights(random: np.random.Generator, n_rows: int) -> np.ndarray | None:
    """None, whole numbers, fractions, some zeros, or a range of twenty-four powers of ten."""
    kind = random.choice(["none", "none", "whole", "fraction", "zeros", "wide", "large"])
    if kind == "none":
        return None
    if kind == "whole":
        return random.integers(1, 5, n_rows).astype(float)
    if kind == "zeros":
        return (random.random(n_rows) < 0.7).astype(float)
    if kind == "wide":
        return 10.0 ** random.uniform(-12, 12, n_rows)
    if kind == "large":
        return np.full(n_rows, 5e9)
    return random.random(n_rows) + 0.01
