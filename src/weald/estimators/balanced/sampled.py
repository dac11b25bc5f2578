"""Bags of bagging whose rows a sampler of the user's choice changes before a member learns from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import AnyEstimator, Estimator, TableLike
from weald.data.frames.user_rows import take
from weald.data.target import positions_among
from weald.errors import naming_member
from weald.estimators.bagging.any_members import fit_others
from weald.estimators.bagging.bags import MemberBags
from weald.estimators.shared.members import fit_member, in_parallel, seeded, showing


@dataclass(frozen=True, slots=True, eq=False)
class SampledBags(MemberBags):
    """Bags that a sampler changes."""

    sampler: Estimator
    classes: NDArray[Any]
    class_weights: NDArray[np.float64]  # what the rows of each class weigh that may be drawn
    #: how many rows of each class members learned from, member by member, as they are fitted
    learned: list[NDArray[np.int64]]

    def differences(self, other: MemberBags) -> list[str]:
        """What differs in how two sets of bags are drawn, seeds aside, in the users' words."""
        own = ("sampler", "classes", "class_weights", "learned")
        return [name for name in MemberBags.differences(self, other) if name not in own]


def fit_bags(
    template: Estimator,
    X: TableLike,
    y: NDArray[Any],
    bags: MemberBags,
    numbers: Sequence[int],
    n_jobs: int | None,
    verbose: int,
    params: Mapping[str, Any],
) -> list[Any]:
    """The fitted members of some bags, as `fit_others`; those of `SampledBags` after their sampler."""
    if not isinstance(bags, SampledBags):
        return fit_others(template, X, y, bags, numbers, n_jobs, verbose, params)
    work = ((template, X, y, bags, bag, params) for bag in numbers)
    fitted, learned = [], []
    with showing(len(numbers), verbose) as done:
        for member, counts in in_parallel(_fit_sampled, work, n_jobs):
            fitted.append(member)
            learned.append(counts)
            done()
    bags.learned.extend(learned)
    return fitted


def _fit_sampled(
    template: Estimator, X: TableLike, y: NDArray[Any], bags: SampledBags, bag: int, params: Mapping[str, Any]
) -> tuple[Any, NDArray[np.int64]]:
    """One member, and how many rows of each class it learned from."""
    table, labels = sampled_rows(X, y, bags, bag)
    with naming_member(f"The {type(template).__name__} of bag {bag}"):
        member = fit_member(seeded(template, bags.seed, bag), table, labels, **params)
    found, counts = np.unique(np.asarray(labels), return_counts=True)
    learned = np.zeros(len(bags.classes), np.int64)
    learned[positions_among(found, bags.classes)] = counts
    return member, learned


def sampled_rows(X: TableLike, y: NDArray[Any], bags: SampledBags, bag: int) -> tuple[Any, Any]:
    """What the sampler makes of the rows of a bag: a table and labels."""
    columns = bags.columns(bag).tolist() if bags.some_columns else None
    rows = bags.rows(bag)
    sampler: AnyEstimator = seeded(bags.sampler, bags.seed, bag)
    with naming_member(f"The {type(sampler).__name__} of bag {bag}"):
        return sampler.fit_resample(take(X, rows, columns), y[rows])  # type: ignore[no-any-return]
