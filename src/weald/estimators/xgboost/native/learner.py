"""The model behind a `Booster`: any objective, and labels that stay numbers, as in xgboost's native API."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats, TableLike, TargetLike
from weald.boosting.links import apply_link
from weald.boosting.newton.custom import MatrixObjective
from weald.boosting.newton.loss_table import LOSSES
from weald.boosting.newton.watch import OwnMetric
from weald.boosting.ranking.groups import group_starts, query_row_weights
from weald.boosting.records import BoostTarget
from weald.data.target import read_target, read_weight
from weald.errors import DataTypeError, ParameterError
from weald.estimators.xgboost.base import BaseXGB, Data
from weald.estimators.xgboost.chosen import CHOSEN
from weald.estimators.xgboost.model import refuse_class_weight
from weald.estimators.xgboost.native.matrix import DMatrix, check_matrix
from weald.estimators.xgboost.native.quantile_matrix import QuantileDMatrix
from weald.estimators.xgboost.options import ALIASES, XGBOptions
from weald.estimators.xgboost.plan import ObjectiveLike, Plan, check_objective
from weald.estimators.xgboost.rows import Given
from weald.estimators.xgboost.training import Training
from weald.model.forest import Forest
from weald.pictures.trained_on import UNTOLD

DEFAULT_OBJECTIVE = "reg:squarederror"


@dataclass(frozen=True, slots=True)
class Prepared:
    """Rows that are ready to be boosted."""

    training: Training
    data: Data


class Learner(BaseXGB):
    """Boosted trees as a Booster has them; users meet it as `weald.Booster`."""

    _usual_objective: ClassVar[str] = DEFAULT_OBJECTIVE

    # ------------------------------------------------------------------ targets and objectives

    def _read_target(
        self, given: Given, n_rows: int, options: XGBOptions, known: tuple[NDArray[Any], ...] | None
    ) -> tuple[BoostTarget, tuple[NDArray[Any], ...] | None]:
        refuse_class_weight(options, "train")
        values = read_target(given.y, n_rows=n_rows, estimator="train")
        target = np.ascontiguousarray(values[:, 0] if values.shape[1] == 1 else values)
        ranks = str(options.objective).startswith("rank:")
        if given.group is None and not ranks:
            return BoostTarget(target, read_weight(given.sample_weight, n_rows=n_rows)), None
        if given.group is None:
            raise ParameterError(
                f"objective={options.objective!r} needs queries. Give DMatrix(..., qid=...), the query of "
                "each row; qid=np.zeros(n) if all rows are one query."
            )
        start = group_starts(n_rows, group=given.group, owner="train")
        weight: Any = given.sample_weight
        by_query = weight is not None and len(weight) != n_rows
        if ranks or by_query:
            return BoostTarget(target, query_row_weights(weight, start), start), None
        return BoostTarget(target, read_weight(weight, n_rows=n_rows), start), None

    def _set_weight(self, given: Given, n_rows: int, target: BoostTarget) -> NDArray[np.float64] | None:
        if target.group_start is None:
            return read_weight(given.sample_weight, n_rows=n_rows)
        return target.weight

    def _choose_objective(self, options: XGBOptions, data: Data) -> tuple[ObjectiveLike, int | None]:
        asked = options.objective or DEFAULT_OBJECTIVE
        check_objective(asked, "train")
        if not isinstance(asked, str):
            raise ParameterError("`objective` in params is a function. Give it as train(..., obj=function).")
        if asked.startswith("multi:"):
            if options.num_class is None:
                raise ParameterError(
                    f"objective={asked!r} needs `num_class`: the labels of a DMatrix are numbers, which do "
                    "not tell it. Add 'num_class': 3 to params for the classes 0, 1 and 2."
                )
            return asked, options.num_class
        return asked, 2 if asked.startswith("binary:") else None

    # ------------------------------------------------------------------ training

    def fit(self, X: TableLike, y: TargetLike) -> Self:
        """Train on a table; `train` on a DMatrix does more."""
        return self._fit(Given(X, y), [])

    def prepare(
        self,
        dtrain: DMatrix,
        evals: Sequence[tuple[DMatrix, str]] = (),
        *,
        obj: Callable[..., Any] | None = None,
        custom_metric: Callable[..., Any] | None = None,
        start: Learner | None = None,
    ) -> Prepared:
        """Read the rows and sets of a training and make them ready."""
        options = self._options()
        if options.early_stopping is not None:
            raise ParameterError(
                "`early_stopping` in params holds rows of a table out, which train does not do with a "
                "DMatrix. Give evals=[(dvalid, 'valid')] and early_stopping_rounds=10."
            )
        if isinstance(dtrain, QuantileDMatrix) and dtrain.max_bin is not None and options.max_bin is None:
            options = replace(options, max_bin=dtrain.max_bin)
        given = dtrain._given()
        data = self._read_training(given, options, start)
        plan = self._make_plan(options, data, dtrain.feature_weights)
        if obj is not None:
            plan = replace(plan, objective=_of_matrix(obj, dtrain, plan, options, data))
        names = [name for _, name in evals]
        sets = [matrix._given(f"evals[{i}]") for i, (matrix, _) in enumerate(evals)]
        watched = self._read_sets(sets, names, given, options, data)
        own = None
        if custom_metric is not None:
            matrices = {name: matrix for matrix, name in evals}
            own = _own_metric(custom_metric, matrices, plan, raw=obj is not None)
        forest = None if start is None else start.forest_
        return Prepared(Training(plan, data.rows, watched, forest, own_metric=own), data)

    def _finish(self, prepared: Prepared, trained: Any) -> None:
        """Take what a training brought."""
        self._set_trained(trained, prepared.data, self._learned(trained, prepared.training.plan, {}))

    # ------------------------------------------------------------------ copies

    @classmethod
    def of(cls, model: BaseXGB) -> Learner:
        """The model of a fitted estimator, without its labels."""
        kept = ("callbacks", "early_stopping", "early_stopping_rounds", "class_weight", "objective")
        params = {name: value for name, value in model._boosting_params().items() if name not in kept}
        params = {name: value for name, value in params.items() if name not in ("num_class", "num_target")}
        if not model.objective_.startswith("custom:"):
            params["objective"] = model.objective_
        if model.forest_.link == "softmax":
            params["num_class"] = model.forest_.n_outputs
        learner = cls(**params)
        learned = ("objective_", "tree_method_", "max_bin_", "n_outputs_", "_best", *CHOSEN, *UNTOLD)
        learner._set_fitted(
            model.forest_, model.schema_, None, {name: getattr(model, name) for name in learned}
        )
        return learner

    def with_forest(self, forest: Forest) -> Learner:
        """The same model with other trees."""
        other = copy.copy(self)
        rounds = int(forest.tree_round[-1]) + 1 if forest.n_trees else 0
        other.__dict__.update(forest_=forest, n_rounds_=rounds, _best=None)
        return other

    def set_native(self, params: Mapping[str, Any]) -> None:
        """Set parameters of which the latest counts, whatever name it has."""
        for name, value in params.items():
            name = "lambda_" if name == "lambda" else name
            first = ALIASES.get(name, name)
            for other, known in ALIASES.items():
                if known == first:
                    self.set_params(**{other: None})
            self.set_params(**{first: value})

    # ------------------------------------------------------------------ predictions

    def _n_used(self) -> int:
        return self.n_rounds_  # as in xgboost: the best round is asked for by iteration_range

    def predict(self, X: TableLike) -> Floats:
        """Predictions, as `Booster.inplace_predict` gives them."""
        return native_predictions(self._raw_scores(X), self.forest_.link, self.objective_)


#: messages name what the user has
Learner.__name__ = "Booster"


def native_predictions(raw: Floats, link: str, objective: str) -> Floats:
    """What xgboost's `Booster.predict` gives: probabilities, numbers, or of "multi:softmax" the class."""
    predicted = apply_link(link, np.ascontiguousarray(raw)).reshape(len(raw), -1)
    if objective == "multi:softmax":
        classes: Floats = np.argmax(predicted, axis=1).astype(np.float64)
        return classes
    return predicted[:, 0] if predicted.shape[1] == 1 else predicted


