"""Dates and durations → microseconds, and nanoseconds beside them where microseconds are not whole.

As numbers, times are float64 microseconds whatever they came from. Labels and categories must not merge, so
that times with parts of microseconds bring whole nanoseconds too.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Hashable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weald.data.table import NumericColumn, Unit
from weald.errors import DataError, DataTypeError, told

# Microseconds in one tick; finer ticks are handled apart, because their factor is not a whole number.
_COARSE: Final = {"us": 1.0, "ms": 1e3, "s": 1e6, "m": 60e6, "h": 3600e6, "D": 86400e6, "W": 604800e6}
_FINE: Final = {"ns": 10**3, "ps": 10**6, "fs": 10**9, "as": 10**12}
_EPOCH: Final = dt.datetime(1970, 1, 1)
_EPOCH_UTC: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_LARGEST: Final = 2**63 - 1


def time_column(name: Hashable, ticks: NDArray[Any], unit: Unit) -> NumericColumn:
    """A column of NumPy's dates or durations, of any resolution.

    >>> found = time_column("t", np.array([1, 2_001], "m8[ns]"), "duration")
    >>> found.values.tolist(), found.nanoseconds.tolist()
    ([0.001, 2.001], [1, 2001])
    """
    step, count = np.datetime_data(ticks.dtype)
    if step in ("Y", "M"):
        if ticks.dtype.kind == "m":
            raise DataTypeError(
                f"Column {name!r} holds durations in {'years' if step == 'Y' else 'months'}, which differ in "
                "length. Convert it, as in column.astype('m8[D]')."
            )
        ticks = _days(name, ticks)
    return NumericColumn(name, microseconds(ticks), unit=unit, nanoseconds=_nanoseconds(ticks, step, count))


def _days(name: Hashable, ticks: NDArray[Any]) -> NDArray[Any]:
    """Years and months as days."""
    days = ticks.astype("datetime64[D]")
    far = ~np.isnat(ticks) & (days.astype(ticks.dtype) != ticks)
    if far.any():
        raise _far(name, int(np.argmax(far)), ticks[far][0])
    return days


def microseconds(ticks: NDArray[Any]) -> NDArray[np.float64]:
    """Dates or durations of any resolution as float64 microseconds; NaT becomes NaN.

    Ticks finer than a microsecond are split before they become floats, so that a whole number of
    microseconds gives the same float from every resolution.
    """
    unit, count = np.datetime_data(ticks.dtype)
    if unit in ("Y", "M"):
        ticks, unit, count = ticks.astype("datetime64[D]"), "D", 1
    if unit == "generic":
        return np.full(len(ticks), np.nan)
    missing = np.isnat(ticks)
    whole = _whole(ticks)
    if unit in _FINE:
        quotient, rest = np.divmod(whole * count, _FINE[unit])
        result = quotient.astype(np.float64) + rest / float(_FINE[unit])
    else:
        result = whole.astype(np.float64) * (count * _COARSE[unit])
    result[missing] = np.nan
    return result


def _whole(ticks: NDArray[Any]) -> NDArray[np.int64]:
    return ticks.astype(ticks.dtype.newbyteorder("=")).view(np.int64)


def _nanoseconds(ticks: NDArray[Any], step: str, count: int) -> NDArray[np.int64] | None:
    """The ticks, if they are nanoseconds and some are no whole microseconds; 0 for NaT."""
    if step != "ns":
        return None
    found = np.where(np.isnat(ticks), 0, _whole(ticks) * count)
    return found if (found % 1000).any() else None


def _far(name: Hashable, row: int, value: object) -> DataError:
    return DataError(
        f"Column {name!r}, row {row}: {told(value)} lies beyond the times that can be read, some 292,000 "
        "years around 1970. Replace it, or mark it missing."
    )


# --------------------------------------------------------------------------- objects


def object_times(
    name: Hashable, values: NDArray[Any], missing: NDArray[np.bool_], split: Callable[[Any], tuple[int, int]]
) -> tuple[NDArray[np.float64], NDArray[np.int64] | None]:
    """Microseconds of an object column, and nanoseconds where they matter; `split` is of its kind."""
    rows = np.flatnonzero(~missing)
    whole = np.zeros(len(values), np.int64)
    rest = np.zeros(len(values), np.int64)
    for row, value in zip(rows.tolist(), values[rows].tolist(), strict=True):
        try:
            found, rest[row] = split(value)
            whole[row] = found
        except OverflowError:
            raise _far(name, row, value) from None
        except (TypeError, ValueError):
            raise DataTypeError(
                f"Column {name!r}, row {row}: {told(value)} is no time of a fixed length. Convert it to a "
                "date or a duration in days or less."
            ) from None
    result = whole.astype(np.float64) + rest / 1000.0
    result[missing] = np.nan
    exact = rest.any() and bool((np.abs(whole) < _LARGEST // 1000).all())
    return result, whole * 1000 + rest if exact else None


def split_date(value: Any) -> tuple[int, int]:
    """A date's microseconds since 1970, and the nanoseconds above them."""
    if isinstance(value, np.datetime64):
        return _split_tick(value, "M8")
    if not isinstance(value, dt.datetime):
        value = dt.datetime(value.year, value.month, value.day)
    rest = int(getattr(value, "nanosecond", 0))
    if rest:
        value = value.replace(nanosecond=0)  # of pandas alone
    if hasattr(value, "to_pydatetime"):
        value = value.to_pydatetime()
    since = value - (_EPOCH if value.tzinfo is None else _EPOCH_UTC)
    return since // dt.timedelta(microseconds=1), rest


