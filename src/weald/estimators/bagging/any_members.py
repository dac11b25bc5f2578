"""Bags of any estimators: rows of the user's own table, joblib, votes or averages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from weald.arrays import AnyEstimator, Estimator, TableLike
from weald.data.frames.user_rows import take
from weald.data.schema import ColumnSchema, Positions, Schema
from weald.data.table import Outline
from weald.data.target import restore_labels
from weald.errors import DataError, naming_member
from weald.estimators.bagging.bags import MemberBags
from weald.estimators.shared.fitted import Target
from weald.estimators.shared.members import (
    fit_member,
    in_order,
    in_parallel,
    label_positions,
    numbers_of,
    seeded,
    showing,
)
from weald.estimators.shared.routing import params_of_rows, takes_weights
from weald.estimators.shared.saving import Saving

#: what each method of a member gets besides the table
Asked: TypeAlias = Mapping[str, Mapping[str, Any]]
NOTHING: Asked = {}


@dataclass(frozen=True, slots=True, eq=False)
class OtherMembers:
    """Fitted estimators, and the names of the columns they were fitted on."""

    template: Estimator
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

    def mean(
        self, X: TableLike, owner: str, n_jobs: int | None, asked: Asked = NOTHING
    ) -> NDArray[np.float64]:
        """The mean of what the members predict for each row, added up in their order: (rows, width)."""
        predicted = self.each(self.predicting, self.read(X, owner), n_jobs, asked=asked)
        total = next(predicted)
        for part in predicted:
            total = total + part
        return total / len(self)  # type: ignore[no-any-return]

    @property
    def predicting(self) -> str:
        """What is averaged: numbers, or shares of classes."""
        return "numbers" if self.classes is None else "shares"

    def read(self, X: TableLike, owner: str) -> TableLike:
        """A table whose rows can be taken, with the columns of training in their order."""
        return in_order(X, self.schema, owner)

    def each(
        self,
        what: str,
        X: TableLike,
        n_jobs: int | None,
        rows: Callable[[int], NDArray[np.int64] | None] = lambda bag: None,
        asked: Asked = NOTHING,
    ) -> Iterator[Any]:
        """What each member predicts for a table that `read` gave, one by one; `rows`: those of a bag."""
        classes = None if self.classes is None else self.classes[0]
        work = (
            (what, member, X, rows(bag), self._columns_of(bag), classes, asked, bag)
            for bag, member in enumerate(self.fitted)
        )
        return in_parallel(_predicted, work, n_jobs)

    def _columns_of(self, bag: int) -> list[int] | None:
        return None if self.columns is None else self.columns[bag].tolist()


def names_of(given: Outline) -> Schema:
    """A schema that knows no more than the names of the columns."""
    if isinstance(given.names, range):
        return Schema(Positions(given.n_columns), given.named)
    return Schema(tuple(ColumnSchema(name, "numeric") for name in given.names), given.named)


def fit_others(
    template: Estimator,
    X: TableLike,
    y: NDArray[Any],
    bags: MemberBags,
    numbers: Sequence[int],
    n_jobs: int | None,
    verbose: int,
    params: Mapping[str, Any],
) -> list[Any]:
    """The fitted members of some bags.

    Parameters
    ----------
    template : estimator
        What is fitted, a copy for each bag.
    X, y : table, ndarray
        The rows, as `indexable` gives them, and their targets.
    bags : MemberBags
        How bags are drawn.
    numbers : sequence of int
        Which bags.
    n_jobs, verbose : int
        For joblib, and whether to show progress; the members do not depend on them.
    params : mapping
        What `fit` of the members gets besides.
    """
    weighs = takes_weights(template)
    work = ((template, X, y, bags, bag, weighs, params) for bag in numbers)
    fitted = []
    with showing(len(numbers), verbose) as done:
        for member in in_parallel(_fit_bag, work, n_jobs):
            fitted.append(member)
            done()
    return fitted


def as_given(target: Target) -> NDArray[Any]:
    """The target as members get it: the user's own labels, or numbers."""
    if target.classes is not None:
        return restore_labels(target.classes[0], target.values[:, 0])
    return target.values[:, 0] if target.n_outputs == 1 else target.values


def sees_all_rows(template: Estimator) -> bool:
    """Whether members may get the whole table, with how often their bag has each row as weights.

    So scikit-learn gives it to estimators that take weights: nothing is copied, and one that needs two
    classes has them. To weald's own a row of weight 0 is absent; they get the rows of the bag.
    """
    return takes_weights(template) and not isinstance(template, Saving)


