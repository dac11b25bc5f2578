"""Ensembles whose members each saw a bag of rows: what single members say, and which rows they lack."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import AnyEstimator, Estimator, TableLike
from weald.data.frames.user_rows import outline, take
from weald.data.table import Table
from weald.engine import thread_count
from weald.errors import DataError, ParameterError
from weald.estimators.bagging.base import BaseBagging
from weald.estimators.bagging.trees import TreeMembers, shares_codes
from weald.estimators.forest.base import BaseForest
from weald.model.forest import Forest
from weald.model.read import read_aligned
from weald.uncertainty.conformal import in_stretches
from weald.uncertainty.trees import CELLS, Drawn, TrainingRows, row_blocks, tree_values

#: a spread is never taken for less than this share of the standard deviation of all leaves
_LEAST_SPREAD = 0.01


def is_bagged(estimator: Estimator) -> bool:
    """Whether an estimator is an ensemble of weald whose members have bags."""
    return isinstance(estimator, BaseForest | BaseBagging)


def check_draws(estimator: AnyEstimator, owner: str) -> None:
    """Refuse the jackknife+ of an ensemble whose every member sees every row."""
    if not estimator.bootstrap and estimator.max_samples in (None, 1.0):
        kind = type(estimator).__name__
        raise ParameterError(
            f"method='jackknife+' of {owner} judges rows by the members of {kind} that did not see them, and "
            f"without bootstrap all of them see all rows. Use {kind}(bootstrap=True), or method='cv+'."
        )


@dataclass(frozen=True, slots=True, eq=False)
class Bagged:
    """A fitted forest or bagging."""

    model: AnyEstimator

    @property
    def forest(self) -> Forest | None:
        """The members, if they are trees of one forest."""
        if isinstance(self.model, BaseForest):
            return self.model.forest_
        members = self.model._members
        return members.forest if isinstance(members, TreeMembers) else None

    @property
    def n_members(self) -> int:
        """How many members there are."""
        return len(self.model)

    @property
    def width(self) -> int:
        """How many numbers a member says of a row."""
        classes = getattr(self.model, "classes_", None)
        return 1 if classes is None else len(classes)

    @property
    def seed(self) -> int:
        """What the bags were drawn from."""
        model = self.model
        return int(model.bags_.seed if isinstance(model, BaseForest) else model._members.seed)

    def counts(self) -> Iterator[NDArray[Any]]:
        """How often each bag has each row of training, bag after bag."""
        bags = self._bags()
        return (bags.counts(bag) for bag in range(self.n_members))

    def drawn_from(self) -> NDArray[np.int64]:
        """The rows that bags were drawn from: those of positive weight."""
        bags = self._bags()
        if not isinstance(self.model, BaseForest):
            return np.arange(bags.n_rows) if bags.used is None else bags.used
        return Drawn(bags, self.n_members, bags.present).rows

    def check_rows(self, X: TableLike, owner: str) -> None:
        """Refuse another table than that of the fit, as far as it can be told."""
        n_rows, n_fitted = outline(X).n_rows, self._bags().n_rows
        if n_rows != n_fitted:
            raise DataError(
                f"method='jackknife+' of {owner} calibrates a fitted ensemble by the rows of its own fit, of "
                f"which there were {n_fitted:,}; got {n_rows:,}. Give that table, rows in the same order, or "
                "use method='split' for other rows."
            )
        if isinstance(self.model, BaseForest):
            table, n_threads = self._read(X)
            drawn = Drawn(self.model.bags_, self.n_members, self.model.bags_.present)
            TrainingRows(drawn, table, np.zeros((n_rows, 1)), None).check(self.model.forest_, n_threads)

    def values(self, X: TableLike, together: int = CELLS) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """What every member says of every row, (members, rows, width), some rows at a time."""
        forest = self.forest
        size = self.n_members * self.width
        if forest is not None:
            table, n_threads = self._read(X)
            cells = min(CELLS, together * size)
            for places, part in row_blocks(forest, table, n_threads=n_threads, cells=cells):
                yield places, tree_values(forest, part, n_threads=n_threads)
            return
        members, n_jobs = self.model._members, self.model._checked_options().n_jobs
        X = members.read(X, type(self.model).__name__)
        for places in in_stretches(outline(X).n_rows, min(together, CELLS // size)):
            part = take(X, np.arange(places.start, places.stop))
            yield places, np.stack(list(members.each(members.predicting, part, n_jobs)))

    def spread(self, X: TableLike) -> NDArray[np.float64]:
        """The standard deviation of the trees' numbers for each row, and a little: (rows,)."""
        parts = [values[:, :, 0].std(axis=0) for _, values in self.values(X)]
        return np.concatenate(parts) + self.least_spread

    @property
    def least_spread(self) -> float:
        """What is added to every spread, so that trees that agree by chance promise no certainty."""
        forest = self.forest
        assert forest is not None
        return _LEAST_SPREAD * float(np.std(forest.value, dtype=np.float64)) or 1.0

    def _read(self, X: TableLike) -> tuple[Table, int]:
        """A table as the trees read it, and the threads that look rows up."""
        model = self.model
        if isinstance(model, BaseForest):
            return model._read(X)
        members: TreeMembers = model._members
        declared = members.template.categorical_features
        table = read_aligned(X, members.schema, declared=declared, owner=type(model).__name__)
        return table, thread_count(model._checked_options().n_jobs)

    def _bags(self) -> Any:
        bags = self.model.bags_ if isinstance(self.model, BaseForest) else self.model._bags
        if bags is None:
            raise DataError(
                f"This {type(self.model).__name__} comes from a model file, which does not keep how its bags "
                "were drawn. Fit it anew."
            )
        return bags


def check_spread(estimator: Estimator, owner: str) -> None:
    """Refuse to scale by the spread of trees where there are none."""
    trees = isinstance(estimator, BaseForest)
    if isinstance(estimator, BaseBagging):
        trees = estimator.estimator is None or shares_codes(estimator.estimator)
    if not trees:
        raise ParameterError(
            f"conformity_score='scaled' of {owner} divides by the spread of a forest's trees, and "
            f"{type(estimator).__name__} is no forest or bagging of weald's trees. Use 'absolute', or "
            "method='cqr' with quantiles."
        )
