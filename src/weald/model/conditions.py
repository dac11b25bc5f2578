"""The two conditions of a split in words: what sends a row left, and what sends it right.

Numbers are as short as reading allows: two thresholds of one column never look alike, and dates, durations,
flags and levels are shown as what they are.
"""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.data.schema import ColumnSchema, Schema
from weald.model.forest import CATEGORIES, COMBINATION, NUMERIC, Forest

_EPOCH = dt.datetime(1970, 1, 1)
_MOST_LEVELS = 6


class Conditions:
    """The conditions of the inner nodes of one tree.

    Parameters
    ----------
    forest : Forest
        The model.
    schema : Schema or None
        Names, units and levels; without it columns have numbers.
    slot : ndarray
        The nodes of the tree.
    decimals : int
        How many decimals thresholds need at least, unless they are shorter.
    """

    def __init__(self, forest: Forest, schema: Schema | None, slot: NDArray[np.int32], decimals: int) -> None:
        self._forest = forest
        self._columns = None if schema is None else schema.columns
        self._decimals = decimals
        inner = slot[slot >= 0]
        self._numeric = inner[forest.kind[inner] == NUMERIC]
        self._decimals_of: dict[int, int] = {}

    def of(self, i: int) -> tuple[str, str]:
        """What rows of the left and of the right child fulfil; `i` numbers the inner nodes."""
        if self._forest.kind[i] == COMBINATION:
            return self._combination(i)
        if self._forest.kind[i] == CATEGORIES:
            return self._categories(i)
        return self._ordered(i)

    # ----------------------------------------------------------------------- numbers and levels in order

    def _ordered(self, i: int) -> tuple[str, str]:
        j, threshold = int(self._forest.column[i]), float(self._forest.threshold[i])
        name, missing_left = self._name(j), bool(self._forest.missing_left[i])
        if math.isinf(threshold):
            return _present(name, missing_left=missing_left)
        column = None if self._columns is None else self._columns[j]
        if column is not None and column.unit == "bool" and 0 <= threshold < 1:
            return _with_missing(f"{name} is false", f"{name} is true", missing_left=missing_left)
        cut = self._cut(j, column, threshold)
        return _with_missing(f"{name} <= {cut}", f"{name} > {cut}", missing_left=missing_left)

    def _cut(self, j: int, column: ColumnSchema | None, threshold: float) -> str:
        if column is not None and column.kind == "ordinal" and 1 <= threshold < len(column.levels) + 1:
            return label(column.levels[math.floor(threshold) - 1])
        if column is not None and column.unit in ("datetime", "instant"):
            return instant(threshold) + (" UTC" if column.unit == "instant" else "")
        if column is not None and column.unit == "duration":
            return duration(threshold)
        return number(threshold, self._decimals_for(j))

    def _decimals_for(self, j: int) -> int:
        """The fewest decimals, from the asked number on, that tell a column's thresholds apart."""
        if j not in self._decimals_of:
            nodes = self._numeric[self._forest.column[self._numeric] == j]
            cuts = np.unique(self._forest.threshold[nodes]).tolist()
            decimals = self._decimals
            while decimals < 17 and len({number(cut, decimals) for cut in cuts}) < len(cuts):
                decimals += 1
            self._decimals_of[j] = decimals
        return self._decimals_of[j]

    # ----------------------------------------------------------------------- sets of levels

    def _categories(self, i: int) -> tuple[str, str]:
        j, missing_left = int(self._forest.column[i]), bool(self._forest.missing_left[i])
        name, side = self._name(j), int(self._forest.side[i])
        codes, listed_left = self._forest.listed_codes(side), bool(self._forest.set_left[side])
        if self._columns is None:
            shown = _in_braces([str(code) for code in codes[:_MOST_LEVELS].tolist()], len(codes))
            texts = (f"{name} in {shown}", f"{name} not in {shown}")
            left, right = texts if listed_left else texts[::-1]
            return _with_missing(left, right, missing_left=missing_left)
        levels = self._columns[j].levels
        listed, rest = _first_labels(codes, levels), _first_labels(_first_others(codes, len(levels)), levels)
        n_listed, n_rest = len(codes), len(levels) - len(codes)
        if not (n_rest if listed_left else n_listed):
            return _present(name, missing_left=missing_left)
        if not (n_listed if listed_left else n_rest):
            return _present(name, missing_left=not missing_left)[::-1]
        texts = (f"{name} in {_in_braces(listed, n_listed)}", f"{name} in {_in_braces(rest, n_rest)}")
        left, right = texts if listed_left else texts[::-1]
        return _with_missing(left, right, missing_left=missing_left)

    # ----------------------------------------------------------------------- linear combinations

    def _combination(self, i: int) -> tuple[str, str]:
        side = int(self._forest.side[i])
        span = slice(*(int(edge) for edge in self._forest.combination_start[side : side + 2]))
        text = ""
        for j, factor in zip(
            self._forest.combination_column[span].tolist(),
            self._forest.combination_coefficient[span].tolist(),
            strict=True,
        ):
            sign = "-" if factor < 0 else "+"
            term = f"{number(abs(factor), self._decimals)} * {self._name(j)}"
            text += f" {sign} {term}" if text else (f"-{term}" if factor < 0 else term)
        cut = number(float(self._forest.threshold[i]), self._decimals)
        return _with_missing(
            f"{text} <= {cut}", f"{text} > {cut}", missing_left=bool(self._forest.missing_left[i])
        )

    def _name(self, j: int) -> str:
        if self._columns is None or isinstance(self._columns[j].name, int):
            return f"column {j}" if self._columns is None else f"column {self._columns[j].name}"
        return label(self._columns[j].name)


