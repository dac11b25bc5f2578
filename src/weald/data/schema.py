"""A `Schema` is what a model remembers of its columns; it brings any new table into that shape.

Columns match by name and levels by value and type, so neither the order of columns, nor the frame
library, nor its internal codes can change a prediction.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from weald.data.column_schema import ColumnSchema, Positions
from weald.data.levels import (
    level_positions,
    missing_rows,
    numeric_as_levels,
    plain_levels,
    sorted_positions,
    type_word,
)
from weald.data.table import BlockColumns, Column, LevelColumn, NumericColumn, Outline, Table
from weald.errors import DataError, listing, nearest, outside

log = logging.getLogger("weald.data")

_NUMERIC_WORDS = {
    "number": "numeric",
    "bool": "numeric",
    "datetime": "a date without time zone",
    "instant": "a date with time zone",
    "duration": "a duration",
}
_HOLDING = {
    "number": "numbers",
    "bool": "numbers",
    "datetime": "dates without time zone",
    "instant": "dates with time zone",
    "duration": "durations",
}
_PLAIN = ("number", "bool")
_LEVEL_WORDS = {"str": "text", "number": "numbers", "bool": "bools", "datetime": "dates", "date": "dates"}


__all__ = ["ColumnSchema", "Positions", "Schema"]


@dataclass(frozen=True)
class Schema:
    """The columns a model was fitted on.

    Parameters
    ----------
    columns : tuple of ColumnSchema, or Positions
        In the order of the fitted table. Columns named by position alone always become `Positions`.
    named : bool
        Whether the names were the user's own.
    unknown : {"missing", "error"}
        What a level that was never seen in training means.
    """

    columns: Sequence[ColumnSchema]
    named: bool
    unknown: Literal["missing", "error"] = "missing"

    def __post_init__(self) -> None:
        """One form for equal columns."""
        columns = self.columns
        if isinstance(columns, Positions):
            return
        by_position = not self.named and all(
            type(column.name) is int and column.name == j for j, column in enumerate(columns)
        )
        object.__setattr__(self, "columns", Positions.of(columns) if by_position else tuple(columns))

    @classmethod
    def of(
        cls,
        table: Table,
        *,
        used: NDArray[np.bool_] | None = None,
        unknown: Literal["missing", "error"] = "missing",
    ) -> Schema:
        """The schema of a table: ordinal columns keep all declared levels, categorical ones those in use.

        Parameters
        ----------
        table : Table
            The table a model is fitted on.
        used : ndarray of bool, optional
            The rows that count (positive weight); None means all.
        unknown : {"missing", "error"}
            Kept for `align`.
        """
        if not isinstance(table.columns, BlockColumns):
            columns = tuple(_column_schema(column, used) for column in table.columns)
            return cls(columns, table.named, unknown)
        others = {j: _column_schema(column, used) for j, column in table.columns.placed.items()}
        unit = table.columns.block.unit if len(others) < table.n_columns else "number"
        if table.named:
            plain = (ColumnSchema(name, "numeric", unit) for name in table.names)
            columns = tuple(
                replace(others[j], name=each.name) if j in others else each for j, each in enumerate(plain)
            )
            return cls(columns, True, unknown)
        return cls(Positions(table.n_columns, unit, others), table.named, unknown)

    @property
    def names(self) -> Sequence[Hashable]:
        """The column names, in order: a tuple, or a range where there are only positions."""
        if isinstance(self.columns, Positions):
            return range(len(self.columns))
        return tuple(column.name for column in self.columns)

    @property
    def all_numeric(self) -> bool:
        """Whether no column has levels."""
        columns = self.columns
        looked_at = columns.others.values() if isinstance(columns, Positions) else columns
        return all(column.kind == "numeric" for column in looked_at)

    def align(self, table: Table, *, estimator: str = "model") -> Table:
        """The same rows in this schema's columns, order and levels.

        Parameters
        ----------
        table : Table
            Any table that holds these columns.
        estimator : str
            The class that asks, for messages.

        Returns
        -------
        Table
            Level columns hold int32 positions in this schema's levels; -1 is missing or unknown.
        """
        order = self.order(table, estimator)
        if isinstance(table.columns, BlockColumns) and isinstance(order, range):
            return Table(self._align_block(table.columns), table.n_rows, self.named)
        columns = tuple(
            self._align_column(expected, table.columns[j])
            for expected, j in zip(self.columns, order, strict=True)
        )
        return Table(columns, table.n_rows, self.named)

    def _align_block(self, given: BlockColumns) -> BlockColumns:
        """The block as it is, and beside it those columns that are no plain numbers, here or there."""
        positions = sorted({*given.placed, *self._no_plain_numbers()})
        placed = {
            j: self._align_column(self.columns[j], column)
            for j, column in zip(positions, given.take(positions), strict=True)
        }
        return BlockColumns(given.block, placed, self.names)

    def _align_column(self, expected: ColumnSchema, column: Column) -> Column:
        if expected.kind == "numeric":
            return _align_numeric(expected, column)
        given = numeric_as_levels(column) if isinstance(column, NumericColumn) else column
        aligned = _align_levels(expected, given, self.unknown)
        if aligned.indices.max(initial=-1) < 0 <= given.indices.max(initial=-1):
            self._tell_unseen(expected, given)
        return aligned

    def _tell_unseen(self, expected: ColumnSchema, given: LevelColumn) -> None:
        """Log, once for each column, that a whole column counts as missing: often it was spelt otherwise."""
        told: set[Hashable] = self.__dict__.setdefault("_told", set())
        if expected.name in told:
            return
        told.add(expected.name)
        row = int(np.flatnonzero(given.indices >= 0)[0])
        seen = f"training saw {listing(expected.levels, most=3)}" if expected.levels else "training saw none"
        log.warning(
            "No category of column %r was there when this model was fitted (first: row %d, %r; %s): all of "
            "them count as missing.",
            expected.name,
            row,
            given.levels[given.indices[row]],
            seen,
        )

    def _no_plain_numbers(self) -> Iterable[int]:
        if isinstance(self.columns, Positions) and self.columns.unit in _PLAIN:
            return self.columns.others
        return [
            j
            for j, column in enumerate(self.columns)
            if column.kind != "numeric" or column.unit not in _PLAIN
        ]

    def take(self, columns: Sequence[int]) -> Schema:
        """The schema of some of the columns, in that order; positions are counted anew."""
        taken = [self.columns[j] for j in columns]
        if isinstance(self.columns, Positions):
            taken = [replace(column, name=i) for i, column in enumerate(taken)]
        return Schema(tuple(taken), self.named, self.unknown)

    def order(self, table: Table | Outline, estimator: str) -> Sequence[int]:
        """For each column of the schema, its position in the table; raises if one is absent or extra."""
        if self.named != table.named:
            self._check_count(table, estimator)
            text = (
                f"X does not have valid feature names, but {estimator} was fitted with feature names"
                if self.named
                else f"X has feature names, but {estimator} was fitted without feature names"
            )
            warnings.warn(text, UserWarning, stacklevel=outside())
            return range(len(self.columns))
        mine, theirs = self.names, table.names
        if not (isinstance(mine, range) and isinstance(theirs, range)):
            position = {name: j for j, name in enumerate(theirs)}
            if position.keys() == set(mine):
                return [position[name] for name in mine]
            if self.named or not (_only_positions(mine) or _only_positions(theirs)):
                raise DataError(_names_differ(mine, theirs))
        self._check_count(table, estimator)
        return range(len(self.columns))

    def _check_count(self, table: Table | Outline, estimator: str) -> None:
        if table.n_columns != len(self.columns):
            raise DataError(
                f"X has {table.n_columns} features, but {estimator} is expecting {len(self.columns)} "
                f"features as input.{f' It was fitted on {listing(self.names)}.' if self.named else ''}"
            )


def _only_positions(names: Sequence[Hashable]) -> bool:
    return all(name == j for j, name in enumerate(names))


def _names_differ(fitted: Sequence[Hashable], given: Sequence[Hashable]) -> str:
    """scikit-learn's wording, which its checks and its users know, plus what would work."""
    message = "The feature names should match those that were passed during fit.\n"
    unseen = _sorted_names(set(given) - set(fitted))
    absent = _sorted_names(set(fitted) - set(given))
    if unseen:
        message += "Feature names unseen at fit time:\n" + _name_lines(unseen)
    if absent:
        message += "Feature names seen at fit time, yet now missing:\n" + _name_lines(absent)
    for name in unseen[:5]:
        close = nearest(str(name), [str(other) for other in absent])
        if close:
            message += f"Perhaps {name!r} is {close!r}: rename it.\n"
    if not absent and all(isinstance(name, str) for name in fitted):
        message += "Leave out what is unseen: X[model.feature_names_in_] would work.\n"
    return message