def split_span(value: Any) -> tuple[int, int]:
    """A duration's microseconds, and the nanoseconds above them."""
    if isinstance(value, np.timedelta64):
        return _split_tick(value, "m8")
    ticks = getattr(value, "value", None)  # of pandas alone: nanoseconds, which its own division rounds
    if ticks is not None and getattr(value, "nanoseconds", 0) != 0:
        whole, rest = divmod(int(ticks), 1000)
        return whole, rest
    if hasattr(value, "to_pytimedelta"):
        value = value.to_pytimedelta()
    return value // dt.timedelta(microseconds=1), 0


def split_time(value: dt.time) -> tuple[int, int]:
    """A time of day as a duration since midnight."""
    seconds = (value.hour * 60 + value.minute) * 60 + value.second
    return seconds * 1_000_000 + value.microsecond, 0


def _split_tick(value: np.datetime64 | np.timedelta64, kind: str) -> tuple[int, int]:
    """A NumPy time: through Python's integers, which do not wrap around."""
    unit, count = np.datetime_data(value.dtype)
    if unit == "generic":
        raise TypeError
    if unit in ("Y", "M"):
        if kind == "m8":
            raise TypeError
        value, unit, count = _days("", np.array([value]))[0], "D", 1
    ticks = int(value.view(np.int64)) * count
    if unit in _COARSE:
        whole, rest = ticks * int(_COARSE[unit]), 0
    else:
        whole, parts = divmod(ticks, _FINE[unit])
        rest = parts * 1000 // _FINE[unit]
    if abs(whole) > _LARGEST:
        raise OverflowError
    return whole, rest


# --------------------------------------------------------------------------- and back


def ticks_of(microseconds: NDArray[np.float64], step: str, count: int = 1) -> NDArray[np.int64]:
    """Microseconds, rounded to whole ones, in ticks of another size, rounded down.

    >>> ticks_of(np.array([1_999_999.6]), "s").tolist(), ticks_of(np.array([2.0]), "ns").tolist()
    ([2], [2000])
    """
    whole = np.rint(microseconds)
    if step in ("Y", "M"):
        days = np.floor(whole / _COARSE["D"]).astype(np.int64).view("M8[D]")
        return days.astype(f"M8[{count}{step}]").view(np.int64)
    if step in _FINE:
        return whole.astype(np.int64) * (_FINE[step] // count)
    return np.floor(whole / (count * _COARSE[step])).astype(np.int64)
