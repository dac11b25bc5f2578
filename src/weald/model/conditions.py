"""The two conditions of a split in words: what sends a row left, and what sends it right.

Numbers are as short as reading allows: two thresholds of one column never look alike, and dates, durations,
flags and levels are shown as what they are.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.data.schema import ColumnSchema, Schema
from weald.model.forest import CATEGORIES, COMBINATION, NUMERIC, Forest
from weald.model.reach import CodeSet, Reach

_EPOCH = dt.datetime(1970, 1, 1)
_MOST_LEVELS = 6
#: Stands for the spaces of abbreviated names, in which a line should not be broken.
NO_BREAK = "\u00a0"


@dataclass(frozen=True, slots=True)
class Condition:
    """A split in words: what sends a row left, what sends it right, and who takes missing values."""

    left: str
    right: str
    #: "left" or "right"; None where no missing value can come, or where the texts speak of it already
    missing: str | None = None

    def sides(self) -> tuple[str, str]:
        """Both conditions, "or missing" where it belongs."""
        left = f"{self.left} or missing" if self.missing == "left" else self.left
        right = f"{self.right} or missing" if self.missing == "right" else self.right
        return left, right


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
    fixed : bool, default=False
        Whether to write numbers as scikit-learn's text does: so many decimals, whatever it hides.
    most_levels : int, default=6
        How many levels a set shows.
    longest : int, optional
        Names and levels longer than this lose their middle; their spaces are then no-break spaces.
    names : sequence of str, optional
        Other names for the columns.
    missing_in : collection of int, optional
        Speak of missing values in these columns only.
    """

    def __init__(
        self,
        forest: Forest,
        schema: Schema | None,
        slot: NDArray[np.int32],
        decimals: int,
        *,
        fixed: bool = False,
        most_levels: int = _MOST_LEVELS,
        longest: int | None = None,
        names: Sequence[str] | None = None,
        missing_in: Collection[int] | None = None,
    ) -> None:
        self._forest = forest
        self._columns = None if schema is None else schema.columns
        self._decimals, self._fixed = decimals, fixed
        self._most, self._longest = most_levels, longest
        self._names = names
        self._missing_in = missing_in
        self._slot = slot
        self._cuts: dict[int, NDArray[np.float64]] = {}

    @cached_property
    def _reach(self) -> Reach:
        return Reach(self._forest, self._slot)

    def of(self, i: int) -> tuple[str, str]:
        """What rows of the left and of the right child fulfil; `i` numbers the inner nodes."""
        return self.at(i).sides()

    def at(self, i: int) -> Condition:
        """The condition of inner node `i`, with missing values apart."""
        if self._forest.kind[i] == COMBINATION:
            left, right = self._combination(i)
        elif self._forest.kind[i] == CATEGORIES:
            left, right = self._categories(i)
        else:
            left, right = self._ordered(i)
        if not right:  # `left` is the name: every present value goes one way
            return self._present(i, left)
        return Condition(left, right, self._missing(i))

    def question(self, i: int) -> Condition:
        """As `at`, for pictures: a row goes left where the left text holds, which names the shorter list."""
        here = self.at(i)
        if self._forest.kind[i] != CATEGORIES or self._columns is None:
            return here
        levels = self._levels(i)
        left, right = self._reach.sides(i)
        n_left, n_right = left.size(len(levels)), right.size(len(levels))
        if not (n_left and n_right):
            return here
        flip = n_left > self._most and n_right < n_left
        listed, n = (right, n_right) if flip else (left, n_left)
        name, no = self.name(int(self._forest.column[i])), "not " if flip else ""
        if n == 1:
            only = self._short(label(levels[int(listed.first(1, len(levels))[0]) - 1]))
            return Condition(f"{name} is {no}{only}", here.right, here.missing)
        return Condition(f"{name} {no}in {self._listed(listed, levels)}", here.right, here.missing)

    def name(self, j: int) -> str:
        """A column's name in words."""
        if self._names is not None:
            return self._short(self._names[j])
        if self._columns is None or isinstance(self._columns[j].name, int):
            return f"column {j}" if self._columns is None else f"column {self._columns[j].name}"
        return self._short(label(self._columns[j].name))

    def left_levels(self, i: int) -> list[str]:
        """All levels that a split on categories sends left and that can still come to it."""
        levels = self._levels(i)
        left, _ = self._reach.sides(i)
        return [label(levels[code - 1]) for code in left.first(len(levels), len(levels)).tolist()]

    def _short(self, text: str) -> str:
        if self._longest is None or len(text) <= self._longest:
            return text
        return shortened(text, self._longest).replace(" ", NO_BREAK)

    def _missing(self, i: int) -> str | None:
        if self._forest.kind[i] != COMBINATION:
            unspoken = self._missing_in is not None and int(self._forest.column[i]) not in self._missing_in
            if unspoken or not self._reach.missing(i):
                return None
        return "left" if self._forest.missing_left[i] else "right"

    # ----------------------------------------------------------------------- numbers and levels in order

    def _ordered(self, i: int) -> tuple[str, str]:
        j, threshold = int(self._forest.column[i]), float(self._forest.threshold[i])
        name = self.name(j)
        if math.isinf(threshold):
            return name, ""
        column = None if self._columns is None else self._columns[j]
        if column is not None and column.unit == "bool" and 0 <= threshold < 1:
            return f"{name} is false", f"{name} is true"
        cut = self._cut(j, column, threshold)
        return f"{name} <= {cut}", f"{name} {'> ' if self._fixed else '>'} {cut}"

    def _cut(self, j: int, column: ColumnSchema | None, threshold: float) -> str:
        if column is not None and column.kind == "ordinal" and 1 <= threshold < len(column.levels) + 1:
            return self._short(label(column.levels[math.floor(threshold) - 1]))
        if column is not None and column.unit in ("datetime", "instant"):
            return instant(threshold) + (" UTC" if column.unit == "instant" else "")
        if column is not None and column.unit == "duration":
            return duration(threshold)
        if self._fixed:
            return f"{threshold:.{self._decimals}f}"
        return telling(threshold, self._distance(j, threshold), self._decimals)

    def _distance(self, j: int, threshold: float) -> float:
        """How far the nearest other threshold of the column is."""
        if j not in self._cuts:
            inner = self._slot[self._slot >= 0]
            nodes = inner[(self._forest.kind[inner] == NUMERIC) & (self._forest.column[inner] == j)]
            self._cuts[j] = np.unique(self._forest.threshold[nodes])
        cuts = self._cuts[j]
        at = int(np.searchsorted(cuts, threshold))
        near = [abs(float(cuts[k]) - threshold) for k in (at - 1, at + 1) if 0 <= k < len(cuts)]
        return min(near, default=math.inf)

    # ----------------------------------------------------------------------- sets of levels

    def _categories(self, i: int) -> tuple[str, str]:
        name = self.name(int(self._forest.column[i]))
        if self._columns is None:
            side = int(self._forest.side[i])
            codes = self._forest.listed_codes(side)
            shown = self._in_braces([str(code) for code in codes[: self._most].tolist()], len(codes))
            texts = (f"{name} in {shown}", f"{name} not in {shown}")
            return texts if self._forest.set_left[side] else texts[::-1]
        levels = self._levels(i)
        left, right = self._reach.sides(i)
        if not left.size(len(levels)) or not right.size(len(levels)):
            return name, ""
        return f"{name} in {self._listed(left, levels)}", f"{name} in {self._listed(right, levels)}"

    def _levels(self, i: int) -> tuple[Any, ...]:
        return () if self._columns is None else self._columns[int(self._forest.column[i])].levels

    def _listed(self, codes: CodeSet, levels: tuple[Any, ...]) -> str:
        first = codes.first(self._most, len(levels))
        return self._in_braces(
            [self._short(label(levels[code - 1])) for code in first.tolist()], codes.size(len(levels))
        )

    def _in_braces(self, first: list[str], n: int) -> str:
        """The first of `n` names, at least as many as are shown."""
        if n <= self._most:
            return "{" + ", ".join(first) + "}"
        return "{" + ", ".join(first[: self._most - 1]) + f", … and {n - self._most + 1} more}}"

    def _present(self, i: int, name: str) -> Condition:
        """A split that sends every present value one way."""
        missing_left, present_left = bool(self._forest.missing_left[i]), True
        if self._forest.kind[i] == CATEGORIES:
            present_left = bool(self._reach.sides(i)[0].size(len(self._levels(i))))
        if missing_left == present_left:
            texts = (f"{name} is anything", f"{name} is nothing")
        else:
            texts = (f"{name} is present", f"{name} is missing")
        return Condition(*(texts if present_left else texts[::-1]))

    # ----------------------------------------------------------------------- linear combinations

    def _combination(self, i: int) -> tuple[str, str]:
        text = ""
        for j, factor in combination_terms(self._forest, i):
            sign = "-" if factor < 0 else "+"
            term = f"{number(abs(factor), self._decimals)} * {self.name(j)}"
            text += f" {sign} {term}" if text else (f"-{term}" if factor < 0 else term)
        cut = number(float(self._forest.threshold[i]), self._decimals)
        return f"{text} <= {cut}", f"{text} > {cut}"


