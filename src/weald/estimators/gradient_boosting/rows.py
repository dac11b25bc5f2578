"""The rows of gradient boosting: what is trained on, and what is held out for early stopping."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats, TableLike
from weald.boosting.stage.step import StageStep
from weald.boosting.stage.tree_step import TreeStep
from weald.data.frames.user_rows import take
from weald.data.rows import take_rows
from weald.data.schema import Schema
from weald.data.table import Table
from weald.errors import DataError, told
from weald.estimators.shared.category_shrinkage import boosted_shrinkage


@dataclass(frozen=True, slots=True)
class StageData:
    """Rows with their targets."""

    schema: Schema
    table: Table | None  # aligned to the schema; None where another base than trees reads the rows
    X: TableLike  # the user's own rows, where an estimator reads them; else None
    target: Floats  # numbers, or class numbers
    weight: Floats | None
    classes: NDArray[Any] | None

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return len(self.target)

    @property
    def n_classes(self) -> int | None:
        """How many labels; None for numbers."""
        return None if self.classes is None else len(self.classes)

    @property
    def rows(self) -> Any:
        """What the base reads."""
        return self.X if self.table is None else self.table

    def judged(self, step: StageStep) -> dict[str, object]:
        """What `cat_smooth="auto"` is about, for the columns that it judges; nothing of another base."""
        if not isinstance(step, TreeStep) or step.options.cat_smooth != "auto":
            return {}
        classes = None if self.classes is None else (self.classes,)
        found = boosted_shrinkage(self.schema, step.codes, self.target, classes, self.weight)
        return {"category_shrinkage_": found}

    def take(self, rows: NDArray[np.int64]) -> StageData:
        """Some of the rows."""
        return replace(
            self,
            table=None if self.table is None else take_rows(self.table, rows),
            X=None if self.X is None else take(self.X, rows),
            target=np.ascontiguousarray(self.target[rows]),
            weight=None if self.weight is None else np.ascontiguousarray(self.weight[rows]),
        )


def hold_out(data: StageData, fraction: float, random_state: int, owner: str) -> tuple[StageData, StageData]:
    """The rows to train on and those held out: the rows that scikit-learn's class draws of the same seed."""
    from sklearn.model_selection import train_test_split

    numbers = np.arange(data.n_rows)
    labels = None if data.classes is None else data.target
    if data.classes is not None:
        _check_counts(data, data.classes, owner)
    try:
        train, held = train_test_split(
            numbers, test_size=fraction, random_state=random_state, stratify=labels
        )
    except ValueError as error:
        raise DataError(
            f"`validation_fraction`={fraction} of {owner} cannot hold out rows of {data.n_rows} "
            f"(n_samples={data.n_rows}): {error} Use another fraction, more rows, or n_iter_no_change=None."
        ) from error
    parts = data.take(train), data.take(held)
    for part, what in zip(parts, ("train on", "hold out"), strict=True):
        if part.weight is not None and not part.weight.any():
            raise DataError(
                f"`n_iter_no_change` of {owner} holds rows out, and all rows to {what} have weight 0. Leave "
                "rows of weight 0 away."
            )
    if data.classes is not None:
        _check_classes(parts[0], data.classes, owner)
    return parts


def _check_counts(data: StageData, classes: NDArray[Any], owner: str) -> None:
    """A class of one row cannot be both trained on and held out."""
    count = np.bincount(data.target.astype(np.int64), minlength=len(classes))
    if count.min() < 2:
        label = classes.tolist()[int(np.argmin(count))]
        raise DataError(
            f"`n_iter_no_change` of {owner} holds rows of every class out, and the class {told(label)} has "
            "only 1 row. Give it more rows, leave it out, or use n_iter_no_change=None. (scikit-learn, by "
            "class number: The least populated classes in y have only 1 member. Classes with too few members "
            "are: "
            f"{np.flatnonzero(count < 2)[:5].astype(np.float64).tolist()}.)"
        )


def _check_classes(train: StageData, classes: NDArray[Any], owner: str) -> None:
    present = np.bincount(train.target.astype(np.int64), train.weight, len(classes)) > 0
    if not present.all():
        label = classes.tolist()[int(np.argmin(present))]
        raise DataError(
            f"The training data after the early stopping split has no row of the class {label!r}: "
            f"`n_iter_no_change` of {owner} holds them out. Use a smaller validation_fraction, or more rows "
            "of it."
        )