def _sorted_names(names: set[Hashable]) -> list[Hashable]:
    return sorted(names, key=lambda name: (type(name).__name__, str(name)))


def _name_lines(names: Sequence[Hashable], most: int = 5) -> str:
    lines = "".join(f"- {name}\n" for name in names[:most])
    return lines + ("- ...\n" if len(names) > most else "")


def _column_schema(column: Column, used: NDArray[np.bool_] | None) -> ColumnSchema:
    if isinstance(column, NumericColumn):
        return ColumnSchema(column.name, "numeric", column.unit)
    levels = plain_levels(column.levels)
    if column.ordered:
        return ColumnSchema(column.name, "ordinal", levels=levels)
    indices = column.indices if used is None else column.indices[used]
    count = np.bincount(indices + np.int32(1), minlength=len(levels) + 1)[1:]
    present = tuple(level for level, n in zip(levels, count.tolist(), strict=True) if n)
    levels = tuple(present[i] for i in sorted_positions(present))
    return ColumnSchema(column.name, "categorical", levels=levels)


def _align_numeric(expected: ColumnSchema, column: Column) -> NumericColumn:
    if isinstance(column, LevelColumn):
        if (column.indices >= 0).any():
            raise DataError(_text_for_numbers(expected, column))
        return NumericColumn(expected.name, np.full(len(column.indices), np.nan), unit=expected.unit)
    if _NUMERIC_WORDS[column.unit] != _NUMERIC_WORDS[expected.unit] and not _all_missing(column):
        raise DataError(
            f"Column {expected.name!r} was {_NUMERIC_WORDS[expected.unit]} when this model was fitted and "
            f"now holds {_HOLDING[column.unit]}. Convert it, or refit."
        )
    return NumericColumn(expected.name, column.values, column.missing, expected.unit)