def _fit_bag(
    template: Estimator,
    X: TableLike,
    y: NDArray[Any],
    bags: MemberBags,
    bag: int,
    weighs: bool,
    params: Mapping[str, Any],
) -> Estimator:
    """One member on the rows of its bag."""
    columns = bags.columns(bag).tolist() if bags.some_columns else None
    rows, weight = rows_of_bag(template, y, bags, bag, weighs)
    extra = dict(params) if rows is None else params_of_rows(params, rows, bags.n_rows)
    if weight is not None:
        extra["sample_weight"] = weight
    with naming_member(f"The {type(template).__name__} of bag {bag}"):
        member = seeded(template, bags.seed, bag)
        return fit_member(member, take(X, rows, columns), y if rows is None else y[rows], **extra)


def rows_of_bag(
    template: Estimator, y: NDArray[Any], bags: MemberBags, bag: int, weighs: bool
) -> tuple[NDArray[np.int64] | None, NDArray[np.float64] | None]:
    """The rows that a member gets, None for all, and their weights, None if all weigh the same.

    Rows drawn twice weigh twice where the estimator takes weights (`weighs`), and else stand twice.
    """
    if not weighs:
        return bags.rows(bag), None
    counts, rows = bags.counts(bag), None
    if isinstance(template, Saving) or _lacks_classes(template, y, counts):
        rows = np.flatnonzero(counts)
        counts = counts[rows]
    return rows, counts.astype(np.float64) if (counts != 1).any() else None


def _lacks_classes(template: Estimator, y: NDArray[Any], counts: NDArray[np.int64]) -> bool:
    """Whether a bag has several classes, but not all.

    A classifier that leaves out rows of weight 0, such as scikit-learn's SVC, would then speak of other
    classes than its `classes_`.
    """
    if not is_classifier(template):
        return False
    n_present = len(np.unique(y[counts > 0]))
    return n_present > 1 and n_present < len(np.unique(y))


def _predicted(
    what: str,
    member: Estimator,
    X: TableLike,
    rows: NDArray[np.int64] | None,
    columns: list[int] | None,
    classes: NDArray[Any] | None,
    asked: Asked,
    bag: int,
) -> NDArray[np.float64] | None:
    """What a member predicts for some rows, with its name on any error."""
    # A member that knows of a class which its bag lacks may take the logarithm of that share, 0.
    with naming_member(f"The {type(member).__name__} of bag {bag}"), np.errstate(divide="ignore"):
        if rows is not None and not len(rows):
            return None
        return _PREDICTIONS[what](member, take(X, rows, columns), classes, asked)


def shares_of(
    member: AnyEstimator, X: TableLike, classes: NDArray[Any], asked: Asked = NOTHING
) -> NDArray[np.float64]:
    """Probabilities in the order of `classes`, 0 for those the member never saw; or its vote as 0 and 1."""
    if hasattr(member, "predict_proba"):
        if asked.get("predict_log_proba"):
            predicted = np.exp(
                np.asarray(member.predict_log_proba(X, **asked["predict_log_proba"]), np.float64)
            )
        else:
            predicted = np.asarray(member.predict_proba(X, **asked.get("predict_proba", {})), np.float64)
        place = label_positions(getattr(member, "classes_", classes), classes)
        if predicted.shape[1:] != place.shape:
            raise DataError(f"it gives probabilities of shape {predicted.shape} for {len(place)} classes.")
        shares = np.zeros((len(predicted), len(classes)))
        shares[:, place] = predicted
        return shares
    chosen = label_positions(member.predict(X, **asked.get("predict", {})), classes)
    votes = np.zeros((len(chosen), len(classes)))
    votes[np.arange(len(chosen)), chosen] = 1.0
    return votes


def _numbers(member: Estimator, X: TableLike, _: None, asked: Asked) -> NDArray[np.float64]:
    return numbers_of(member, X, **asked.get("predict", {}))


def _decisions(
    member: AnyEstimator, X: TableLike, classes: NDArray[Any], asked: Asked
) -> NDArray[np.float64]:
    if len(member.classes_) != len(classes):
        raise DataError(
            f"its bag has {len(member.classes_)} of {len(classes)} classes, so that its decision function "
            "has no value for the others. Use predict_proba, or larger bags."
        )
    return np.asarray(member.decision_function(X, **asked.get("decision_function", {})), np.float64)


_PREDICTIONS: dict[str, Callable[..., NDArray[np.float64]]] = {
    "shares": shares_of,
    "numbers": _numbers,
    "decisions": _decisions,
}