def read_evals(evals: object) -> list[tuple[DMatrix, str]]:
    """The sets to follow: pairs (DMatrix, name)."""
    way_out = 'evals must be a list of (DMatrix, name), such as evals=[(dtest, "test")]'
    if evals is None:
        return []
    if not isinstance(evals, list | tuple):
        raise DataTypeError(f"{way_out}; got {type(evals).__name__}.")
    found = []
    for i, entry in enumerate(evals):
        if not isinstance(entry, list | tuple) or len(entry) != 2 or not isinstance(entry[1], str):
            raise DataTypeError(f"{way_out}; entry {i} is {type(entry).__name__}.")
        found.append((check_matrix(entry[0], f"evals[{i}][0]"), entry[1]))
    return found


def _of_matrix(
    function: Callable[..., Any], matrix: DMatrix, plan: Plan, options: XGBOptions, data: Data
) -> MatrixObjective:
    """A function as objective; the one that is named, or the default, says what is predicted."""
    named = str(plan.objective)
    link = LOSSES[named].link if named in LOSSES else "identity"
    n_outputs = max(options.num_class or 1, data.n_targets)
    if named == "reg:quantileerror":
        n_outputs = np.asarray(options.quantile_alpha).size
        link = "identity" if n_outputs == 1 else link
    return MatrixObjective(function, matrix, named, link, n_outputs)


def _own_metric(
    function: Callable[..., Any], matrices: Mapping[str, DMatrix], plan: Plan, *, raw: bool
) -> OwnMetric:
    """A user's `f(predictions, matrix) -> (name, value)`; with an own objective it gets raw scores."""
    objective = plan.objective.named if isinstance(plan.objective, MatrixObjective) else str(plan.objective)

    def measure(name: str, scores: Floats, predictions: Floats) -> list[tuple[str, float]]:
        predicted = predictions
        if raw:
            predicted = scores[0] if len(scores) == 1 else scores.T
        elif objective == "multi:softmax":
            predicted = predictions.argmax(axis=1).astype(np.float64)
        return named_values(function, np.array(predicted), matrices[name])  # the function may write into it

    return measure


def named_values(function: Callable[..., Any], predicted: Floats, matrix: DMatrix) -> list[tuple[str, float]]:
    """What a user's metric says: a pair (name, value), or a list of such."""
    answer = function(predicted, matrix)
    pairs = answer if isinstance(answer, list) else [answer]
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2 or not isinstance(pair[0], str):
            raise DataTypeError(
                f"custom_metric must return a pair (name, value), or a list of such; got {pair!r:.80}."
            )
        if not isinstance(pair[1], Real) and np.ndim(pair[1]) != 0:
            raise DataTypeError(f"The metric {pair[0]!r} must be one number; got {type(pair[1]).__name__}.")
    return [(str(name), float(value)) for name, value in pairs]