def _all_missing(column: NumericColumn) -> bool:
    missing = missing_rows(column)
    return missing is not None and bool(missing.all())


def _text_for_numbers(expected: ColumnSchema, column: LevelColumn) -> str:
    """Names the first value that is no number; when every text could be one, simply the first."""
    foreign = np.array([not _reads_as_number(level) for level in column.levels] + [False])
    rows = np.flatnonzero(foreign[column.indices])
    if not len(rows):
        rows = np.flatnonzero(column.indices >= 0)
    row = int(rows[0])
    value = column.levels[column.indices[row]]
    now = "text" if isinstance(value, str) else "categories"
    return (
        f"Column {expected.name!r} was {_NUMERIC_WORDS[expected.unit]} when this model was fitted and "
        f"now holds {now} (first: row {row}, {value!r}). Convert it, or refit."
    )


def _reads_as_number(level: Any) -> bool:
    try:
        float(level)
    except (TypeError, ValueError):
        return False
    return True


def _align_levels(expected: ColumnSchema, given: LevelColumn, unknown: str) -> LevelColumn:
    ordered = expected.kind == "ordinal"
    if given.levels == expected.levels and set(map(type, given.levels)) == set(map(type, expected.levels)):
        indices = given.indices.astype(np.int32, copy=False)
        return LevelColumn(expected.name, indices, expected.levels, ordered)
    position = level_positions(expected.levels)
    found = [position.get(key, -1) for key in level_positions(plain_levels(given.levels))]
    target = np.array([*found, -1], dtype=np.int32)
    if -1 in found:
        _check_unknown(expected, given, target, unknown)
    return LevelColumn(expected.name, target[given.indices], expected.levels, ordered)


def _check_unknown(
    expected: ColumnSchema, given: LevelColumn, target: NDArray[np.int32], unknown: str
) -> None:
    """Levels in use that the model never saw: of another type altogether, or an error by the user's wish."""
    count = np.bincount(given.indices + np.int32(1), minlength=len(given.levels) + 1)[1:]
    strangers = [i for i in np.flatnonzero(target[:-1] < 0).tolist() if count[i]]
    if not strangers:
        return
    words = {type_word(level) for level in expected.levels}
    if words and all(type_word(given.levels[i]) not in words for i in np.flatnonzero(count).tolist()):
        row = int(np.flatnonzero(given.indices >= 0)[0])
        level = given.levels[given.indices[row]]
        raise DataError(
            f"Column {expected.name!r} held {_words_of(expected.levels)} when this model was fitted and "
            f"now holds {_words_of([level])} (first: row {row}, {level!r}). Convert it, or refit."
        )
    if unknown == "error":
        levels = sorted(
            (given.levels[i] for i in strangers), key=lambda level: (type_word(level), str(level))
        )
        raise DataError(
            f"Column {expected.name!r} holds levels that were not there when this model was fitted: "
            f"{listing(levels)}. Recode them, or refit; unknown='missing' treats them as missing."
        )


def _words_of(levels: Sequence[Any]) -> str:
    words = sorted({_LEVEL_WORDS.get(type_word(level), type_word(level)) for level in levels})
    return " and ".join(words)
