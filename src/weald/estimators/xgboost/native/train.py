"""`weald.train` and `weald.cv`: xgboost's functions, on tables or on DMatrix objects."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

from weald.arrays import ColumnLike, Folds, TableLike, TargetLike, WeightLike
from weald.errors import ParameterError
from weald.estimators.xgboost.native.arguments import (
    Params,
    as_frame,
    estimator_of,
    is_matrix,
    named_sets,
    place,
    refuse_rows,
    with_defaults,
)
from weald.estimators.xgboost.native.cross_validation import CVResult, cross_validate
from weald.estimators.xgboost.native.matrix import DMatrix
from weald.estimators.xgboost.native.matrix_training import Asked, cv_matrix, train_matrix
from weald.estimators.xgboost.rows import Given, given_sets
from weald.estimators.xgboost.so_far import SoFar
from weald.parameters import Whole
from weald.progress import fold_lines

if TYPE_CHECKING:
    import pandas

    from weald.estimators.xgboost.model import XGBModel
    from weald.estimators.xgboost.native.booster import Booster


def train(
    params: Params,
    X: TableLike | None = None,
    *by_place: object,
    dtrain: DMatrix | None = None,
    y: TargetLike | None = None,
    num_boost_round: int | None = None,
    evals: Sequence[object] | None = None,
    obj: Callable[..., Any] | None = None,
    custom_metric: Callable[..., Any] | None = None,
    maximize: bool | None = None,
    early_stopping_rounds: int | None = None,
    evals_result: dict[str, dict[str, list[float]]] | None = None,
    verbose_eval: bool | int | None = False,
    xgb_model: object = None,
    callbacks: Sequence[object] | None = None,
    sample_weight: WeightLike | None = None,
    base_margin: ColumnLike | None = None,
    feature_weights: ColumnLike | None = None,
    group: ColumnLike | None = None,
    qid: ColumnLike | None = None,
    sample_weight_eval_set: Sequence[ColumnLike | None] | None = None,
    base_margin_eval_set: Sequence[ColumnLike | None] | None = None,
    eval_group: Sequence[ColumnLike | None] | None = None,
    eval_qid: Sequence[ColumnLike | None] | None = None,
) -> XGBModel | Booster:
    """Train a booster by a dict of parameters: `train(params, X, y, 100)` or `train(params, dtrain, 100)`.

    Parameters
    ----------
    params : mapping, or list of pairs
        xgboost's parameters, native names (`eta`, `lambda`, …) or those of `XGBClassifier`. The objective
        decides what is returned; without one it is an `XGBRegressor`.
    X, y : table and target
        As in `XGBClassifier.fit`.
    dtrain : DMatrix
        Table and target in one, in the place of `X` and `y`: labels are numbers then, and a `Booster` comes
        back. What belongs to the rows (weights, margins, queries) is the matrix's.
    num_boost_round : int, default=10
        How many rounds.
    evals : list of (X, y, name) or (X, y), default=None
        Sets whose metrics are followed; the last decides early stopping. In the form ((X, y), name) as well,
        and (DMatrix, name) with `dtrain`.
    obj, custom_metric : callable, default=None
        A custom objective and a custom metric, as `objective` and `eval_metric` of the estimators. With
        `dtrain` they are xgboost's: `obj(raw scores, dtrain)` gives gradients and hessians,
        `custom_metric(predictions, matrix)` a name and a value; with `obj` predictions are raw scores.
    maximize : bool, default=None
        For early stopping: whether more is better; None to go by the metric.
    early_stopping_rounds : int, default=None
        Stop after so many rounds without a better metric on the last set.
    evals_result : dict, default=None
        Filled with the learning curves.
    verbose_eval : bool, default=False
        Whether to show a progress bar; with `dtrain` whether, or every how many rounds, to print the metrics.
    xgb_model : estimator, Booster or path, default=None
        A model to go on from.
    callbacks : list, default=None
        As the estimators'.
    sample_weight, base_margin, feature_weights : array-like, default=None
        As in `XGBClassifier.fit`.
    group, qid : array-like, default=None
        Queries, for a ranking objective.
    sample_weight_eval_set, base_margin_eval_set, eval_group, eval_qid : list, default=None
        The same of each set of `evals`.

    Returns
    -------
    XGBClassifier, XGBRegressor, XGBRanker or Booster
        Fitted; a classifier predicts labels, the Booster of a DMatrix as xgboost's does.

    Examples
    --------
    >>> import weald
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]] * 4, [0, 0, 1, 1] * 4
    >>> model = weald.train({"objective": "binary:logistic"}, X, y)
    >>> model.predict([[1.0], [4.0]]).tolist()
    [0, 1]
    """
    placed: dict[str, Any] = {"y": y, "num_boost_round": num_boost_round, "evals": evals, "obj": obj}
    table = place(X, dtrain, by_place, placed, "train", of_matrix=("num_boost_round", "evals", "obj"))
    y, evals, obj = placed["y"], placed["evals"], placed["obj"]
    n_rounds = 10 if placed["num_boost_round"] is None else placed["num_boost_round"]
    own = {
        "sample_weight": sample_weight,
        "base_margin": base_margin,
        "feature_weights": feature_weights,
        "group": group,
        "qid": qid,
        "sample_weight_eval_set": sample_weight_eval_set,
        "base_margin_eval_set": base_margin_eval_set,
        "eval_group": eval_group,
        "eval_qid": eval_qid,
    }
    if is_matrix(table):
        refuse_rows(own, "train")
        asked = Asked(
            n_rounds=n_rounds,
            obj=obj,
            custom_metric=custom_metric,
            maximize=maximize,
            early_stopping_rounds=early_stopping_rounds,
            callbacks=callbacks,
            verbose_eval=verbose_eval,
        )
        return train_matrix(params, table, asked, evals=evals, evals_result=evals_result, xgb_model=xgb_model)
    model = estimator_of(params, n_rounds, obj, custom_metric, early_stopping_rounds, callbacks)
    given = Given(table, y, sample_weight, base_margin, group, qid)
    pairs, names = named_sets(evals)
    sets = given_sets(
        pairs, sample_weight_eval_set, base_margin_eval_set, eval_group, eval_qid, where="evals"
    )
    model._fit(
        given,
        sets,
        names=names,
        verbose=verbose_eval,
        xgb_model=xgb_model,
        feature_weights=feature_weights,
        maximize=maximize,
    )
    if evals_result is not None:
        evals_result.clear()
        evals_result.update(getattr(model, "evals_result_", {}))
    return model


def cv(
    params: Params,
    X: TableLike | None = None,
    *by_place: object,
    dtrain: DMatrix | None = None,
    y: TargetLike | None = None,
    num_boost_round: int | None = None,
    nfold: int | None = None,
    stratified: bool | None = None,
    folds: Folds | None = None,
    metrics: str | Collection[str] = (),
    obj: Callable[..., Any] | None = None,
    custom_metric: Callable[..., Any] | None = None,
    maximize: bool | None = None,
    early_stopping_rounds: int | None = None,
    fpreproc: Callable[..., Any] | None = None,
    as_pandas: bool = True,
    verbose_eval: bool | int | None = False,
    show_stdv: bool = True,
    seed: int = 0,
    callbacks: Sequence[object] | None = None,
    shuffle: bool = True,
    sample_weight: WeightLike | None = None,
    base_margin: ColumnLike | None = None,
    feature_weights: ColumnLike | None = None,
    group: ColumnLike | None = None,
    qid: ColumnLike | None = None,
) -> pandas.DataFrame | dict[str, list[float]]:
    """Cross-validate a booster, round by round.

    Parameters
    ----------
    params, X, y, dtrain, num_boost_round, obj, custom_metric, feature_weights
        As in `train`.
    nfold : int, default=3
        How many folds, drawn by `seed`; of a ranking whole queries.
    stratified : bool, default=None
        Whether every fold gets its share of each class; None for classifiers only, of a DMatrix never.
    folds : splitter or list of (train, test), default=None
        Folds of your own instead.
    metrics : str, or list or set of str, default=()
        What to measure, if `params` has no `eval_metric`.
    maximize : bool, default=None
        Whether more is better; None to go by the metric.
    early_stopping_rounds : int, default=None
        Stop after so many rounds without a better mean of the last metric; the table then ends at the best
        round.
    fpreproc : callable, default=None
        With `dtrain`: `fpreproc(dtrain, dtest, params)` gives those of a fold, changed.
    as_pandas : bool, default=True
        Whether to return a DataFrame if pandas is installed; else a dict of columns.
    verbose_eval : bool or int, default=False
        Whether to show the metrics, a line per round; 10 for the first round and every 10th after it. The
        lines go to stderr, as progress bars do.
    show_stdv : bool, default=True
        Whether these lines have the standard deviations too; the table always has them.
    seed : int, default=0
        What the folds and the training start from, unless `params` has a seed.
    callbacks : list, default=None
        As the estimators', but for all folds at once: `model` has `n_rounds` and `folds`, the models of each
        fold to read, and `evals_log` has pairs (mean, standard deviation). A round of every fold is trained
        at a time then, which takes longer.
    shuffle : bool, default=True
        Whether the rows (or queries) of each fold are drawn; else they follow one another.
    sample_weight, base_margin, group, qid : array-like, default=None
        As in `train`.

    Returns
    -------
    DataFrame or dict
        A row per round: "train-rmse-mean", "train-rmse-std", "test-rmse-mean", "test-rmse-std" and so on.

    Examples
    --------
    >>> import weald
    >>> X, y = [[0.0], [1.0]] * 20, [0, 1] * 20
    >>> found = weald.cv({"objective": "binary:logistic"}, X, y, 5, nfold=4)
    >>> len(found), "test-logloss-mean" in found
    (5, True)
    """
    placed: dict[str, Any] = {"y": y, "num_boost_round": num_boost_round, "nfold": nfold}
    table = place(X, dtrain, by_place, placed, "cv", of_matrix=("num_boost_round", "nfold"))
    y = placed["y"]
    n_rounds = 10 if placed["num_boost_round"] is None else placed["num_boost_round"]
    nfold = 3 if placed["nfold"] is None else placed["nfold"]
    if folds is None and not Whole(2).admits(nfold):
        raise ParameterError(f"`nfold` of cv must be a whole number of at least 2; got {nfold!r}. Use 5.")
    if not isinstance(shuffle, bool):
        raise ParameterError(f"`shuffle` of cv must be True or False; got {shuffle!r}.")
    own = {
        "sample_weight": sample_weight,
        "base_margin": base_margin,
        "feature_weights": feature_weights,
        "group": group,
        "qid": qid,
    }

    asked = Asked(
        n_rounds=n_rounds,
        obj=obj,
        custom_metric=custom_metric,
        maximize=maximize,
        early_stopping_rounds=early_stopping_rounds,
        callbacks=callbacks,
        verbose_eval=verbose_eval,
    )
    folding: dict[str, Any] = {"nfold": nfold, "folds": folds, "shuffle": shuffle, "show_stdv": show_stdv}
    if is_matrix(table):
        refuse_rows(own, "cv")
        parts = folding | {"stratified": bool(stratified), "metrics": metrics, "seed": seed}
        result = cv_matrix(params, table, asked, fpreproc=fpreproc, **parts)
    else:
        if fpreproc is not None:
            raise ParameterError("fpreproc of cv takes DMatrix objects. Use cv(params, DMatrix(X, y), ...).")
        params = with_defaults(params, {"eval_metric": metrics or None, "random_state": seed})
        given = Given(table, y, sample_weight, base_margin, group, qid)
        result = _cv_table(params, given, asked, feature_weights, stratified=stratified, **folding)
    return as_frame(result.table) if as_pandas else result.table


def _cv_table(
    params: Params,
    given: Given,
    asked: Asked,
    feature_weights: ColumnLike | None,
    *,
    nfold: int,
    folds: Folds | None,
    stratified: bool | None,
    shuffle: bool,
    show_stdv: bool,
) -> CVResult:
    """Folds of rows that the scikit-learn classes read."""
    model = estimator_of(
        params, asked.n_rounds, asked.obj, asked.custom_metric, asked.early_stopping_rounds, asked.callbacks
    )
    options = model._options()
    if options.early_stopping is not None:
        raise ParameterError(
            "`early_stopping` in params holds rows out, which the folds of cv do already. Use "
            "early_stopping_rounds=10 instead."
        )
    data = model._read_training(given, options, None)
    plan = model._make_plan(options, data, feature_weights)
    by_class = data.classes is not None if stratified is None else stratified
    divide: tuple[str, Folds] = ("nfold", nfold) if folds is None else ("folds", folds)
    parts = model._folds(
        divide[1], given.X, data, plan, stratified=by_class, name=divide[0], owner="cv", shuffle=shuffle
    )
    return cross_validate(
        plan,
        parts,
        wait=options.early_stopping_rounds,
        maximize=asked.maximize,
        callbacks=options.callbacks,
        lines=fold_lines(asked.verbose_eval, plan.boost.n_rounds, deviations=show_stdv),
        predict=SoFar(model, data, plan, {}).predict,
    )
