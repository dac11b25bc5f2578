"""Training and cross-validation of a DMatrix: what `weald.train` and `weald.cv` do with one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import AnyEstimator, Folds
from weald.boosting.monitors import EvaluationMonitor
from weald.boosting.stopping import EarlyStopping
from weald.errors import DataError, DataTypeError, ParameterError
from weald.estimators.shared.folds import folds as fold_weights
from weald.estimators.xgboost.base import BaseXGB
from weald.estimators.xgboost.native.arguments import Params, by_name, give_once, listed
from weald.estimators.xgboost.native.booster import Booster
from weald.estimators.xgboost.native.cross_validation import TEST, TRAIN, CVResult, train_folds
from weald.estimators.xgboost.native.learner import Learner, Prepared, read_evals
from weald.estimators.xgboost.native.matrix import DMatrix
from weald.estimators.xgboost.options import seed_of
from weald.estimators.xgboost.stopping import check_waiting
from weald.model.forest import Forest


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What `train` and `cv` are asked besides the parameters."""

    n_rounds: int
    obj: Callable[..., Any] | None = None
    custom_metric: Callable[..., Any] | None = None
    maximize: bool | None = None
    early_stopping_rounds: int | None = None
    callbacks: Sequence[Any] | None = None
    verbose_eval: bool | int | None = False


def train_matrix(
    params: Params,
    dtrain: DMatrix,
    asked: Asked,
    *,
    evals: Sequence[object] | None = None,
    evals_result: dict[str, Any] | None = None,
    xgb_model: object = None,
) -> Booster:
    """Train on a DMatrix; see `weald.train`."""
    sets = read_evals(evals)
    start = None if xgb_model is None else _start(xgb_model)
    learner = _learner(params, asked)
    prepared = learner.prepare(
        dtrain,
        sets,
        obj=asked.obj,
        custom_metric=asked.custom_metric,
        start=None if start is None else start._fitted(),
    )
    options = learner._options()
    wait = check_waiting(options, len(sets), "train")
    attributes: dict[str, str] = {} if start is None else start.attributes()
    for name in ("best_iteration", "best_score"):
        attributes.pop(name, None)
    types = dtrain.feature_types
    trained = prepared.training.run(
        callbacks=[*(options.callbacks or ()), *_lines(asked.verbose_eval, show_stdv=False)],
        early_stopping=None if wait is None else EarlyStopping(wait, maximize=asked.maximize),
        booster=_so_far(learner, prepared, attributes, types),
    )
    learner._finish(prepared, trained)
    if evals_result is not None:
        evals_result.clear()
        evals_result.update(trained.evals_result)
    return Booster._of(learner, attributes, types)


def cv_matrix(
    params: Params,
    dtrain: DMatrix,
    asked: Asked,
    *,
    nfold: int,
    stratified: bool,
    folds: Folds | None,
    metrics: str | Collection[str],
    fpreproc: Callable[..., Any] | None,
    show_stdv: bool,
    seed: int,
    shuffle: bool,
) -> CVResult:
    """Cross-validate on the rows of a DMatrix; see `weald.cv`."""
    given = by_name(params)
    if metrics:
        given["eval_metric"] = listed(metrics)
    if given.get("seed") is None and given.get("random_state") is None:
        given["seed"] = seed
    prepared, boosters = [], []
    learner = _learner(given, asked)
    options = learner._options()
    for rows in _parts(dtrain, nfold, folds, stratified=stratified, shuffle=shuffle, seed=seed_of(options)):
        train, test = (dtrain.slice(part, allow_groups=True) for part in rows)
        if fpreproc is not None:
            train, test, changed = _preprocessed(fpreproc(train, test, dict(given)))
            learner = _learner(changed, asked)
        sets = [(train, TRAIN), (test, TEST)]
        prepared.append(learner.prepare(train, sets, obj=asked.obj, custom_metric=asked.custom_metric))
        boosters.append(_so_far(learner, prepared[-1], {}, train.feature_types))
    return train_folds(
        [each.training for each in prepared],
        prepared[0].training.plan.boost.n_rounds,
        wait=options.early_stopping_rounds,
        maximize=asked.maximize,
        callbacks=[*(options.callbacks or ()), *_lines(asked.verbose_eval, show_stdv=show_stdv)],
        boosters=boosters,
    )


