"""AdaBoost of any estimators: rows of the user's own table, with weights or as samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import has_fit_parameter

from weald.adaboost.records import MemberRows
from weald.adaboost.weights import TOTAL
from weald.arrays import Estimator, TableLike
from weald.data.frames.user_rows import outline, take
from weald.data.schema import Schema
from weald.errors import DataError, ParameterError, naming_member
from weald.estimators.adaboost.options import Options
from weald.estimators.bagging.any_members import names_of
from weald.estimators.shared.members import fit_member, in_order, label_positions, seeded


class OtherLearner:
    """Fits estimators on rows of the user's table.

    Parameters
    ----------
    template : estimator
        What is fitted, a copy for each round.
    X : table
        The rows, as `indexable` gives them.
    y : ndarray of shape (n_rows,)
        Labels as the user gave them, or numbers.
    classes : ndarray or None
        The labels in order; None for numbers.
    seed : int
        What the seeds of members start from.
    """

    #: an SVM or a booster whose limits are for rows of weight 1 learns nothing from those of 1 / n_rows
    hint = (
        " Weights of rows add up to 1: an estimator whose regularisation depends on their size needs less of "
        "it (for an SVC, a larger C), or resample='compound'."
    )

    def __init__(
        self, template: Estimator, X: TableLike, y: NDArray[Any], classes: NDArray[Any] | None, seed: int
    ) -> None:
        self._template, self._X, self._y, self._classes, self._seed = template, X, y, classes, seed
        self.name = type(template).__name__
        self.varies = is_random(template)

    def fit(self, training: MemberRows) -> Any:
        """A member of one round. Rows stand in a sample as often as they were drawn."""
        member, units = seeded(self._template, self._seed, training.attempt), training.units
        rows = np.repeat(np.arange(len(units)), units) if training.counted else np.flatnonzero(units)
        all_rows = not training.counted and len(rows) == len(units)
        extra = {} if training.counted else {"sample_weight": units[rows] / TOTAL}
        table = self._X if all_rows else take(self._X, rows)
        return fit_member(member, table, self._y[rows], **extra)

    def predicted(self, member: Estimator) -> NDArray[Any]:
        """What a member predicts for every row."""
        return self.answers(member, self._X)

    def read(self, X: TableLike, owner: str) -> tuple[Any, int]:
        """Another table with the columns of this one in their order, and its rows."""
        table = in_order(X, names_of(outline(self._X)), owner, any_shape=True)
        return table, outline(table).n_rows

    def answers(self, member: Estimator, table: TableLike) -> NDArray[Any]:
        """What a member predicts for the rows of a table."""
        return answers(member, table, self._classes)


def is_random(template: Estimator) -> bool:
    """Whether chance may decide how an estimator is fitted."""
    return any(name.rpartition("__")[2] == "random_state" for name in template.get_params())


def answers(member: Estimator, X: TableLike, classes: NDArray[Any] | None) -> NDArray[Any]:
    """What a member predicts for a table: class numbers or numbers."""
    predicted = member.predict(X)
    if classes is not None:
        return label_positions(predicted, classes).astype(np.int32)
    numbers: NDArray[np.float64] = np.asarray(predicted, np.float64)
    if numbers.size != len(numbers):
        raise DataError(f"It predicts {numbers.shape[1]} numbers per row where one is needed.")
    return numbers.reshape(-1)


def for_members(options: Options, template: Estimator, kind: str, owner: str) -> Options:
    """The parameters as members of this kind allow them.

    Regressors that take no weights get rows drawn by weight, as scikit-learn draws them for all; classifiers
    that take none are refused, as there.
    """
    if options.resample is not None or has_fit_parameter(template, "sample_weight"):
        return options
    if kind == "regressor":
        return replace(options, resample="compound")
    name = type(template).__name__
    raise ParameterError(
        f"{name} doesn't support sample_weight, and {owner} with resample=None weighs rows. Use "
        "resample='compound' to draw rows by weight instead."
    )


@dataclass(frozen=True, slots=True, eq=False)
class BoostedOthers:
    """Fitted estimators, with what each counts, and the names of the columns they were fitted on."""

    template: Estimator
    seed: int
    fitted: list[Any]
    #: names alone: kinds and levels are the members' own business
    schema: Schema
    classes: NDArray[Any] | None
    weights: NDArray[np.float64]  # (n_members,)
    attempts: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.fitted)

    def read(self, X: TableLike, owner: str) -> Any:
        """A table whose rows can be taken, with the columns of training in their order."""
        return in_order(X, self.schema, owner, any_shape=True)

    def n_rows(self, table: TableLike) -> int:
        """How many rows a table has."""
        return outline(table).n_rows

    def each(self, table: TableLike, n_jobs: int | None) -> Iterator[NDArray[Any]]:
        """What each member predicts: class numbers or numbers."""
        for number, member in enumerate(self.fitted, start=1):
            with naming_member(f"The {type(member).__name__} of round {number}"):
                predicted = answers(member, table, self.classes)
            yield predicted

    def votes(self, table: TableLike, n_jobs: int | None) -> NDArray[np.float64]:
        """What the members' votes for each class count: (rows, classes)."""
        *_, total = self._votes(table, n_jobs)
        return total

    def staged_votes(self, table: TableLike, n_jobs: int | None) -> Iterator[NDArray[np.float64]]:
        """The same after every round."""
        return (votes.copy() for votes in self._votes(table, n_jobs))

    def _votes(self, table: TableLike, n_jobs: int | None) -> Iterator[NDArray[np.float64]]:
        assert self.classes is not None
        votes = np.zeros((self.n_rows(table), len(self.classes)))
        every = np.arange(len(votes))
        for predicted, weight in zip(self.each(table, n_jobs), self.weights.tolist(), strict=True):
            votes[every, predicted] += weight
            yield votes

    def blocks(self, table: TableLike, n_jobs: int | None) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """What all members predict for all rows: (rows, members)."""
        yield slice(0, self.n_rows(table)), np.stack(list(self.each(table, n_jobs)), axis=1)

    def importances(self) -> NDArray[np.float64]:
        """How important each column is to each member: (members, columns)."""
        try:
            return np.stack([np.asarray(member.feature_importances_) for member in self.fitted])
        except AttributeError:
            raise AttributeError(
                f"feature_importances_ needs members that have them, and {type(self.template).__name__} has "
                "none."
            ) from None

    def estimators(self) -> list[Any]:
        """The members."""
        return self.fitted