def combination_terms(forest: Forest, i: int) -> list[tuple[int, float]]:
    """The columns and factors that inner node `i` adds up."""
    side = int(forest.side[i])
    span = slice(*(int(edge) for edge in forest.combination_start[side : side + 2]))
    columns, factors = forest.combination_column[span], forest.combination_coefficient[span]
    return list(zip(columns.tolist(), factors.tolist(), strict=True))


def shortened(text: str, longest: int) -> str:
    """A long text without its middle.

    >>> shortened("Torgersen", 9), shortened("a very long name", 9)
    ('Torgersen', 'a ve…name')
    """
    if len(text) <= longest:
        return text
    tail = (longest - 1) // 2
    return text[: longest - 1 - tail] + "…" + text[len(text) - tail :]


def label(value: object) -> str:
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


def telling(value: float, distance: float, decimals: int) -> str:
    """A number with as many decimals as keep it apart from another one at this distance.

    The rounding is at most a quarter of the distance, so that rounded numbers also keep their order.

    >>> telling(1e6 + 0.00049, 1e-3, 3), telling(1e6 + 0.00049, 9.0, 3)
    ('1000000.0005', '1000000')
    """
    while decimals < 17 and abs(float(number(value, decimals)) - value) > distance / 4:
        decimals += 1
    return number(value, decimals)


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
