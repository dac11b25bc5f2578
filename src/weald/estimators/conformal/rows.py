"""The rows that `Conformal` is given: the user's own table, its target, and which rows calibrate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import AnyTable, TableLike, TargetLike, WeightLike
from weald.data.frames.user_rows import indexable, outline, take
from weald.data.schema import Schema
from weald.data.target import positions_among, read_labels, read_target, read_weight, restore_labels
from weald.errors import DataError, ParameterError, listing
from weald.estimators.bagging.any_members import names_of
from weald.estimators.conformal.options import ConformalOptions
from weald.estimators.shared.class_weight import Weights
from weald.estimators.shared.growth import drawn_seed
from weald.random import Purpose, draw


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows of positive weight, as the user gave them."""

    X: AnyTable
    values: NDArray[Any]  # (n_rows,): float64 numbers, or the numbers of classes
    classes: NDArray[Any] | None  # None for numbers
    weight: Weights | None
    numbers: NDArray[np.int64]  # in the user's table
    given: Any  # the table with all rows
    n_given: int
    schema: Schema  # names alone: kinds and levels are the members' own business

    @classmethod
    def read(
        cls,
        X: TableLike,
        y: TargetLike | None,
        sample_weight: WeightLike | None,
        *,
        labels: bool,
        owner: str,
        known: NDArray[Any] | None = None,
    ) -> Rows:
        """Check a table and its target; `known` are the labels of an estimator that is fitted already."""
        X = whole = indexable(X)
        given = outline(X)
        weight = read_weight(sample_weight, n_rows=given.n_rows)
        classes = None
        if labels:
            outputs = read_labels(y, n_rows=given.n_rows, estimator=owner)
            classes, values = outputs[0].classes, outputs[0].indices.astype(np.int64)
            n_outputs = len(outputs)
        else:
            target = read_target(y, n_rows=given.n_rows, estimator=owner)
            values, n_outputs = np.ascontiguousarray(target[:, 0]), target.shape[1]
        if n_outputs > 1:
            what = "label" if labels else "number"
            raise DataError(f"{owner} takes one {what} per row; y has {n_outputs} columns. Fit one for each.")
        numbers = np.arange(given.n_rows)
        if weight is not None and not weight.all():
            numbers = np.flatnonzero(weight)
            X, values, weight = take(X, numbers), values[numbers], weight[numbers]
        if classes is not None:
            classes, values = _renumbered(classes, values, known)
        return cls(X, values, classes, weight, numbers, whole, given.n_rows, names_of(given))

    def __len__(self) -> int:
        return len(self.values)

    def part(self, rows: NDArray[np.int64]) -> tuple[Any, NDArray[Any], dict[str, Any]]:
        """Some rows of the table, their targets as the user wrote them, and what else `fit` gets."""
        target = self.values[rows]
        if self.classes is not None:
            target = restore_labels(self.classes, target)
        extra = {} if self.weight is None else {"sample_weight": self.weight[rows]}
        return take(self.X, None if len(rows) == len(self) else rows), target, extra

    def check_classes(self, rows: NDArray[np.int64], owner: str) -> None:
        """Refuse to calibrate classes apart where one has no row."""
        assert self.classes is not None
        lacking = np.setdiff1d(np.arange(len(self.classes)), self.values[rows])
        if len(lacking):
            raise DataError(
                f"class_conditional=True of {owner} needs calibration rows of every class, and there are "
                f"none of {listing(self.classes[lacking].tolist())}. Give more rows, a larger "
                "calibration_size, or use class_conditional=False."
            )


def _renumbered(
    classes: NDArray[Any], values: NDArray[np.int64], known: NDArray[Any] | None
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The labels in use, or those of a fitted estimator, and the position of each row's label among them."""
    used, values = np.unique(values, return_inverse=True)
    values = values.reshape(-1)
    if known is None:
        return classes[used], values
    places = positions_among(classes[used], known)
    if (places < 0).any():
        strange = classes[used][places < 0].tolist()
        raise DataError(
            f"y holds {listing(strange)}, which the fitted estimator does not know; its labels are "
            f"{listing(known.tolist())}. Leave such rows out, or fit anew."
        )
    return known, places[values].astype(np.int64)


def divided(rows: Rows, options: ConformalOptions, owner: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows to train on and those to calibrate by, both ascending, drawn by the seed.

    Where classes are calibrated apart they are drawn apart, and one row of each always stays in training.
    """
    n_rows, size = len(rows), options.calibration_size
    if n_rows < 2:
        raise DataError(
            f"{owner} holds rows out to calibrate by, and there is {n_rows} row in all (n_samples={n_rows}). "
            "Give more."
        )
    n_held = size if isinstance(size, int) else max(1, round(size * n_rows))
    if n_held >= n_rows:
        raise ParameterError(
            f"`calibration_size` of {owner} holds out {n_held} of {n_rows} rows, which leaves none to train "
            "on. Use a fraction, such as 0.25."
        )
    seed = 0 if options.random_state is None else drawn_seed(options.random_state)
    order = np.argsort(draw(seed, Purpose.CALIBRATION_ROWS, 0, np.arange(n_rows, dtype=np.uint64)))
    if options.class_conditional:
        order = _class_by_class(order, rows.values)[:n_held]
    held = np.zeros(n_rows, np.bool_)
    held[order[:n_held]] = True
    return np.flatnonzero(~held), np.flatnonzero(held)


def _class_by_class(order: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same rows, so that any first so many have about the share of each class, and never all of one."""
    labels = values[order]
    n_of = np.bincount(labels)
    within = np.empty(len(order), np.int64)
    by_class = np.argsort(labels, kind="stable")
    starts = np.cumsum(n_of) - n_of
    within[by_class] = np.arange(len(order)) - np.repeat(starts, n_of)
    share = within / n_of[labels]
    last = within == n_of[labels] - 1
    place = np.lexsort((share, last))
    return order[place[: np.count_nonzero(~last)]]
