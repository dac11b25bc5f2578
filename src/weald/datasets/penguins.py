"""The Palmer penguins: 344 rows with numbers, categories and missing values, to tell three species apart.

Data by Kristen Gorman and the Palmer Station LTER, published by Horst, Hill and Gorman under CC0; see
ATTRIBUTION.md beside this file.
"""

from __future__ import annotations

import csv
import importlib
from collections.abc import Callable
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, overload

from weald.errors import ParameterError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

_NUMBERS: dict[str, Callable[[str], Any]] = {
    "bill_length_mm": float,
    "bill_depth_mm": float,
    "flipper_length_mm": float,
    "body_mass_g": float,
    "year": int,
}
_TARGET = "species"
#: frame → its module, and the function there that makes one of a mapping of lists
_FRAMES = {
    "pandas": ("pandas", "DataFrame"),
    "polars": ("polars", "DataFrame"),
    "arrow": ("pyarrow", "table"),
}


@overload
def load_penguins(frame: None = None) -> tuple[dict[str, list[object]], list[str]]: ...
@overload
def load_penguins(frame: Literal["pandas"]) -> tuple[pandas.DataFrame, list[str]]: ...
@overload
def load_penguins(frame: Literal["polars"]) -> tuple[polars.DataFrame, list[str]]: ...
@overload
def load_penguins(frame: Literal["arrow"]) -> tuple[pyarrow.Table, list[str]]: ...
def load_penguins(frame: Literal["pandas", "polars", "arrow"] | None = None) -> tuple[object, list[str]]:
    """Read the penguins.

    Parameters
    ----------
    frame : {"pandas", "polars", "arrow"}, optional
        The type of the table; None for a mapping of column name to list, which needs no other library.

    Returns
    -------
    X : mapping or frame
        Seven columns: island, four measurements, sex and year. Missing values are None, or the frame's own.
    y : list of str
        The species: Adelie, Chinstrap or Gentoo.

    Examples
    --------
    >>> X, y = load_penguins()
    >>> len(y), list(X)[:2], X["bill_length_mm"][3]
    (344, ['island', 'bill_length_mm'], None)
    """
    if frame is not None and frame not in _FRAMES:
        raise ParameterError(f'`frame` must be None, "pandas", "polars" or "arrow"; got {frame!r}.')
    columns: dict[str, list[Any]] = {}
    with files("weald.datasets").joinpath("penguins.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            for name, text in row.items():
                read = _NUMBERS.get(name, str)
                columns.setdefault(name, []).append(read(text) if text else None)
    target = columns.pop(_TARGET)
    if frame is None:
        return columns, target
    module, maker = _FRAMES[frame]
    return getattr(importlib.import_module(module), maker)(columns), target
