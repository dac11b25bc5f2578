"""The exception family of weald, and the helpers that word its messages.

Every error says what was wrong, in which column or parameter, and what would work.
"""

from __future__ import annotations

import datetime as dt
import errno
import inspect
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

#: the longest message, and what stays of its end where it has to be cut
_MOST, _END = 1000, 300
#: the most characters that one value or name takes in a message
_VALUE: Final = 120

# What NumPy writes around its scalars: np.str_('yes'), np.float64(1.5), np.True_.
_WRAPPED = re.compile(
    r"""\bnp\.(?:
        (?:str_|bytes_|datetime64)\((?P<text>b?'(?:[^'\\]|\\.)*'|b?"(?:[^"\\]|\\.)*")\)
        | (?:u?int\w*|float\d+|u?long\w*)\((?P<number>'?-?[\w.+-]+'?)\)
        | timedelta64\((?P<span>-?\d+),'(?P<unit>\w+)'\)
        | (?P<truth>True|False)_
    )""",
    re.VERBOSE,
)


class WealdError(Exception):
    """The root of everything weald raises on purpose; its message shows plain values and has an end."""

    def __init__(self, *args: object) -> None:
        super().__init__(*(short(plainly(arg)) if isinstance(arg, str) else arg for arg in args))


class DataError(WealdError, ValueError):
    """A table, target or weight vector cannot be used as it is."""


class DataTypeError(WealdError, TypeError):
    """The data has a type that weald does not take."""


class UnsupportedTargetError(DataError, NotImplementedError):
    """A target of a kind that this estimator does not learn, such as several labels per row."""


class ParameterError(WealdError, ValueError):
    """A parameter has a value outside its range."""


class ArgumentError(WealdError, TypeError):
    """A method was given an argument that it does not have; the message says where it belongs."""


class IgnoredParameterWarning(UserWarning):
    """A parameter that was given has no effect: an old name, another device, another objective's."""


class ModelFileError(WealdError, ValueError):
    """A model file is damaged, hostile, or from a newer format."""


class MemberError(WealdError, RuntimeError):
    """A member of an ensemble failed; the message says which one, and what it said."""


class NativeError(WealdError, RuntimeError):
    """The compiled core met a state that it should never see: a bug in weald."""


class ClusterError(WealdError, RuntimeError):
    """A cluster cannot do what it was asked; the message says which part of it and what would work."""


class ScaleWarning(UserWarning):
    """Columns of very different spread go into a machine that compares rows by all of them."""


class UncertaintyWarning(UserWarning):
    """An interval or a test rests on a fallback: resamples left out, values all equal, perfect separation."""


class ResamplingWarning(UserWarning):
    """A sampler had too few rows to do all that was asked; the message says what it did instead."""


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


def plainly(text: str) -> str:
    """A message whose values NumPy has not wrapped.

    >>> plainly("The labels are np.str_('yes') and np.float64(1.5).")
    "The labels are 'yes' and 1.5."
    """
    return _WRAPPED.sub(_unwrapped, text) if "np." in text else text


def _unwrapped(found: re.Match[str]) -> str:
    if found["span"]:
        return f"{found['span']} {found['unit']}"
    return found["text"] or (found["number"] or found["truth"]).strip("'")


def short(text: str, most: int = _MOST, end: int = _END) -> str:
    """A text of at most `most` characters, cut before its last `end` ones, which say what would work."""
    if len(text) <= most:
        return text
    return f"{text[: most - end - 3]} … {text[len(text) - end :]}"


def told(value: object) -> str:
    """A user's value for a message: as Python writes it, plain, and short.

    >>> told("yes"), told(10**400), told([1.5, None])
    ("'yes'", 'an integer of 401 digits', '[1.5, None]')
    """
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**40:
        return f"an integer of {_digits(value)} digits"
    if isinstance(value, dt.date | dt.time | dt.timedelta):
        return short(str(value), _VALUE, 10)
    try:
        text = repr(value)
    except Exception:  # a user's own object, or a container of integers that Python does not write out
        text = f"a {type(value).__name__}"
    return short(plainly(text), _VALUE, 10)


