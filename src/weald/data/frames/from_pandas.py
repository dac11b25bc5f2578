"""pandas frames and series → columns, through pandas' public API only.

Numbers stay views of the frame's own memory; text is hashed by `pandas.factorize`.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable
from types import ModuleType
from typing import TYPE_CHECKING, TypeGuard

import numpy as np
from numpy.typing import NDArray

from weald.arrays import ColumnLike
from weald.data.frames.from_arrays import array_column, as_categorical
from weald.data.levels import unified
from weald.data.table import Column, LevelColumn, NumericColumn
from weald.data.times import time_column
from weald.errors import DataTypeError

if TYPE_CHECKING:
    import pandas


def is_frame(value: object) -> TypeGuard[pandas.DataFrame]:
    """Whether `value` is a pandas DataFrame; never imports pandas."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.DataFrame)


def is_series(value: object) -> TypeGuard[pandas.Series]:
    """Whether `value` is a pandas Series, Index or extension array; never imports pandas."""
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return False
    return isinstance(value, pandas.Series | pandas.Index | pandas.api.extensions.ExtensionArray)


def series_column(name: Hashable, values: ColumnLike, *, categorical: bool = False) -> Column:
    """One column from a pandas Series, Index or extension array."""
    pandas = sys.modules["pandas"]
    series = values if isinstance(values, pandas.Series) else pandas.Series(values)
    if isinstance(series.dtype, np.dtype):
        column = _numpy_series(name, series, categorical)
    else:
        column = _extension_series(name, series, pandas)
    return as_categorical(column) if categorical else column


def _numpy_series(name: Hashable, series: pandas.Series, categorical: bool) -> Column:
    pandas = sys.modules["pandas"]
    if series.dtype.kind == "O" and pandas.api.types.infer_dtype(series, skipna=True) == "string":
        return _factorized(name, series)
    return array_column(name, series.to_numpy(), categorical=categorical)


def _factorized(name: Hashable, series: pandas.Series) -> LevelColumn:
    codes, uniques = sys.modules["pandas"].factorize(series)
    return unified(name, codes, uniques.tolist())


def _extension_series(name: Hashable, series: pandas.Series, pandas: ModuleType) -> Column:
    dtype = series.dtype
    if isinstance(dtype, pandas.CategoricalDtype):
        codes = series.cat.codes.to_numpy()
        return unified(name, codes, series.cat.categories.tolist(), ordered=bool(dtype.ordered))
    if isinstance(dtype, pandas.StringDtype):
        return _factorized(name, series)
    if isinstance(dtype, pandas.DatetimeTZDtype):
        ticks = series.to_numpy(dtype=f"datetime64[{dtype.unit}]")
        return time_column(name, ticks, "instant")
    if isinstance(dtype, pandas.SparseDtype):
        return array_column(name, series.sparse.to_dense().to_numpy())
    if isinstance(dtype, pandas.PeriodDtype):
        return array_column(name, series.dt.to_timestamp().to_numpy())
    if isinstance(dtype, pandas.ArrowDtype):
        from weald.data.frames.from_arrow import arrow_column

        return arrow_column(name, series.array.__arrow_array__())
    if isinstance(getattr(dtype, "numpy_dtype", None), np.dtype) and dtype.kind in "biuf":
        return _nullable_numbers(name, series)
    raise DataTypeError(
        f"Column {name!r} has the pandas dtype {dtype}, which is no number, text, date, bool or category. "
        "Convert or drop it."
    )


def _nullable_numbers(name: Hashable, series: pandas.Series) -> NumericColumn:
    """Int64, Float64, boolean and their like: values and a mask."""
    dtype = series.dtype.numpy_dtype
    missing: NDArray[np.bool_] | None = series.isna().to_numpy(dtype=np.bool_)
    if missing is None or not missing.any():
        values, missing = series.to_numpy(dtype=dtype), None
    else:
        values = series.to_numpy(dtype=dtype, na_value=np.nan if dtype.kind == "f" else dtype.type(0))
    return NumericColumn(name, values, missing, "bool" if dtype.kind == "b" else "number")
