"""Bags of any estimators: rows of the user's own table, joblib, votes or averages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import has_fit_parameter

from weald.data.schema import ColumnSchema, Positions, Schema
from weald.data.table import Outline
from weald.data.user_rows import take
from weald.errors import DataError
from weald.estimators.bagging_bags import Bags
from weald.estimators.class_weight import Weights
from weald.estimators.members import (
    in_order,
    in_parallel,
    label_positions,
    naming,
    numbers_of,
    seeded,
    showing,
)


@dataclass(frozen=True, slots=True, eq=False)
class OtherMembers:
    """Fitted estimators, and the names of the columns they were fitted on."""

    template: Any
    seed: int
    fitted: list[Any]
    #: names alone: kinds and levels are the members' own business
    schema: Schema
    classes: tuple[NDArray[Any], ...] | None
    #: the columns of each bag; None if all have all
    columns: tuple[NDArray[np.int64], ...] | None

    def __len__(self) -> int:
        return len(self.fitted)

    def estimators(self) -> list[Any]:
        """The members."""
        return self.fitted

    def mean(self, X: Any, owner: str, n_jobs: int | None) -> NDArray[np.float64]:
        """The mean of what the members say of each row, added up in their order: (rows, width)."""
        said = self.each(self.saying, self.read(X, owner), n_jobs)
        total = next(said)
        for part in said:
            total = total + part
        return total / len(self)  # type: ignore[no-any-return]

    @property
    def saying(self) -> str:
        """What is averaged: numbers, or shares of classes."""
        return "numbers" if self.classes is None else "shares"

    def read(self, X: Any, owner: str) -> Any:
        """A table whose rows can be taken, with the columns of training in their order."""
        return in_order(X, self.schema, owner)

    def each(
        self,
        what: str,
        X: Any,
        n_jobs: int | None,
        rows: Callable[[int], NDArray[np.int64] | None] = lambda bag: None,
    ) -> Iterator[Any]:
        """What each member says of a table that `read` gave, one after another; `rows`: those of a bag."""
        classes = None if self.classes is None else self.classes[0]
        work = (
            (what, member, X, rows(bag), self._columns_of(bag), classes, bag)
            for bag, member in enumerate(self.fitted)
        )
        return in_parallel(_said, work, n_jobs)

    def _columns_of(self, bag: int) -> list[int] | None:
        return None if self.columns is None else self.columns[bag].tolist()


def names_of(given: Outline) -> Schema:
    """A schema that knows no more than the names of the columns."""
    if isinstance(given.names, range):
        return Schema(Positions(given.n_columns), given.named)
    return Schema(tuple(ColumnSchema(name, "numeric") for name in given.names), given.named)


def fit_others(
    template: Any,
    X: Any,
    y: NDArray[Any],
    weight: Weights | None,
    bags: Bags,
    numbers: Sequence[int],
    n_jobs: int | None,
    verbose: int,
) -> list[Any]:
    """The fitted members of some bags.

    Parameters
    ----------
    template : estimator
        What is fitted, a copy for each bag.
    X, y : table, ndarray
        The rows, as `indexable` gives them, and their targets.
    weight : ndarray of shape (n_rows,) or None
        Weights, which the estimator must then take.
    bags : Bags
        How bags are drawn.
    numbers : sequence of int
        Which bags.
    n_jobs, verbose : int
        For joblib, and whether to show progress; the members do not depend on them.
    """
    weighs = has_fit_parameter(template, "sample_weight")
    if weight is not None and not weighs:
        raise DataError(
            f"sample_weight was given, and {type(template).__name__}.fit takes none. Leave it out, repeat "
            "rows instead, or use an estimator that takes sample_weight."
        )
    work = ((template, X, y, weight, bags, bag, weighs) for bag in numbers)
    fitted = []
    with showing(len(numbers), verbose) as done:
        for member in in_parallel(_fit_bag, work, n_jobs):
            fitted.append(member)
            done()
    return fitted


def _fit_bag(
    template: Any, X: Any, y: NDArray[Any], weight: Weights | None, bags: Bags, bag: int, weighs: bool
) -> Any:
    """One member: rows drawn twice weigh twice where the estimator takes weights, and else stand twice."""
    columns = bags.columns(bag).tolist() if bags.some_columns else None
    counts = bags.counts(bag)
    rows = np.flatnonzero(counts) if weighs else np.repeat(np.arange(len(counts)), counts)
    extra: dict[str, Any] = {}
    if weighs and (weight is not None or counts.max() > 1):
        extra["sample_weight"] = counts[rows] * (1.0 if weight is None else weight[rows])
    with naming(f"The {type(template).__name__} of bag {bag}"):
        member = seeded(template, bags.seed, bag)
        return member.fit(take(X, rows, columns), y[rows], **extra)


def _said(
    what: str,
    member: Any,
    X: Any,
    rows: NDArray[np.int64] | None,
    columns: list[int] | None,
    classes: NDArray[Any] | None,
    bag: int,
) -> Any:
    """What a member says of some rows, with its name on any error."""
    with naming(f"The {type(member).__name__} of bag {bag}"):
        if rows is not None and not len(rows):
            return None
        return _SAYINGS[what](member, take(X, rows, columns), classes)


def shares_of(member: Any, X: Any, classes: NDArray[Any]) -> NDArray[np.float64]:
    """Probabilities in the order of `classes`, 0 for those the member never saw; or its vote as 0 and 1."""
    if hasattr(member, "predict_proba"):
        said = np.asarray(member.predict_proba(X), np.float64)
        place = label_positions(member.classes_, classes)
        if said.shape[1:] != place.shape:
            raise DataError(f"it gives probabilities of shape {said.shape} for {len(place)} classes.")
        shares = np.zeros((len(said), len(classes)))
        shares[:, place] = said
        return shares
    chosen = label_positions(member.predict(X), classes)
    votes = np.zeros((len(chosen), len(classes)))
    votes[np.arange(len(chosen)), chosen] = 1.0
    return votes


def _numbers(member: Any, X: Any, _: None) -> NDArray[np.float64]:
    return numbers_of(member, X)


def _decisions(member: Any, X: Any, classes: NDArray[Any]) -> NDArray[np.float64]:
    if len(member.classes_) != len(classes):
        raise DataError(
            f"its bag has {len(member.classes_)} of {len(classes)} classes, so that its decision function "
            "has no value for the others. Use predict_proba, or larger bags."
        )
    return np.asarray(member.decision_function(X), np.float64)


_SAYINGS: dict[str, Any] = {"shares": shares_of, "numbers": _numbers, "decisions": _decisions}
