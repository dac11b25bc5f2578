"""New tables in a user's frame library, from columns by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald.errors import ParameterError, nearest, told

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

#: columns in one of these libraries, or as lists by name
NewFrame: TypeAlias = "pandas.DataFrame | polars.DataFrame | pyarrow.Table | dict[str, list[object]]"

LIBRARIES = ("pandas", "polars", "pyarrow")
_CHOICES = (*LIBRARIES, "dict")


def library_for(asked: str | None, remembered: str | None) -> str:
    """The library asked for, else that of the user's table, else one that is installed, else "dict"."""
    if asked is None:
        candidates = [remembered, *LIBRARIES] if remembered else list(LIBRARIES)
        return next((each for each in candidates if find_spec(each) is not None), "dict")
    if asked not in _CHOICES:
        close = nearest(str(asked), _CHOICES)
        hint = f" Did you mean {close!r}?" if close else ""
        raise ParameterError(
            f"`library` must be None, 'pandas', 'polars', 'pyarrow' or 'dict'; got {told(asked)}.{hint}"
        )
    if asked != "dict" and find_spec(asked) is None:
        raise ImportError(f"to_frame(library={asked!r}) needs {asked}, which is not installed.")
    return asked


def new_frame(columns: Mapping[str, Sequence[Any] | NDArray[Any]], library: str) -> NewFrame:
    """A table of these columns, which are equally long; values of several types in one column become text.

    Parameters
    ----------
    columns : mapping of str to sequence
        None and NaN are missing.
    library : {"pandas", "polars", "pyarrow", "dict"}
        As `library_for` says.
    """
    plain = {name: _plain(values) for name, values in columns.items()}
    if library == "dict":
        return plain
    if library == "pandas":
        return import_module("pandas").DataFrame(plain)
    if library == "polars":
        frame: polars.DataFrame = import_module("polars").DataFrame(plain, strict=False)
        return frame
    arrow = import_module("pyarrow")
    return arrow.table({name: arrow.array(values, from_pandas=True) for name, values in plain.items()})


def _plain(values: Sequence[Any] | NDArray[Any]) -> list[Any]:
    """A list of plain values, of one type beside None."""
    found = values.tolist() if isinstance(values, np.ndarray) else list(values)
    kinds = {type(value) for value in found if value is not None}
    if len(kinds) > 1 and not kinds <= {int, float}:
        return [None if value is None else str(value) for value in found]
    return found
