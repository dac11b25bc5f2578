"""`XGBRanker`: boosted trees that put rows in order, under xgboost's names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from weald.arrays import ColumnLike, Floats, TableLike, TargetLike, WeightLike
from weald.boosting.metrics.names import default_metric, make_metric
from weald.boosting.ranking.groups import group_starts, query_row_weights
from weald.boosting.records import BoostTarget
from weald.data.frames.user_rows import without_column
from weald.data.table import Table
from weald.data.target import read_target
from weald.errors import DataError, ParameterError
from weald.estimators.xgboost.base import BaseXGB, Data
from weald.estimators.xgboost.checkpoints import read_keeping
from weald.estimators.xgboost.model import XGBModel, refuse_class_weight
from weald.estimators.xgboost.names import with_the_way
from weald.estimators.xgboost.options import ReadingOptions, XGBOptions, objective_parameters
from weald.estimators.xgboost.plan import ObjectiveLike, check_objective
from weald.estimators.xgboost.rows import Given, Rows, given_sets
from weald.rows.dask import is_dask

#: the column of a table that holds the queries
QUERIES = "qid"
OBJECTIVES = ("rank:ndcg", "rank:pairwise", "rank:map")


class XGBRanker(XGBModel):
    """Boosted trees that order the rows of each query.

    The objective is "rank:ndcg" unless another is given. Rows of one query stand together. Queries come as
    `qid`, as `group`, or as a column called "qid" in any table with names, which is no feature then: so
    scikit-learn's `cross_val_score` divides them with the rows.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from weald import XGBRanker
    >>> X, relevance = [[1.0], [2.0], [3.0]] * 4, [0, 1, 2] * 4
    >>> model = XGBRanker(n_estimators=3, min_child_weight=0).fit(X, relevance, group=[3, 3, 3, 3])
    >>> bool(model.predict([[3.0]])[0] > model.predict([[1.0]])[0])
    True
    """

    _usual_objective: ClassVar[str] = "rank:ndcg"

    @with_the_way
    def fit(
        self,
        X: TableLike,
        y: TargetLike,
        *,
        group: ColumnLike | None = None,
        qid: ColumnLike | None = None,
        sample_weight: WeightLike | None = None,
        base_margin: ColumnLike | None = None,
        eval_set: Sequence[tuple[TableLike, TargetLike]] | None = None,
        eval_group: Sequence[ColumnLike | None] | None = None,
        eval_qid: Sequence[ColumnLike | None] | None = None,
        verbose: bool | int | None = False,
        xgb_model: object = None,
        sample_weight_eval_set: Sequence[ColumnLike | None] | None = None,
        base_margin_eval_set: Sequence[ColumnLike | None] | None = None,
        feature_weights: ColumnLike | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_rounds: int | None = None,
        resume: bool = False,
        sort_groups: bool = False,
    ) -> Self:
        """Train.

        Parameters
        ----------
        X : table
            A pandas, polars or Arrow frame, a NumPy array, a SciPy sparse matrix or a list of rows. Missing
            values, text and categories are welcome. A column called "qid" holds the queries.
            Or rows in files: `weald.scan(…)`, a path or a store; `y`, `qid`, weights and the like are then
            names of their columns, and `tree_method` is "hist".
        y : array-like of shape (n_rows,)
            Relevances: 0 and up, more is better.
        group : array-like of shape (n_queries,), default=None
            How many rows each query has, in order.
        qid : array-like of shape (n_rows,), default=None
            The query of each row instead; rows of one query stand together. np.zeros(n_rows) makes all rows
            one query.
        sample_weight : array-like of shape (n_queries,) or (n_rows,), default=None
            Weights of queries; if one per row, the same within a query.
        base_margin : array-like of shape (n_rows,), default=None
            Raw scores to start from.
        eval_set : list of (X, y), default=None
            Sets whose metrics are followed; the last decides early stopping.
        eval_group, eval_qid : list, default=None
            `group` or `qid` of each set, unless it has a column "qid".
        verbose : bool, default=False
            Whether to show a progress bar.
        xgb_model : XGBRanker or path, default=None
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
        sort_groups : bool, default=False
            Of rows on Dask, whether the rows of a query are put together first, queries in the order in which
            they appear; else they stand together, or are refused.

        Returns
        -------
        self
            The fitted estimator.
        """
        sets = given_sets(eval_set, sample_weight_eval_set, base_margin_eval_set, eval_group, eval_qid)
        given = Given(X, y, sample_weight, base_margin, group, qid)
        if sort_groups:
            _check_sorting(X, type(self).__name__)
            given, sets = replace(given, sort_groups=True), [replace(e, sort_groups=True) for e in sets]
        return self._fit(
            given,
            sets,
            verbose=verbose,
            xgb_model=xgb_model,
            feature_weights=feature_weights,
            keeping=read_keeping(checkpoint, checkpoint_rounds, resume, type(self).__name__),
        )

    def _read_training(self, given: Given, options: XGBOptions, start: BaseXGB | None) -> Data:
        return super()._read_training(_with_queries(given), options, start)

    def _read_set(self, given: Given, options: XGBOptions, data: Data) -> Rows:
        return super()._read_set(_with_queries(given), options, data)

    def _aligned(
        self, X: TableLike, options: ReadingOptions | None = None, *, validate_features: bool = True
    ) -> Table:
        """Queries are not asked for, but may be in the table."""
        if QUERIES not in self.schema_.names:
            X, _ = without_column(X, QUERIES)
        return super()._aligned(X, options, validate_features=validate_features)

    def _read_target(
        self, given: Given, n_rows: int, options: XGBOptions, known: tuple[NDArray[Any], ...] | None
    ) -> tuple[BoostTarget, tuple[NDArray[Any], ...] | None]:
        owner = type(self).__name__
        refuse_class_weight(options, owner)
        values = read_target(given.y, n_rows=n_rows, estimator=owner)
        if values.shape[1] != 1:
            raise DataError(f"y of {owner} must be one relevance per row; it has {values.shape[1]} columns.")
        if given.qid is None and given.group is None:
            raise _no_queries(given.where, owner)
        start = group_starts(n_rows, qid=given.qid, group=given.group, owner=owner)
        weight = query_row_weights(given.sample_weight, start)
        return BoostTarget(np.ascontiguousarray(values[:, 0]), weight, start), None

    def _set_weight(self, given: Given, n_rows: int, target: BoostTarget) -> NDArray[np.float64] | None:
        assert target.group_start is not None
        return query_row_weights(given.sample_weight, target.group_start)

    def _choose_objective(self, options: XGBOptions, data: Data) -> tuple[ObjectiveLike, int | None]:
        owner, asked = type(self).__name__, options.objective
        check_objective(asked, owner)
        asked = self._usual_objective if asked is None else asked
        if not callable(asked) and asked not in OBJECTIVES:
            raise ParameterError(
                f"objective={asked!r} of {owner} is none for ranking; those are {', '.join(OBJECTIVES)}. Use "
                "XGBClassifier or XGBRegressor for others."
            )
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
        """Scores to order the rows of a query by; more is better.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.
        output_margin : bool, default=False
            Accepted: scores are raw scores.
        validate_features : bool, default=True
            Whether columns are matched by name; else by position.
        base_margin : array-like, default=None
            Raw scores to start from.
        iteration_range : (int, int), default=None
            The rounds [first, last); None for all, or those up to the best after early stopping.

        Returns
        -------
        ndarray of shape (n_rows,)
            Scores.
        """
        raw = self._raw_scores(
            X,
            validate_features=validate_features,
            base_margin=base_margin,
            iteration_range=iteration_range,
        )
        return _scores(raw)

    def staged_predict(self, X: TableLike) -> Iterator[NDArray[np.float64]]:
        """Scores after each round, up to those that `predict` uses.

        Parameters
        ----------
        X : table
            As in `fit`.

        Yields
        ------
        ndarray of shape (n_rows,)
            Scores.
        """
        for raw in self._staged_scores(X):
            yield _scores(raw)

    def score(
        self,
        X: TableLike,
        y: TargetLike,
        sample_weight: WeightLike | None = None,
        *,
        group: ColumnLike | None = None,
        qid: ColumnLike | None = None,
    ) -> float:
        """The first metric of `eval_metric`, by default the NDCG of the objective.

        Parameters
        ----------
        X : table
            As in `fit`.
        y : array-like of shape (n_rows,)
            Relevances.
        sample_weight : array-like of shape (n_queries,) or (n_rows,), default=None
            Weights of queries.
        group, qid : array-like, default=None
            Queries, as in `fit`; a column "qid" of X does as well.

        Returns
        -------
        float
            The mean over queries.
        """
        scores = self.predict(X)
        options = self._options()
        given = _with_queries(Given(X, y, sample_weight, None, group, qid))
        target, _ = self._read_target(given, len(scores), options, None)
        parameters = objective_parameters(options, self.objective_, 0)
        asked: Any = options.eval_metric
        first = asked[0] if isinstance(asked, list | tuple) and asked else asked
        metric = make_metric(
            first or default_metric(self.objective_, parameters),
            objective_name=self.objective_,
            n_outputs=1,
            parameters=parameters,
        )
        return float(metric(scores, target))


def _check_sorting(X: object, owner: str) -> None:
    if not is_dask(X):
        raise ParameterError(
            f"sort_groups=True of {owner} is for rows on Dask. Sort others before: order = np.argsort(qid, "
            "kind='stable'), then X[order], y[order], qid[order]."
        )


def _scores(raw: Floats) -> Floats:
    return raw[:, 0]


def _with_queries(given: Given) -> Given:
    """The rows with the queries that a column of their table holds."""
    X, found = without_column(given.X, QUERIES)
    if found is None:
        return given
    if given.qid is not None or given.group is not None:
        where = f"{given.where}: the" if given.where else "The"
        raise DataError(
            f"{where} table has a column {QUERIES!r}, which holds the queries, and they are given by "
            "themselves too. Give them once: drop the column, or rename it if it is a feature."
        )
    return replace(given, X=X, qid=found)


def _no_queries(where: str, owner: str) -> DataError:
    way = f"For {where} give eval_group or eval_qid, one entry for each set. " if where else ""
    return DataError(
        f"Either `group` or `qid` is required by {owner}, or a column {QUERIES!r} of the table: which rows "
        f"belong to one query? {way}If all rows are one query, say so: qid=np.zeros(n), with n "
        "the number of rows."
    )
