"""What a report is about: a model, rows it did not see, and what is drawn from them for the dear parts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import check_is_fitted

from weald.arrays import AnyEstimator, AnyTable, Floats, Integers, TableLike, TargetLike
from weald.data.adapters import to_table
from weald.data.frames.user_rows import count_rows, indexable, take
from weald.data.table import Column, LevelColumn, NumericColumn, Table
from weald.errors import DataError, DataTypeError, told
from weald.estimators.xgboost.native.booster import Booster
from weald.insight.made_of_trees import trees_of
from weald.pictures.svg.scales import number
from weald.runs.answered import answered
from weald.runs.gathering import PathLike, is_path, name_of_column
from weald.runs.task import CLASSIFICATION, REGRESSION
from weald.uncertainty.scores.told import Told

#: rows that are scored at most, and columns that are looked at one by one
MOST_SCORED, MOST_COLUMNS = 100_000, 100
#: columns from which on parts that need all of them at once are left out
MOST_WIDE = 2000
_OWNER = "report"


@dataclass(slots=True, eq=False)
class Rows:
    """A table and its target."""

    X: AnyTable
    y: NDArray[Any]

    @property
    def n(self) -> int:
        """How many."""
        return len(self.y)

    def take(self, rows: Integers) -> Rows:
        """Some of them."""
        return Rows(take(self.X, rows), self.y[rows])


@dataclass(eq=False)
class Subject:
    """The model, the rows and the limits; answers of the model are asked for once."""

    model: AnyEstimator
    kind: str
    rows: Rows
    #: the number of each row in the user's table
    numbers: Integers
    training: Rows | None
    n_training: int | None
    max_rows: int
    seed: int
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        model: AnyEstimator,
        X: TableLike | PathLike,
        y: TargetLike | str | None,
        training: Sequence[object] | None,
        max_rows: int,
        seed: int,
    ) -> Subject:
        """Read what the user gave; errors name what is wrong."""
        fitted = _fitted(model)
        kind = CLASSIFICATION if is_classifier(fitted) else REGRESSION
        rows = _rows(*_read(fitted, X, y, "y"), "X", kind)
        seen = None if training is None else _rows(*_read(fitted, *_pair(training), "train"), "train", kind)
        subject = cls(
            fitted, kind, rows, np.arange(rows.n), seen, None if seen is None else seen.n, max_rows, seed
        )
        subject._leave_out_unknown_labels()
        if subject.rows.n > MOST_SCORED:
            subject.notes.append(f"{MOST_SCORED:,} of {subject.rows.n:,} rows were drawn and scored.")
            subject._keep(subject.draw(subject.rows.n, MOST_SCORED))
        if seen is not None and seen.n > MOST_SCORED:
            subject.notes.append(f"{MOST_SCORED:,} of {seen.n:,} training rows were drawn to compare with.")
            subject.training = seen.take(subject.draw(seen.n, MOST_SCORED))
        return subject

    def _keep(self, rows: Integers) -> None:
        self.rows, self.numbers = self.rows.take(rows), self.numbers[rows]

    def _leave_out_unknown_labels(self) -> None:
        if self.kind != CLASSIFICATION:
            return
        known = np.isin(self.rows.y, self.model.classes_)
        n_unknown = int((~known).sum())
        if n_unknown == self.rows.n:
            labels = told(self.rows.y[0])
            raise DataError(
                f"No label of y is known to the model: y holds {labels}, and the model learned "
                f"{told(self.model.classes_[0])}. Give the labels as they were in training."
            )
        if n_unknown:
            self.notes.append(
                "1 row has a label that the model was not trained on; it was left out."
                if n_unknown == 1
                else f"{n_unknown:,} rows have labels that the model was not trained on; they were left out."
            )
            self._keep(np.flatnonzero(known))
        if self.rows.n < 2:
            raise DataError("Fewer than 2 rows are left to report on. Give more rows.")

    # ------------------------------------------------------------------ what is asked of the model

    @cached_property
    def told(self) -> Told:
        """The model, each of whose answers is asked for once."""
        return Told(self.model, self.rows.X)

    @cached_property
    def everything(self) -> Integers:
        """The numbers of all rows, as `told` takes them."""
        return np.arange(self.rows.n)

    @cached_property
    def said(self) -> NDArray[Any]:
        """The prediction of each row."""
        return np.asarray(self.told.answers("predict"))

    @cached_property
    def shares(self) -> Floats | None:
        """Probabilities of each label, if the model tells them."""
        if self.kind != CLASSIFICATION or not hasattr(self.model, "predict_proba"):
            return None
        return np.asarray(self.told.answers("predict_proba"), np.float64)

    @cached_property
    def scores(self) -> tuple[str, Floats] | None:
        """A number per row that grows with the second of two labels, and what it is called."""
        if not self.two_labels:
            return None
        if self.shares is not None:
            return "probability", self.shares[:, 1]
        if hasattr(self.model, "decision_function"):
            return "decision function", np.asarray(self.told.answers("decision_function"), np.float64)
        return None

    @cached_property
    def labels(self) -> NDArray[Any]:
        """The labels of a classifier."""
        return np.asarray(self.model.classes_) if self.kind == CLASSIFICATION else np.zeros(0)

    @property
    def two_labels(self) -> bool:
        """Whether it tells two labels apart."""
        return self.kind == CLASSIFICATION and len(self.labels) == 2

    @cached_property
    def quick(self) -> bool:
        """Whether predictions cost little: the model is made of trees, or is a weighted sum."""
        return trees_of(self.model) is not None or hasattr(self.model, "coef_")

    # ------------------------------------------------------------------ its table

    @cached_property
    def table(self) -> Table:
        """The rows as weald reads them."""
        return to_table(self.rows.X)

    @cached_property
    def training_table(self) -> Table | None:
        """The training rows as weald reads them."""
        return None if self.training is None else to_table(self.training.X)

    @cached_property
    def names(self) -> list[str]:
        """The names of all columns."""
        names = self.table.names
        return [str(name) if self.table.named else f"column {name}" for name in names]

    def columns(self, positions: list[int]) -> list[Column]:
        """Some columns of the table."""
        return columns_at(self.table, positions)

    def draw(self, n: int, most: int, purpose: int = 0) -> Integers:
        """At most so many of n row numbers, ascending; the same every time."""
        if n <= most:
            return np.arange(n)
        return np.sort(np.random.default_rng([self.seed, purpose]).choice(n, most, replace=False))


def columns_at(table: Table, positions: list[int]) -> list[Column]:
    """Some columns; those of a block are made only when asked for."""
    own = table.columns
    return own.take(positions) if hasattr(own, "take") else [own[j] for j in positions]


def _pair(training: object) -> tuple[Any, Any]:
    if not isinstance(training, tuple | list) or len(training) != 2:
        raise DataTypeError(f"`train` of {_OWNER} must be (X, y) of the training rows; got {told(training)}.")
    return training[0], training[1]


def _fitted(model: AnyEstimator) -> Any:
    if isinstance(model, Booster):
        raise DataTypeError(
            f"A Booster knows neither labels nor what its numbers mean, which {_OWNER} has to. Fit "
            "XGBClassifier or XGBRegressor with the same parameters."
        )
    fitted = model
    if isinstance(fitted, type) or not hasattr(fitted, "predict"):
        raise DataTypeError(
            f"{_OWNER} needs a fitted estimator, or a leaderboard of weald.compare; got {told(model)}."
        )
    check_is_fitted(fitted)
    if not (is_classifier(fitted) or is_regressor(fitted)):
        raise DataTypeError(
            f"{_OWNER} tells of models that learn labels or numbers; {type(fitted).__name__} learns neither. "
            "For rankings see weald.cv with ndcg."
        )
    if isinstance(getattr(fitted, "classes_", None), list):
        raise DataTypeError(
            f"{_OWNER} tells of one target; this {type(fitted).__name__} has {len(fitted.classes_)}. Fit one "
            "model per target."
        )
    return fitted


def _read(model: AnyEstimator, X: AnyTable, y: object, parameter: str) -> tuple[AnyTable, object]:
    """The same, or what is in the file that X names."""
    if not is_path(X):
        return X, y
    found, task = answered(model, (os.fspath(X),), name_of_column(y, parameter, _OWNER))
    return found, task.y


def _rows(X: AnyTable, y: object, name: str, kind: str) -> Rows:
    table, target = indexable(X), np.asarray(y)
    if target.ndim == 2 and target.shape[1] == 1:
        target = target[:, 0]
    if target.ndim != 1:
        raise DataError(f"{_OWNER} tells of one target; the one of {name} has {target.ndim} dimensions.")
    if kind == REGRESSION:
        try:
            target = target.astype(np.float64)
        except (TypeError, ValueError):
            raise DataError(
                f"The model learned numbers, and the target of {name} holds {told(target[0])}."
            ) from None
    n_rows = count_rows(table)
    if n_rows != len(target):
        raise DataError(f"{name} has {n_rows:,} rows and its target {len(target):,}. Give as many of both.")
    if n_rows < 2:
        raise DataError(f"{name} has {n_rows} rows; {_OWNER} needs at least 2.")
    lacks = _missing(target)
    if lacks.any():
        raise DataError(
            f"The target of {name} is missing in {lacks.sum():,} row(s), first in row {lacks.argmax()}. "
            "Leave them out."
        )
    if kind == REGRESSION and np.isinf(target).any():
        raise DataError(
            f"The target of {name} is infinite in {np.isinf(target).sum():,} row(s), first in row "
            f"{np.isinf(target).argmax()}. Leave them out."
        )
    return Rows(table, target)


def _missing(target: NDArray[Any]) -> NDArray[np.bool_]:
    if target.dtype.kind == "f":
        return np.asarray(np.isnan(target))
    if target.dtype.kind == "O":
        return np.array([each is None or each != each for each in target.tolist()])
    return np.zeros(len(target), np.bool_)


def numbers_of(column: NumericColumn) -> Floats:
    """The values of a column of numbers, NaN where they are missing."""
    values = np.asarray(column.values, np.float64)
    if column.missing is not None:
        values = np.where(column.missing, np.nan, values)
    return values


def shown_value(column: Column, row: int) -> str:
    """One value in words."""
    if isinstance(column, LevelColumn):
        at = int(column.indices[row])
        return "missing" if at < 0 else str(column.levels[at])
    if column.missing is not None and column.missing[row]:
        return "missing"
    value = column.values[row]
    if column.unit == "bool" or column.values.dtype.kind == "b":
        return "yes" if value else "no"
    if column.unit in ("datetime", "instant"):
        return "missing" if np.isnan(value) else date(float(value))
    return "missing" if value != value else number(float(value), 5)


def date(microseconds: float) -> str:
    """A moment in words; dates without the time of day."""
    text = str(np.datetime64(round(microseconds), "us"))
    return text.removesuffix(".000000").removesuffix("T00:00:00").replace("T", " ")


def kind_of(column: Column) -> str:
    """What a column holds, in one word."""
    if isinstance(column, LevelColumn):
        return "ordered levels" if column.ordered else "categories"
    if column.values.dtype.kind == "b" or column.unit == "bool":
        return "yes or no"
    if column.unit == "number":
        return "whole numbers" if column.values.dtype.kind in "iu" else "numbers"
    return {"datetime": "dates", "instant": "dates", "duration": "durations"}[column.unit]
