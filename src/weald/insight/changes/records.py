"""What `counterfactual` and `nearest_like` give back."""

from __future__ import annotations

import datetime as dt
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats, Integers, TableLike
from weald.insight.frames import Frame, frame_in, shown_name, shown_names


@dataclass(frozen=True, slots=True)
class ColumnChange:
    """One column that is changed.

    Attributes
    ----------
    column : str or int
        Its name, or position.
    before, after : object
        The values; None for a missing one.
    cost : float
        How far apart they are.
    """

    column: Hashable
    before: object
    after: object
    cost: float

    def __str__(self) -> str:
        name = f"column {self.column}" if isinstance(self.column, int) else shown_name(self.column)
        return f"{name}: {described(self.before)} → {described(self.after)}"


@dataclass(frozen=True, slots=True, eq=False)
class RowChange:
    """A change of a row that reaches the goal.

    Attributes
    ----------
    changes : tuple of ColumnChange
        The columns that are changed, the dearest first.
    cost : float
        Of all of them together.
    prediction : object
        What the model says of the changed row.
    probability : float or None
        Of the label that it predicts, where the model tells probabilities.
    """

    changes: tuple[ColumnChange, ...]
    cost: float
    prediction: object
    probability: float | None

    def __str__(self) -> str:
        changed = ", ".join(map(str, self.changes))
        return f"{changed}  gives {predicted(self.prediction, self.probability)} (cost {self.cost:.3g})"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Counterfactuals:
    """Changes of a row that change its prediction, the cheapest first; each was predicted.

    Attributes
    ----------
    answers : tuple of RowChange
        At most as many as were asked for; none if none was found.
    before : object
        What the model says of the row as it is.
    before_probability : float or None
        Of that label, where the model tells probabilities.
    wanted : str
        The goal in words.
    rows : table
        The row as it is, and below it the changed rows, in the order of answers; of the kind of X.
    exact : bool
        Whether no change of one or two columns is cheaper than the first answer.
    """

    answers: tuple[RowChange, ...]
    before: object
    before_probability: float | None
    wanted: str
    rows: TableLike
    exact: bool
    max_columns: int
    n_open: int  # columns that could be changed
    frame_library: str | None = None

    def __len__(self) -> int:
        """How many answers there are."""
        return len(self.answers)

    def __iter__(self) -> Iterator[RowChange]:
        """The answers."""
        return iter(self.answers)

    def __getitem__(self, place: int) -> RowChange:
        """One answer."""
        return self.answers[place]

    def to_frame(self, library: str | None = None) -> Frame:
        """All changes as a frame, a row per answer and column.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow", "dict"}, default=None
            The library; None for that of X, or else one that is installed.

        Returns
        -------
        frame
            With the columns "answer", "column", "before", "after", "cost" (of the column), "prediction" and
            "total_cost". Values are text where they are not all numbers.
        """
        flat = [(k, change, answer) for k, answer in enumerate(self.answers) for change in answer.changes]
        columns: dict[str, Any] = {
            "answer": [k for k, _, _ in flat],
            "column": shown_names([change.column for _, change, _ in flat]),
            "before": _values([change.before for _, change, _ in flat]),
            "after": _values([change.after for _, change, _ in flat]),
            "cost": [change.cost for _, change, _ in flat],
            "prediction": _values([answer.prediction for _, _, answer in flat]),
            "total_cost": [answer.cost for _, _, answer in flat],
        }
        return frame_in(columns, library, self.frame_library)

    def __repr__(self) -> str:
        now = predicted(self.before, self.before_probability)
        head = f"The model says {now}; wanted: {self.wanted}."
        if not self.answers:
            few = "column" if self.max_columns == 1 else "columns"
            return (
                f"{head}\n  No change of up to {self.max_columns} {few} among {self.n_open} that may change "
                "was found that reaches it with values of X. Allow more columns (max_columns), more of them "
                "(fixed, directions, ranges), or rarer values (quantiles)."
            )
        lines = [f"  {k + 1}. {answer}" for k, answer in enumerate(self.answers)]
        return "\n".join([head, *lines])


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class NearestRows:
    """The known rows that are most like one, by the leaves they share.

    Attributes
    ----------
    rows : ndarray of shape (k,)
        Their numbers, the most alike first.
    proximities : ndarray of shape (k,)
        The share of trees in which each comes to the leaf of the row.
    targets : list or None
        Their labels or numbers, if y was given.
    table : table
        The rows themselves, of the kind of X.
    """

    rows: Integers
    proximities: Floats
    targets: list[object] | None
    table: TableLike
    names: Sequence[Hashable]
    values: list[list[object]]  # by column
    frame_library: str | None = None

    def __len__(self) -> int:
        """How many rows."""
        return len(self.rows)

    def to_frame(self, library: str | None = None) -> Frame:
        """The rows as a frame.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow", "dict"}, default=None
            The library; None for that of X, or else one that is installed.

        Returns
        -------
        frame
            With the columns "row", "proximity", "target" if y was given, and those of X.
        """
        columns: dict[str, Any] = {"row": self.rows.tolist(), "proximity": self.proximities.tolist()}
        if self.targets is not None:
            columns["target"] = self.targets
        taken = set(columns)
        for name, values in zip(self.names, self.values, strict=True):
            text = str(name)
            columns[f"{text} (column)" if text in taken else text] = values
        return frame_in(columns, library, self.frame_library)

    def __repr__(self) -> str:
        lines = [f"The {len(self)} rows most alike:"]
        for k, (row, proximity) in enumerate(zip(self.rows.tolist(), self.proximities.tolist(), strict=True)):
            target = "" if self.targets is None else f", {described(self.targets[k])}"
            lines.append(f"  row {row}: proximity {proximity:.2f}{target}")
        return "\n".join(lines)


def described(value: object) -> str:
    """A value in words: a gap as "missing", numbers with the digits that tell them."""
    if value is None:
        return "missing"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        return value.date().isoformat()
    return repr(value) if isinstance(value, str) else str(value)


def predicted(value: object, probability: float | None) -> str:
    """A prediction in words."""
    return described(value) if probability is None else f"{described(value)} ({probability:.2f})"


def _values(values: list[Any]) -> list[Any]:
    """Values of several columns in one: as they are if all are numbers, or all of one type, else as text."""
    known = [value for value in values if value is not None]
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        return [None if value is None else float(value) for value in values]
    if len({type(value) for value in known}) == 1 and isinstance(known[0], str | bool):
        return values
    return [None if value is None else str(value) for value in values]


def plain(values: NDArray[Any]) -> list[Any]:
    """Predictions as Python's own values."""
    return [value.item() if isinstance(value, np.generic) else value for value in values]
