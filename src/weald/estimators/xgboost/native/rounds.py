"""Training a `Booster` a round at a time, and the metrics of rows in one line."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from weald.arrays import Floats
from weald.boosting.metrics.names import make_metrics
from weald.estimators.xgboost.native.learner import Learner, Prepared, named_values, read_evals
from weald.estimators.xgboost.native.matrix import DMatrix, check_matrix
from weald.estimators.xgboost.native.reading import BoosterReading


class BoosterTraining(BoosterReading):
    """One more round, and another."""

    _learner: Learner
    _ongoing: tuple[DMatrix, Prepared] | None  # the training that `update` goes on with

    def update(self, dtrain: DMatrix, iteration: int = 0, fobj: Callable[..., Any] | None = None) -> None:
        """Train one more round.

        Parameters
        ----------
        dtrain : DMatrix
            The rows.
        iteration : int, default=0
            Accepted: rounds are counted by the model.
        fobj : callable, default=None
            An objective `f(raw scores, dtrain) -> (grad, hess)`.
        """
        matrix = check_matrix(dtrain, "dtrain")
        if fobj is not None or self._ongoing is None or self._ongoing[0] is not matrix:
            self._ongoing = (matrix, self._prepared(matrix, fobj))
        prepared = self._ongoing[1]
        learner = copy.copy(self._learner)
        learner._finish(prepared, prepared.training.run(1))
        self._take(learner, matrix)
        if fobj is not None:
            self._ongoing = None

    def boost(
        self,
        dtrain: DMatrix,
        iteration: int = 0,
        grad: ArrayLike | None = None,
        hess: ArrayLike | None = None,
    ) -> None:
        """Train one more round on gradients and hessians of one's own.

        Parameters
        ----------
        dtrain : DMatrix
            The rows.
        iteration : int, default=0
            Accepted: rounds are counted by the model.
        grad, hess : array-like of shape (n_rows,) or (n_rows, n_outputs)
            The derivatives of the loss at the scores so far.
        """
        matrix = check_matrix(dtrain, "dtrain")
        if matrix._label is None:
            matrix = matrix._like(matrix._table)
            matrix.set_label(np.zeros(matrix.num_row()))

        def given(scores: Floats, rows: DMatrix) -> tuple[Any, Any]:
            return grad, hess

        self.update(matrix, iteration, given)

    def _prepared(self, matrix: DMatrix, fobj: Callable[..., Any] | None) -> Prepared:
        learner = copy.copy(self._learner)
        start = learner if "forest_" in vars(learner) else None
        return learner.prepare(matrix, obj=fobj, start=start)

    def _take(self, learner: Learner, matrix: DMatrix) -> None:
        self._learner = learner
        if self._types is None:
            self._types = matrix.feature_types

    def eval(self, data: DMatrix, name: str = "eval", iteration: int = 0) -> str:
        """The metrics of rows in one line.

        Parameters
        ----------
        data : DMatrix
            The rows, with their label.
        name : str, default="eval"
            What they are called.
        iteration : int, default=0
            The number in front.
        """
        return self.eval_set([(data, name)], iteration)

    def eval_set(
        self,
        evals: Sequence[tuple[DMatrix, str]],
        iteration: int = 0,
        feval: Callable[..., Any] | None = None,
        output_margin: bool = True,
    ) -> str:
        """The metrics of several sets in one line.

        Parameters
        ----------
        evals : list of (DMatrix, str)
            The sets and their names.
        iteration : int, default=0
            The number in front.
        feval : callable, default=None
            A metric `f(predictions, matrix) -> (name, value)` besides.
        output_margin : bool, default=True
            Whether it gets raw scores.
        """
        line = f"[{iteration}]"
        for matrix, name in read_evals(evals):
            for metric, value in self._measured(matrix):
                line += f"\t{name}-{metric}:{value:.17g}"
            if feval is not None:
                predicted = self.predict(matrix, output_margin=output_margin)
                for metric, value in named_values(feval, predicted, matrix):
                    line += f"\t{name}-{metric}:{value:f}"
        return line

    def _measured(self, matrix: DMatrix) -> list[tuple[str, float]]:
        learner = self._fitted()
        options = learner._options()
        target, _ = learner._read_target(matrix._given("data"), matrix.num_row(), options, None)
        plan_parameters = {
            name: getattr(options, name)
            for name in ("huber_slope", "quantile_alpha", "tweedie_variance_power", "ndcg_exp_gain")
        }
        metrics = make_metrics(
            options.eval_metric,
            objective_name=learner.objective_,
            n_outputs=learner.forest_.n_outputs,
            parameters=plan_parameters,
        )
        raw = self.predict(matrix, output_margin=True, strict_shape=True)
        predicted = learner._predictions(raw)
        predicted = predicted[:, 0] if predicted.shape[1] == 1 else predicted
        return [(metric.name, metric(predicted, target)) for metric in metrics]