def _with_missing(left: str, right: str, *, missing_left: bool) -> tuple[str, str]:
    return (f"{left} or missing", right) if missing_left else (left, f"{right} or missing")


def _present(name: str, *, missing_left: bool) -> tuple[str, str]:
    """A split whose left side takes every present value."""
    if missing_left:
        return f"{name} is anything", f"{name} is nothing"
    return f"{name} is present", f"{name} is missing"


def _first_others(codes: NDArray[np.uint32], n_levels: int) -> NDArray[np.int64]:
    """The first few codes from 1 to `n_levels` that are not among `codes`: no work for all the levels."""
    others = np.ones(min(n_levels, len(codes) + _MOST_LEVELS) + 1, np.bool_)
    others[0] = False  # missing
    others[codes[codes < len(others)]] = False
    return np.flatnonzero(others)


def _first_labels(codes: NDArray[Any], levels: tuple[Any, ...]) -> list[str]:
    return [label(levels[code - 1]) for code in codes[:_MOST_LEVELS].tolist()]


def _in_braces(first: list[str], n: int) -> str:
    """The first of `n` names, at least as many as are shown."""
    if n <= _MOST_LEVELS:
        return "{" + ", ".join(first) + "}"
    return "{" + ", ".join(first[: _MOST_LEVELS - 1]) + f", … and {n - _MOST_LEVELS + 1} more}}"


def label(value: Any) -> str:
    """A name, level or class for reading: bare where that is clear, else quoted.

    >>> label("Adelie"), label("a, b"), label(""), label(3), label(dt.date(2007, 11, 3))
    ('Adelie', "'a, b'", "''", '3', '2007-11-03')
    """
    text = _moment(value) if type(value) is dt.datetime else str(value)
    if not isinstance(value, str):
        return text if text.isprintable() else repr(value)
    clear = text and text.isprintable() and text == text.strip() and not any(mark in text for mark in ",{}→")
    return text if clear else repr(text)


def number(value: float, decimals: int) -> str:
    """A number with at most so many decimals; small ones keep as many significant digits instead.

    >>> number(43.35, 3), number(206.5, 3), number(3.0, 3), number(0.000012345, 3), number(2 / 3, 3)
    ('43.35', '206.5', '3', '0.0000123', '0.667')
    """
    if value == 0:
        return "0"
    if not 1e-9 <= abs(value) < 1e15:
        short = f"{value:.{max(decimals, 1)}g}"
        return min(repr(value), short, key=len)
    if abs(value) < 1:
        decimals += max(0, -math.floor(math.log10(abs(value))) - 1)
    text = f"{value:.{decimals}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def instant(microseconds: float) -> str:
    """Microseconds since 1970 as a date, with the time only if it is not midnight.

    >>> instant(0.0), instant(43_200_000_000.0), instant(1e30)
    ('1970-01-01', '1970-01-01 12:00', '1e+30 µs')
    """
    try:
        moment = _EPOCH + dt.timedelta(microseconds=math.floor(microseconds))
    except OverflowError:
        return f"{number(microseconds, 3)} µs"
    return _moment(moment)


def _moment(moment: dt.datetime) -> str:
    if moment.timetz() == dt.time():
        return moment.date().isoformat()
    spec = "minutes" if moment.second == moment.microsecond == 0 else "auto"
    return moment.isoformat(" ", timespec=spec)


def duration(microseconds: float) -> str:
    """Microseconds as days and hours:minutes:seconds.

    >>> duration(90_000_000.0), duration(-86_400_000_000.0)
    ('0:01:30', '-1 day, 0:00:00')
    """
    try:
        span = dt.timedelta(microseconds=math.floor(microseconds))
    except OverflowError:
        return f"{number(microseconds, 3)} µs"
    return f"-{-span}" if span < dt.timedelta() else str(span)
