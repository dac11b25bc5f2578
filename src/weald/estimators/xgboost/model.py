"""`XGBModel`: boosted trees for numbers by any objective, and the class of all other `XGB*` estimators."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from weald.arrays import ColumnLike, Floats, TableLike, TargetLike, WeightLike
from weald.boosting.records import BoostTarget
from weald.data.target import read_target, read_weight
from weald.errors import ParameterError
from weald.estimators.xgboost.base import BaseXGB, Data
from weald.estimators.xgboost.checkpoints import read_keeping
from weald.estimators.xgboost.names import with_the_way
from weald.estimators.xgboost.options import XGBOptions
from weald.estimators.xgboost.plan import ObjectiveLike, check_objective
from weald.estimators.xgboost.rows import Given, given_sets


class XGBModel(BaseXGB):
    """Boosted trees by any objective for numbers; the class that all `XGB*` estimators are of.

    It predicts what the objective does: numbers, or with "binary:logistic" and a target of 0 and 1
    probabilities. scikit-learn takes it for neither a classifier nor a regressor, and it has no `score`: use
    `XGBRegressor`, `XGBClassifier` or `XGBRanker` unless you mean any of them.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from weald import XGBModel, XGBRegressor
    >>> isinstance(XGBRegressor(), XGBModel)
    True
    >>> model = XGBModel(objective="binary:logistic", n_estimators=1)
    >>> model.fit([[0.0], [1.0]] * 8, [0, 1] * 8).predict([[0.0], [1.0]]).round(2).tolist()
    [0.4, 0.6]
    """

    _usual_objective: ClassVar[str] = "reg:squarederror"
    _trains_from_files: ClassVar[bool] = True

    @with_the_way
    def fit(
        self,
        X: TableLike,
        y: TargetLike,
        *,
        sample_weight: WeightLike | None = None,
        base_margin: ColumnLike | None = None,
        eval_set: Sequence[tuple[TableLike, TargetLike]] | None = None,
        verbose: bool | int | None = False,
        xgb_model: object = None,
        sample_weight_eval_set: Sequence[ColumnLike | None] | None = None,
        base_margin_eval_set: Sequence[ColumnLike | None] | None = None,
        feature_weights: ColumnLike | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_rounds: int | None = None,
        resume: bool = False,
    ) -> Self:
        """Train.

        Parameters
        ----------
        X : table
            A pandas, polars or Arrow frame, a NumPy array, a SciPy sparse matrix or a list of rows. Missing
            values, text and categories are welcome. Or rows in files: `weald.scan(…)`, a path or a
            store; `y`, weights and the like are then names of their columns, and `tree_method` is "hist".
        y : array-like of shape (n_rows,) or (n_rows, n_outputs)
            Finite numbers.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights; a row of weight 0 counts as absent.
        base_margin : array-like of shape (n_rows,) or (n_rows, n_outputs), default=None
            Raw scores to start from instead of the base score.
        eval_set : list of (X, y), default=None
            Sets whose metrics are followed; the last decides early stopping.
        verbose : bool, default=False
            Whether to show a progress bar.
        xgb_model : estimator of the same class, or path, default=None
            A model to go on from.
        sample_weight_eval_set, base_margin_eval_set : list, default=None
            Weights and margins of the sets.
        feature_weights : array-like of shape (n_columns,), default=None
            As the constructor's.
        checkpoint : str or path-like, default=None
            A file to which the model is written while it grows; see `resume`.
        checkpoint_rounds : int, default=None
            Every how many rounds; None means 10. The last round is written too.
        resume : bool, default=False
            Whether to go on from the rounds of `checkpoint`, to the model that a fit without a stop gives.
            Without the file the fit begins; one of other rows or parameters is refused.

        Returns
        -------
        self
            The fitted estimator.
        """
        sets = given_sets(eval_set, sample_weight_eval_set, base_margin_eval_set)
        given = Given(X, y, sample_weight, base_margin)
        return self._fit(
            given,
            sets,
            verbose=verbose,
            xgb_model=xgb_model,
            feature_weights=feature_weights,
            keeping=read_keeping(checkpoint, checkpoint_rounds, resume, type(self).__name__),
        )

    def _read_target(
        self, given: Given, n_rows: int, options: XGBOptions, known: tuple[NDArray[Any], ...] | None
    ) -> tuple[BoostTarget, tuple[NDArray[Any], ...] | None]:
        owner = type(self).__name__
        refuse_class_weight(options, owner)
        weight = read_weight(given.sample_weight, n_rows=n_rows)
        values = read_target(given.y, n_rows=n_rows, estimator=owner)
        return BoostTarget(
            np.ascontiguousarray(values[:, 0] if values.shape[1] == 1 else values), weight
        ), None

    def _choose_objective(self, options: XGBOptions, data: Data) -> tuple[ObjectiveLike, int | None]:
        owner, asked = type(self).__name__, options.objective
        check_objective(asked, owner)
        if asked is None:
            asked = self._usual_objective
        if isinstance(asked, str) and asked.startswith(("multi:", "rank:")):
            other = "XGBRanker" if asked.startswith("rank:") else "XGBClassifier"
            raise ParameterError(f"objective={asked!r} of {owner} is none for numbers. Use {other}.")
        return asked, None

    @with_the_way
    def predict(
        self,
        X: TableLike,
        *,
        output_margin: bool = False,
        validate_features: bool = True,
        base_margin: ColumnLike | None = None,
        iteration_range: tuple[int, int] | None = None,
    ) -> NDArray[np.float64]:
        """The predicted numbers.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.
        output_margin : bool, default=False
            Whether to return raw scores instead.
        validate_features : bool, default=True
            Whether columns are matched by name; else by position.
        base_margin : array-like, default=None
            Raw scores to start from instead of the base score.
        iteration_range : (int, int), default=None
            The rounds [first, last); None for all, or those up to the best after early stopping.

        Returns
        -------
        ndarray of shape (n_rows,), (n_rows, n_outputs_) or (n_rows, n_quantiles)
            Predictions.
        """
        raw = self._raw_scores(
            X,
            validate_features=validate_features,
            base_margin=base_margin,
            iteration_range=iteration_range,
        )
        return _one_column(raw) if output_margin else _one_column(self._predictions(raw))

    def staged_predict(self, X: TableLike) -> Iterator[NDArray[np.float64]]:
        """Predictions after each round, up to those that `predict` uses.

        Parameters
        ----------
        X : table
            As in `fit`.

        Yields
        ------
        ndarray of shape (n_rows,) or (n_rows, n_outputs_)
            Predictions.
        """
        for raw in self._staged_scores(X):
            yield _one_column(self._predictions(raw))


def _one_column(values: Floats) -> Floats:
    return values[:, 0] if values.shape[1] == 1 else values


def refuse_class_weight(options: XGBOptions, owner: str) -> None:
    """Only labels have classes."""
    if options.class_weight is not None:
        raise ParameterError(
            f"`class_weight` of {owner} must be None: there are no classes. Use sample_weight."
        )