def _digits(value: int) -> int:
    """How many decimal digits an integer has, of any size."""
    value = abs(value)
    digits = int(value.bit_length() * 0.30102999566398120)
    return digits + int(value >= 10**digits)


def nearest(name: str, valid: Iterable[str]) -> str | None:
    """The valid name closest in spelling to `name`, or None when nothing is close.

    Close is: the same but for upper and lower case; with the same first letter, one letter in four other,
    two swapped or one at the end; a part that is at least half of the whole.

    >>> nearest("Max_deph", ["max_depth", "max_bins"]), nearest("LogisticRegression", ["VotingRegressor"])
    ('max_depth', None)
    """
    asked = name.strip().lower()[:_VALUE]
    found = min(((_distance(asked, each), each) for each in valid), default=(None, None), key=_rank)
    return None if found[0] is None else found[1]


def _rank(found: tuple[int | None, str | None]) -> float:
    return float("inf") if found[0] is None else found[0]


def _distance(asked: str, valid: str) -> int | None:
    """How many letters two names differ in; None if they are not close."""
    other = valid.strip().lower()[:_VALUE]
    if asked == other:
        return 0
    if not asked or not other:
        return None
    few, many = sorted((asked, other), key=len)
    if len(few) >= 4 and 2 * len(few) >= len(many) and few in many:
        return len(many) - len(few)
    # of short names two letters may be swapped, or one be too many or too few at the end
    most = max(len(many) // 4, int(sorted(few) == sorted(many)), int(len(few) > 1 and many.startswith(few)))
    if asked[0] != other[0] or len(many) - len(few) > most:
        return None
    edits = _edits(asked, other)
    return edits if edits <= most else None


def _edits(a: str, b: str) -> int:
    """How many letters have to be put in, left out, changed, or swapped with the next to make `b` of `a`."""
    older: list[int] = []
    old = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        new = [i]
        for j, other in enumerate(b, 1):
            best = min(old[j] + 1, new[j - 1] + 1, old[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == other:
                best = min(best, older[j - 2] + 1)
            new.append(best)
        older, old = old, new
    return old[-1]


def listing(names: Iterable[object], most: int = 5) -> str:
    """Names for a message: quoted, separated by commas, cut after `most`.

    >>> listing(["a", "b"])
    "'a', 'b'"
    """
    all_names = list(names)
    shown = ", ".join(told(name) for name in all_names[:most])
    hidden = len(all_names) - most
    return f"{shown} and {hidden} more" if hidden > 0 else shown


@contextmanager
def naming_member(who: str) -> Iterator[None]:
    """Errors of a member say which one it was; what could be caught before still can.

    They become weald's, and stay ValueError, TypeError and those of scikit-learn, such as NotFittedError. A
    lack of memory is no fault of the member: it stays a MemoryError.
    """
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        if lacks_memory(error):
            raise MemoryError(str(error)) from error
        text = f"{who} failed: {type(error).__name__}: {error}"
        if isinstance(error, WealdError):
            raise type(error)(text) from error
        kind: type[WealdError] = MemberError
        if isinstance(error, ValueError):
            kind = DataError
        elif isinstance(error, TypeError):
            kind = DataTypeError
        raise _error(kind, type(error), text) from error


def lacks_memory(error: Exception) -> bool:
    """Whether the system had no memory to give, in its own words."""
    return isinstance(error, OSError) and error.errno == errno.ENOMEM


def _error(kind: type[WealdError], theirs: type[Exception], text: str) -> WealdError:
    """An error of weald's that is one of scikit-learn's too, if it was one."""
    if theirs.__module__.partition(".")[0] != "sklearn":
        return kind(text)
    try:
        return _both(kind, theirs)(text)
    except TypeError:  # one that needs more than a text
        return kind(text)


def _both(kind: type[WealdError], theirs: type[Exception]) -> type[WealdError]:
    """A class of errors that are of two classes, and can be sent between processes."""

    def again(error: WealdError) -> tuple[Any, ...]:
        return _error, (kind, theirs, str(error))

    return type(theirs.__name__, (kind, theirs), {"__module__": kind.__module__, "__reduce__": again})
