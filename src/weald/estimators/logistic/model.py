"""A fitted logistic regression, and what a model file keeps of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, cast

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats, TableLike
from weald.engine.linear import linear_scores
from weald.estimators.svm.kernel.reading import TableReading
from weald.estimators.svm.kernel.saving import labels_of
from weald.estimators.svm.linear.model import lines_to_save, nothing_left, reading_of
from weald.io.arrays import Shelf
from weald.io.saved_state import SavedMachine

if TYPE_CHECKING:
    from weald.estimators.logistic.regression import LogisticRegression


@dataclass(frozen=True, slots=True, eq=False)
class LogisticModel:
    """Weights and intercepts, one line per class (of two classes one), and how tables become columns."""

    reading: TableReading
    coef: Floats  # (n_lines, n_columns of the matrix)
    intercept: Floats
    objective: Floats  # one per problem: a line, or all of them together
    gap: Floats  # NaN without a penalty
    gradient: Floats
    n_iter: NDArray[np.int64]
    converged: NDArray[np.bool_]

    def scores(self, X: TableLike, owner: str, n_threads: int) -> Floats:
        """The values x · w + b: (n_rows, n_lines)."""
        matrix = self.reading.read(X, owner)
        return linear_scores(matrix, self.coef, self.intercept, n_threads=n_threads)

    def per_unit(self) -> tuple[Floats, Floats]:
        """Weights and intercepts for columns in the units of the table."""
        plan = self.reading.plan
        coef: Floats = self.coef / plan.divisor
        return coef, self.intercept - (coef * plan.centre).sum(axis=1)


class SavedLogistic:
    """The parts of a fitted `LogisticRegression`."""

    def _saved_state(self) -> SavedMachine:
        own = cast("LogisticRegression", self)
        model: LogisticModel = own._model_
        plan, arrays = lines_to_save(model, ("objective", "gradient"))
        has_gap = not np.isnan(model.gap).any()
        if has_gap:
            arrays["gap"] = model.gap
        return SavedMachine(
            params=own.get_params(deep=False),
            schema=model.reading.schema,
            classes=(own.classes_,),
            facts={"plan": plan, "has_gap": has_gap},
            arrays=arrays,
        )

    @classmethod
    def _from_saved_state(cls, state: SavedMachine) -> Self:
        estimator = cast("type[LogisticRegression]", cls)(**state.params)
        options = estimator._checked_options()
        labels = labels_of(state, classifier=True)
        assert labels is not None
        shelf = Shelf(state.arrays)
        reading = reading_of(state, shelf, options.categorical_features, flag="has_gap")
        n_lines = len(labels) if len(labels) > 2 else 1
        n_problems = n_lines if options.one_against_rest else 1
        model = LogisticModel(
            reading=reading,
            coef=np.ascontiguousarray(shelf.floats("coef", (n_lines, reading.plan.n_columns))),
            intercept=shelf.floats("intercept", (n_lines,)),
            objective=shelf.floats("objective", (n_problems,), finite=False),
            gap=_read_gap(shelf, n_problems, has_gap=state.facts["has_gap"]),
            gradient=shelf.floats("gradient", (n_problems,), finite=False),
            n_iter=shelf.integers("n_iter", n_problems, 0, 2**62),
            converged=shelf.integers("converged", n_problems, 0, 1).astype(np.bool_),
        )
        nothing_left(shelf, state)
        estimator._set_fitted(model, labels)
        return cast("Self", estimator)


def _read_gap(shelf: Shelf, n_problems: int, *, has_gap: bool) -> Floats:
    return shelf.floats("gap", (n_problems,), finite=False) if has_gap else np.full(n_problems, np.nan)
