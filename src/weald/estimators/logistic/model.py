"""A fitted logistic regression, and what a model file keeps of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats, TableLike
from weald.data.matrix.matrix import MatrixPlan
from weald.engine.linear import linear_scores
from weald.errors import ModelFileError, ParameterError
from weald.estimators.svm.kernel.reading import TableReading
from weald.estimators.svm.kernel.saving import check_declared, labels_of
from weald.io.arrays import Shelf
from weald.io.saved_state import SavedMachine

if TYPE_CHECKING:
    from weald.estimators.logistic.regression import LogisticRegression

_NUMBERS = ("objective", "gradient")
_FACTS = {"plan", "has_gap"}


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
        plan, columns = model.reading.plan.state()
        arrays: dict[str, NDArray[Any]] = {f"plan.{name}": values for name, values in columns.items()}
        arrays |= {name: getattr(model, name) for name in ("coef", "intercept", *_NUMBERS, "n_iter")}
        arrays["converged"] = model.converged.astype(np.uint8)
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
        facts, shelf = state.facts, Shelf(state.arrays)
        if not set(facts) >= _FACTS or (set(facts) != _FACTS and not state.newer):
            raise ParameterError("The facts of a logistic regression are not complete, or there are others.")
        if type(facts["has_gap"]) is not bool:
            raise ParameterError("The facts of a logistic regression are not what they should be.")
        assert state.schema is not None
        assert labels is not None
        check_declared(state.schema, options.categorical_features)
        names = {name: name.removeprefix("plan.") for name in shelf.left() if name.startswith("plan.")}
        columns = {short: shelf.take(name, (None,)) for name, short in names.items()}
        plan = MatrixPlan.from_state(state.schema, facts["plan"], columns, newer=state.newer)
        n_lines = len(labels) if len(labels) > 2 else 1
        n_problems = n_lines if options.one_against_rest else 1
        model = LogisticModel(
            reading=TableReading.of(plan, options.categorical_features, None),
            coef=np.ascontiguousarray(shelf.floats("coef", (n_lines, plan.n_columns))),
            intercept=shelf.floats("intercept", (n_lines,)),
            objective=shelf.floats("objective", (n_problems,), finite=False),
            gap=_read_gap(shelf, n_problems, has_gap=facts["has_gap"]),
            gradient=shelf.floats("gradient", (n_problems,), finite=False),
            n_iter=shelf.integers("n_iter", n_problems, 0, 2**62),
            converged=shelf.integers("converged", n_problems, 0, 1).astype(np.bool_),
        )
        if shelf.left() and not state.newer:
            raise ModelFileError(f"The model file holds an array nobody asked for: {shelf.left()[0]!r:.80}.")
        estimator._set_fitted(model, labels)
        return cast("Self", estimator)


def _read_gap(shelf: Shelf, n_problems: int, *, has_gap: bool) -> Floats:
    return shelf.floats("gap", (n_problems,), finite=False) if has_gap else np.full(n_problems, np.nan)