def _learner(params: Params, asked: Asked) -> Learner:
    """The unfitted model of these parameters; an argument says what params must not say otherwise."""
    given = by_name(params)
    arguments = {
        "n_estimators": asked.n_rounds,
        "early_stopping_rounds": asked.early_stopping_rounds,
        "callbacks": None if asked.callbacks is None else list(asked.callbacks),
    }
    give_once(given, arguments)
    return Learner(**given)


def _start(model: AnyEstimator) -> Booster:
    """The model to go on from: a Booster, a fitted estimator, or a file of one."""
    if isinstance(model, Booster):
        return model
    if isinstance(model, BaseXGB):
        return model.get_booster()
    return Booster(model_file=model)


def _so_far(
    learner: Learner, prepared: Prepared, attributes: dict[str, str], types: list[str] | None
) -> Callable[[Forest], Booster]:
    """The forest of a training as a Booster, for callbacks."""
    plan, data = prepared.training.plan, prepared.data

    def booster(forest: Forest) -> Booster:
        model = Learner(**learner._set_params())
        learned = learner._planned(plan) | {
            "objective_": plan.objective_name,
            "n_outputs_": data.n_targets,
            "_best": None,
        }
        model._set_fitted(forest, data.schema, None, learned)
        return Booster._of(model, attributes, types)

    return booster


def _lines(verbose_eval: bool | int | None, *, show_stdv: bool) -> list[EvaluationMonitor]:
    if not verbose_eval:
        return []
    if not isinstance(verbose_eval, bool | int | np.integer) or verbose_eval < 0:
        raise ParameterError(
            f"`verbose_eval` must be True, False, or every how many rounds to show; got {verbose_eval!r}."
        )
    return [EvaluationMonitor(period=1 if verbose_eval is True else int(verbose_eval), show_stdv=show_stdv)]


def _preprocessed(answer: object) -> tuple[DMatrix, DMatrix, Mapping[str, Any]]:
    if isinstance(answer, tuple | list) and len(answer) == 3:
        train, test, params = answer
        if isinstance(train, DMatrix) and isinstance(test, DMatrix):
            return train, test, by_name(params)
    raise DataTypeError("fpreproc must return (dtrain, dtest, params): two DMatrix objects and a dict.")


def _parts(
    matrix: DMatrix, nfold: int, folds: Folds | None, *, stratified: bool, shuffle: bool, seed: int
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """The rows of each fold, to train and to test; of a ranking whole queries."""
    start = matrix.get_uint_info("group_ptr")
    n_rows = matrix.num_row()
    queries = len(start) > 0 and folds is None
    unit = np.repeat(np.arange(len(start) - 1), np.diff(start)) if queries else np.arange(n_rows)
    label = matrix.get_label()
    by_class = stratified and not queries and label.ndim == 1 and folds is None
    values = label[:, np.newaxis] if by_class else np.zeros((int(unit[-1]) + 1, 1))
    if by_class:
        values = np.unique(values, return_inverse=True)[1].reshape(-1, 1).astype(np.int32)
    if len(label) == 0:
        raise DataError("dtrain has no label, and cv needs one. Give DMatrix(data, label=y).")
    found = fold_weights(
        nfold if folds is None else folds,
        np.zeros((n_rows, 1)),
        values if folds is None else label.reshape(n_rows, -1),
        None,
        labels=by_class,
        random_state=seed % 2**32,
        owner="cv",
        name="nfold" if folds is None else "folds",
        way_out="Use fewer folds, or more rows.",
        shuffle=shuffle,
    )
    return [(_rows(each.train[unit]), _rows(each.held_out[unit])) for each in found]


def _rows(times: NDArray[np.float64]) -> NDArray[np.int64]:
    """The numbers of rows, each as often as asked for."""
    return np.repeat(np.arange(len(times)), times.astype(np.int64))
