"""Records as frames in the user's own library."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

from weald.errors import ParameterError, nearest, told
from weald.pictures.trained_on import LIBRARIES

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

#: columns in one of these libraries, or as lists by name
Frame: TypeAlias = "pandas.DataFrame | polars.DataFrame | pyarrow.Table | dict[str, list[object]]"

_CHOICES = (*LIBRARIES, "dict")


def frame_in(columns: Mapping[str, Sequence[Any]], library: str | None, remembered: str | None) -> Frame:
    """Columns as a frame of a library: that which is asked for, that of the user's table, or one there is."""
    if library is None:
        known = [each for each in (remembered, *LIBRARIES) if each is not None]
        library = next((each for each in known if find_spec(each) is not None), "dict")
    elif library not in _CHOICES:
        close = nearest(str(library), _CHOICES)
        hint = f"Did you mean {close!r}?" if close else "Leave it None for that of your table."
        raise ParameterError(
            f"`library` of to_frame must be None, 'pandas', 'polars', 'pyarrow' or 'dict'; got "
            f"{told(library)}. {hint}"
        )
    elif library != "dict" and find_spec(library) is None:
        raise ImportError(f"to_frame(library={library!r}) needs {library}, which is not installed.")
    plain = {name: list(values) for name, values in columns.items()}
    if library == "dict":
        return plain
    import narwhals

    backend: Any = library
    made: Frame = narwhals.from_dict(plain, backend=backend).to_native()
    return made


def shown_names(names: Sequence[Hashable]) -> list[Any]:
    """Names of columns for a column of a frame: as they are if all are of one plain type, else as text."""
    if len({type(name) for name in names}) == 1 and isinstance(names[0], str | int):
        return list(names)
    return [shown_name(name) for name in names]


def shown_name(name: Hashable) -> str:
    """A column's name, or those of a group, in words."""
    return ", ".join(map(str, name)) if isinstance(name, tuple) else str(name)
