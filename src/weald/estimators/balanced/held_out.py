"""Bags that each lack a part of the rows of every class, so that these can judge what their members say.

The bags of an easy ensemble have all rows of the rarest class: no row of it is out of bag.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Estimator, TableLike
from weald.estimators.bagging.any_members import OtherMembers, fit_others
from weald.estimators.balanced.class_rows import BalancedBags
from weald.estimators.balanced.prior_shift import PriorShift
from weald.estimators.shared.ensemble_options import BaggingOptions
from weald.random import Purpose, draw
from weald.resampling.calibration import FEWEST_ROWS, MOST_ROWS, ShareMap, fitted_map

#: members that are fitted to be judged, each on what another part of the rows leaves
N_PARTS = 5


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutBags(BalancedBags):
    """Bags like those of an ensemble; bag `b` has no row of part b."""

    part: NDArray[np.int64]  # (n_rows,), -1 for rows that count in none

    @classmethod
    def of(cls, bags: BalancedBags) -> HeldOutBags:
        """Parts with as many rows of each class, as far as that goes, by hashes of the rows' numbers."""
        words = draw(bags.seed, Purpose.CALIBRATION_ROWS, 1, np.arange(bags.n_rows, dtype=np.uint64))
        part = np.full(bags.n_rows, -1)
        rows = np.arange(bags.n_rows) if bags.used is None else bags.used
        for k in range(bags.n_classes):
            own = rows[bags.labels[rows] == k]
            part[own[np.argsort(words[own], kind="stable")]] = np.arange(len(own)) % N_PARTS
        return cls(**{each.name: getattr(bags, each.name) for each in fields(bags)}, part=part)

    def rows(self, bag: int) -> NDArray[np.int64]:
        """The rows of a bag, ascending: balanced among those of the other parts."""
        found = np.flatnonzero((self.part >= 0) & (self.part != bag))
        classes = self.labels[found]
        words = draw(self.seed, Purpose.BAG_CLASSES, N_PARTS + bag, np.arange(len(found), dtype=np.uint64))
        kept = self._n_kept_of(np.bincount(classes, minlength=self.n_classes))
        places = [self._kept(np.flatnonzero(classes == k), n, words) for k, n in enumerate(kept)]
        return np.sort(found[np.concatenate(places)])

    def judging(self, bag: int) -> NDArray[np.int64]:
        """Rows of part `bag`, at most so many of each class as are worth asking."""
        rows = np.flatnonzero(self.part == bag)
        most = MOST_ROWS // N_PARTS
        return np.sort(np.concatenate([rows[self.labels[rows] == k][:most] for k in range(self.n_classes)]))


def held_out_map(
    base: Estimator,
    X: TableLike,
    y: NDArray[Any],
    members: OtherMembers,
    bags: BalancedBags,
    options: BaggingOptions,
    params: Mapping[str, Any],
) -> ShareMap | None:
    """From the shares of members to probabilities, by further members and the rows that they did not see.

    None where bags have the class shares of the data, or a class has too few rows.
    """
    weights = bags.class_weight()
    counts = np.bincount(bags.labels if bags.used is None else bags.labels[bags.used], minlength=len(weights))
    shift = PriorShift.of(weights, bags.sizes(1))
    if not shift.changes or counts.min() < 2 * FEWEST_ROWS:
        return None
    apart = HeldOutBags.of(bags)
    fitted = fit_others(base, X, y, apart, range(N_PARTS), options.n_jobs, 0, params)
    judged = replace(members, fitted=fitted, columns=apart.columns_of_all(N_PARTS))
    shares = np.concatenate(list(judged.each(judged.predicting, X, options.n_jobs, apart.judging)))
    labels = bags.labels[np.concatenate([apart.judging(bag) for bag in range(N_PARTS)])]
    n_rows = weights * (counts.sum() / weights.sum())
    return fitted_map(shares, labels, n_rows, 0.5 / len(members))
