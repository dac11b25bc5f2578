"""Out-of-bag judgement: each row is judged only by the members whose bags lack it (equation B5)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald.arrays import TableLike
from weald.data.table import Table
from weald.errors import DataError, ParameterError, outside
from weald.estimators.bagging.any_members import OtherMembers
from weald.estimators.bagging.bags import MemberBags
from weald.estimators.bagging.trees import TreeMembers
from weald.estimators.shared.ensemble_options import BaggingOptions
from weald.model.predict import raw_scores

#: rows that a warning names
_NAMED = 5


class OutOfBagMeans(NamedTuple):
    """The mean of what the members predict for the rows that their bags lack."""

    mean: NDArray[np.float64]  # (rows, width); NaN for a row that is in every bag
    n_votes: NDArray[np.int64]  # (rows,)


def check_oob(options: BaggingOptions, bags: MemberBags, owner: str) -> None:
    """Refuse an out-of-bag score where no bag lacks a row."""
    if options.oob_score and not bags.leaves_rows_out:
        raise ParameterError(
            f"`oob_score` of {owner} needs bags that lack some rows, and without bootstrap every bag has all "
            "rows. Use bootstrap=True, or a smaller `max_samples`."
        )


def judge_trees(members: TreeMembers, table: Table, bags: MemberBags, n_threads: int) -> OutOfBagMeans:
    """Of trees, on the aligned training table."""
    total, votes = np.zeros((bags.n_rows, members.forest.width)), np.zeros(bags.n_rows, np.int64)
    for bag in range(len(members)):
        out = bags.counts(bag) == 0
        predicted = raw_scores(members.forest, table, n_threads=n_threads, trees=(bag, bag + 1))
        total[out] += predicted[out]
        votes += out
    return _mean(total, votes)


def judge_others(
    members: OtherMembers, X: TableLike, bags: MemberBags, width: int, n_jobs: int | None
) -> OutOfBagMeans:
    """Of any estimators, on the training rows as the user gave them."""
    total, votes = np.zeros((bags.n_rows, width)), np.zeros(bags.n_rows, np.int64)

    def out_of_bag(bag: int) -> NDArray[np.int64]:
        return np.flatnonzero(bags.counts(bag) == 0)

    for bag, predicted in enumerate(members.each(members.predicting, X, n_jobs, out_of_bag)):
        if predicted is not None:
            out = out_of_bag(bag)
            total[out] += predicted
            votes[out] += 1
    return _mean(total, votes)


def _mean(total: NDArray[np.float64], votes: NDArray[np.int64]) -> OutOfBagMeans:
    mean = np.full_like(total, np.nan)
    some = votes > 0
    mean[some] = total[some] / votes[some, None]
    return OutOfBagMeans(mean, votes)


def warn_of_rows_in_every_bag(
    found: OutOfBagMeans, weight: NDArray[np.float64] | None, n_members: int, owner: str
) -> None:
    """Name the rows that no member can judge; raise if that is all that count."""
    lacking = np.flatnonzero(found.n_votes == 0)
    if not len(lacking):
        return
    n_rows = len(found.n_votes)
    if len(lacking) == (n_rows if weight is None else np.count_nonzero(weight)):
        raise DataError(
            f"No row is out of bag for any of the {n_members} members of {owner}, so there is no out-of-bag "
            "score. Use more members (n_estimators), or a smaller `max_samples`."
        )
    some = ", ".join(map(str, lacking[:_NAMED].tolist()))
    more = f" and {len(lacking) - _NAMED} more" if len(lacking) > _NAMED else ""
    warnings.warn(
        "Some inputs do not have OOB scores. This probably means too few estimators were used to compute any "
        f"reliable oob estimates. In every bag of the {n_members} members of {owner}, so not predicted "
        f"(NaN, not scored): {len(lacking)} of {n_rows} rows, {some}{more}. Use more members (n_estimators).",
        UserWarning,
        stacklevel=outside(),
    )


def score(
    metric: bool | Callable[..., float],
    truth: NDArray[Any],
    predicted: NDArray[Any],
    weight: NDArray[np.float64] | None,
    default: Callable[..., float],
) -> float:
    """The out-of-bag score: of a metric of the user's, or by default one that minds the weights."""
    if callable(metric):
        return metric(truth, predicted)
    return float(default(truth, predicted, sample_weight=weight))
