"""The exception family of weald, and the helpers that word its messages.

Every error says what was wrong, in which column or parameter, and what would work.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterable


class WealdError(Exception):
    """The root of everything weald raises on purpose."""


class DataError(WealdError, ValueError):
    """A table, target or weight vector cannot be used as it is."""


class DataTypeError(WealdError, TypeError):
    """The data has a type that weald does not take."""


class ParameterError(WealdError, ValueError):
    """A parameter has a value outside its range."""


class ModelFileError(WealdError, ValueError):
    """A model file is damaged, hostile, or from a newer format."""


class MemberError(WealdError, RuntimeError):
    """A member of an ensemble failed; the message says which one, and what it said."""


class NativeError(WealdError, RuntimeError):
    """The compiled core met a state that it should never see: a bug in weald."""


def outside() -> int:
    """The stacklevel, for the caller's warning, of the first frame that is not weald's."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and str(frame.f_globals.get("__name__", "")).partition(".")[0] == "weald":
        level, frame = level + 1, frame.f_back
    return level - 1


def infinite_value(column: object, row: int, value: float) -> DataError:
    """The error for an infinite number in a table."""
    return DataError(
        f"Column {column!r} contains inf: row {row} holds {value}. "
        "Replace infinite values, or mark them missing (NaN)."
    )


def nearest(name: str, valid: Iterable[str]) -> str | None:
    """The valid name closest in spelling to `name`, or None when nothing is close."""
    found = difflib.get_close_matches(name, list(valid), n=1, cutoff=0.6)
    return found[0] if found else None


def listing(names: Iterable[object], most: int = 5) -> str:
    """Names for a message: quoted, separated by commas, cut after `most`.

    >>> listing(["a", "b"])
    "'a', 'b'"
    """
    all_names = [repr(name) for name in names]
    shown = ", ".join(all_names[:most])
    hidden = len(all_names) - most
    return f"{shown} and {hidden} more" if hidden > 0 else shown
