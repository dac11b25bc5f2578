"""A fitted linear machine, and what a model file keeps of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from weald.arrays import AnyEstimator, CategoricalFeatures, Floats, TableLike
from weald.data.matrix.matrix import MatrixPlan
from weald.engine.linear import linear_scores
from weald.errors import ModelFileError, ParameterError
from weald.estimators.svm.kernel.reading import TableReading
from weald.estimators.svm.kernel.saving import check_declared, labels_of
from weald.io.arrays import Shelf
from weald.io.saved_state import SavedMachine

if TYPE_CHECKING:
    from weald.estimators.svm.linear.base import BaseLinearMachine

_NUMBERS = ("primal", "dual")


@dataclass(frozen=True, slots=True, eq=False)
class LinearModel:
    """Weights and intercepts, one line per machine, and how tables become the columns they weigh."""

    reading: TableReading
    coef: Floats  # (n_lines, n_columns of the matrix)
    intercept: Floats
    primal: Floats  # one per problem: a line, or all of them together
    dual: Floats  # NaN where there is none
    n_iter: NDArray[np.int64]
    converged: NDArray[np.bool_]

    def scores(self, X: TableLike, owner: str, n_threads: int) -> Floats:
        """The values x · w + b: (n_rows, n_lines)."""
        matrix = self.reading.read(X, owner)
        return linear_scores(matrix, self.coef, self.intercept, n_threads=n_threads)


class SavedLinearMachine:
    """The parts of a fitted `LinearSVC` or `LinearSVR`."""

    def _saved_state(self) -> SavedMachine:
        own = cast("BaseLinearMachine", self)
        model: LinearModel = own._model_
        plan, arrays = lines_to_save(model, _NUMBERS)
        lacks = np.isnan(model.dual)
        arrays["dual"] = np.where(lacks, 0.0, model.dual)
        if lacks.any() and not lacks.all():
            arrays["no_dual"] = lacks.astype(np.uint8)
        classes = getattr(own, "classes_", None)
        return SavedMachine(
            params=own.get_params(deep=False),
            schema=model.reading.schema,
            classes=None if classes is None else (classes,),
            facts={"plan": plan, "has_dual": not lacks.any()},
            arrays=arrays,
        )

    @classmethod
    def _from_saved_state(cls, state: SavedMachine) -> Self:
        estimator = cast("type[BaseLinearMachine]", cls)(**state.params)
        options = estimator._checked_options()
        labels = labels_of(state, classifier=is_classifier(estimator))
        facts, shelf = state.facts, Shelf(state.arrays)
        reading = reading_of(state, shelf, options.categorical_features, flag="has_dual")
        plan = reading.plan
        n_classes = 0 if labels is None else len(labels)
        n_lines = n_classes if n_classes > 2 else 1
        together = getattr(options, "multi_class", "ovr") == "crammer_singer"
        n_problems = 1 if together else n_lines
        model = LinearModel(
            reading=reading,
            coef=np.ascontiguousarray(shelf.floats("coef", (n_lines, plan.n_columns))),
            intercept=shelf.floats("intercept", (n_lines,)),
            primal=shelf.floats("primal", (n_problems,), finite=False),
            dual=_read_dual(shelf, n_problems, has_dual=facts["has_dual"]),
            n_iter=shelf.integers("n_iter", n_problems, 0, 2**62),
            converged=shelf.integers("converged", n_problems, 0, 1).astype(np.bool_),
        )
        nothing_left(shelf, state)
        estimator._set_fitted(model, labels)
        return cast("Self", estimator)


def lines_to_save(
    model: AnyEstimator, numbers: tuple[str, ...]
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The facts of the plan, and the arrays of the plan and of lines of weights."""
    plan, columns = model.reading.plan.state()
    arrays: dict[str, NDArray[Any]] = {f"plan.{name}": values for name, values in columns.items()}
    arrays |= {name: getattr(model, name) for name in ("coef", "intercept", *numbers, "n_iter")}
    arrays["converged"] = model.converged.astype(np.uint8)
    return plan, arrays


def reading_of(
    state: SavedMachine, shelf: Shelf, declared: CategoricalFeatures, *, flag: str
) -> TableReading:
    """How tables become columns, from a file whose facts are the plan and one flag."""
    facts, known = state.facts, {"plan", flag}
    if not set(facts) >= known or (set(facts) != known and not state.newer):
        raise ParameterError("The facts of a machine are not complete, or there are others.")
    if type(facts[flag]) is not bool:
        raise ParameterError("The facts of a machine are not what they should be.")
    assert state.schema is not None
    check_declared(state.schema, declared)
    names = {name: name.removeprefix("plan.") for name in shelf.left() if name.startswith("plan.")}
    columns = {short: shelf.take(name, (None,)) for name, short in names.items()}
    plan = MatrixPlan.from_state(state.schema, facts["plan"], columns, newer=state.newer)
    return TableReading.of(plan, declared, None)


def nothing_left(shelf: Shelf, state: SavedMachine) -> None:
    """Refuse arrays that nobody asked for, but in a file of a newer format."""
    if shelf.left() and not state.newer:
        raise ModelFileError(f"The model file holds an array nobody asked for: {shelf.left()[0]!r:.80}.")


def _read_dual(shelf: Shelf, n_problems: int, *, has_dual: bool) -> Floats:
    """The dual objective of each problem: NaN where the solver has none, infinite beyond float64."""
    dual = shelf.floats("dual", (n_problems,), finite=False)
    if has_dual:
        return dual
    lacks = np.ones(n_problems, np.bool_)
    if "no_dual" in shelf:
        lacks = shelf.integers("no_dual", n_problems, 0, 1).astype(np.bool_)
    return np.where(lacks, np.nan, dual)
