"""The metrics users name, such as "error@0.7" or "ndcg@10", and the functions they bring → `Metric`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

from weald.arrays import Floats
from weald.boosting.metrics import areas
from weald.boosting.metrics import pointwise as metrics
from weald.boosting.metrics.custom import custom_measure, function_name, query_weights
from weald.boosting.records import BoostTarget
from weald.errors import ParameterError, listing, nearest

Measure: TypeAlias = Callable[[Floats, BoostTarget], float]
Parameters: TypeAlias = Mapping[str, Any]

#: of one prediction for each target
_CELLWISE: dict[str, Measure] = {
    "rmse": metrics.rmse,
    "rmsle": metrics.rmsle,
    "mae": metrics.mae,
    "mape": metrics.mape,
    "mphe": metrics.mphe,
    "logloss": metrics.logloss,
    "error": metrics.error,
    "poisson-nloglik": metrics.poisson_nloglik,
    "gamma-nloglik": metrics.gamma_nloglik,
    "gamma-deviance": metrics.gamma_deviance,
    "tweedie-nloglik": metrics.tweedie_nloglik,
}
_CLASSWISE: dict[str, Measure] = {"merror": metrics.merror, "mlogloss": metrics.mlogloss}
_AREAS: dict[str, Measure] = {"auc": areas.auc, "aucpr": areas.aucpr}
#: name → its function in `ranking_metrics`
_RANKING = {"ndcg": "ndcg", "map": "mean_average_precision", "pre": "precision"}

METRIC_NAMES = (*_CELLWISE, *_CLASSWISE, *_AREAS, "quantile", *_RANKING)

_DEFAULTS = {
    "reg:squarederror": "rmse",
    "reg:squaredlogerror": "rmsle",
    "reg:pseudohubererror": "mphe",
    "reg:absoluteerror": "mae",
    "reg:quantileerror": "quantile",
    "reg:logistic": "rmse",
    "reg:gamma": "gamma-deviance",
    "reg:tweedie": "tweedie-nloglik",
    "count:poisson": "poisson-nloglik",
    "binary:logistic": "logloss",
    "binary:logitraw": "logloss",
    "binary:hinge": "error",
    "multi:softmax": "mlogloss",
    "multi:softprob": "mlogloss",
    "rank:pairwise": "ndcg",
    "rank:ndcg": "ndcg",
    "rank:map": "map",
}


@dataclass(frozen=True, slots=True)
class Metric:
    """One number that says how good predictions are."""

    name: str
    maximize: bool  # whether more is better
    measure: Measure

    def __call__(self, predictions: Floats, target: BoostTarget) -> float:
        """The metric of predictions after the link, (n_rows,) or (n_rows, n_outputs)."""
        return self.measure(predictions, target)


def more_is_better(name: str) -> bool:
    """Whether xgboost takes more of the metric of this name for better; it goes by how the name begins."""
    return name.startswith(("auc", "pre", "map", "ndcg")) and name != "mape"


def default_metric(objective_name: str, parameters: Parameters | None = None) -> str:
    """The metric that xgboost follows for an objective when none is asked for; of a custom one: "rmse"."""
    name = _DEFAULTS.get(objective_name, "rmse")
    parameters = parameters or {}
    if name == "tweedie-nloglik":
        return f"{name}@{_given(parameters, 'tweedie_variance_power', 1.5):g}"
    if name in _RANKING and _given(parameters, "lambdarank_pair_method", "topk") == "topk":
        return f"{name}@{_given(parameters, 'lambdarank_num_pair_per_sample', 32)}"
    return name


def make_metrics(
    asked: object, *, objective_name: str, n_outputs: int, parameters: Parameters | None = None
) -> list[Metric]:
    """The metrics of `eval_metric` in xgboost's order: named ones, or else the default, then functions.

    Parameters
    ----------
    asked : None, str, callable or sequence of them
        `eval_metric` as the user gave it.
    objective_name : str
        xgboost's name of the objective; any other name is a custom one.
    n_outputs : int
        How many predictions a row has.
    parameters : mapping, optional
        What metrics read: `huber_slope`, `quantile_alpha`, `tweedie_variance_power`, `ndcg_exp_gain`, …

    Returns
    -------
    list of Metric
        No two of the same name; a name given twice counts once.

    Raises
    ------
    ParameterError
        If there is no such metric, it does not fit the objective, or two functions have the same name.
    """
    entries = _entries(asked)
    make = partial(make_metric, objective_name=objective_name, n_outputs=n_outputs, parameters=parameters)
    found: dict[str, Metric] = {}
    for entry in entries:
        if isinstance(entry, str):
            metric = make(entry)
            found.setdefault(metric.name, metric)
    if not found:
        metric = make(default_metric(objective_name, parameters))
        found[metric.name] = metric
    for entry in entries:
        if isinstance(entry, str):
            continue
        metric = make(entry)
        if metric.name in found:
            raise ParameterError(
                f"`eval_metric` holds two metrics called {metric.name!r}, whose values could not be told "
                "apart. Give one function another `__name__`."
            )
        found[metric.name] = metric
    return list(found.values())


def check_metric_names(asked: object) -> None:
    """Raise a `ParameterError` for a name in `eval_metric` that is no metric, whether or not it is measured.

    Whether a metric fits the objective is not asked: nothing is measured without a set, and xgboost lets
    it pass.
    """
    for entry in _entries(asked):
        if isinstance(entry, str):
            parse(entry)


def make_metric(
    name_or_callable: str | Callable[..., Any],
    *,
    objective_name: str,
    n_outputs: int,
    parameters: Parameters | None = None,
    maximize: bool | None = None,
) -> Metric:
    """One metric by name, or of a function f(y_true, y_pred) in the manner of scikit-learn.

    Parameters
    ----------
    name_or_callable : str or callable
        A function gets predictions after the link, and `sample_weight` if it has such a parameter and there
        are weights. Of a ranking it is asked query by query, and the mean counts.
    objective_name, n_outputs, parameters
        As in `make_metrics`.
    maximize : bool, optional
        Whether more is better; by default as the name says to xgboost, so that of most functions less is
        better.

    Raises
    ------
    ParameterError
        If there is no such metric, or it does not fit the objective.
    """
    if callable(name_or_callable):
        name = function_name(name_or_callable)
        measure: Measure = custom_measure(name_or_callable, name)
    elif isinstance(name_or_callable, str):
        base, argument, minus = parse(name_or_callable)
        _check_fits(base, objective_name, n_outputs, parameters or {})
        name, measure = _named(base, argument, minus, parameters or {})
    else:
        raise ParameterError(
            f"`eval_metric` holds {name_or_callable!r}. A metric is a name such as "
            f"{default_metric(objective_name)!r}, or a function f(y_true, y_pred) that gives a number."
        )
    return Metric(name, more_is_better(name) if maximize is None else maximize, measure)


def parse(text: str) -> tuple[str, float | None, bool]:
    """A name as users write it → the metric, the number after @, and whether a minus ends it.

    >>> parse("map@5-")
    ('map', 5.0, True)
    """
    base, at, argument = text.partition("@")
    minus = (argument if at else base).endswith("-")
    base, argument = (base, argument[:-1]) if at and minus else (base[:-1] if minus else base, argument)
    if base not in METRIC_NAMES:
        close = nearest(text, METRIC_NAMES) or nearest(base, METRIC_NAMES)
        hint = f"Did you mean {close!r}? " if close else ""
        raise ParameterError(
            f"`eval_metric` {text!r} is not a metric. {hint}There are {listing(METRIC_NAMES, most=99)}; a "
            "function f(y_true, y_pred) does as well."
        )
    if minus and base not in _RANKING:
        raise ParameterError(f"`eval_metric` {text!r}: only {listing(_RANKING)} may end with '-'.")
    if not at:
        return base, None, minus
    return base, _number(text, base, argument), minus


def _number(text: str, base: str, argument: str) -> float:
    """The number after @, within what the metric takes."""
    number = float(argument) if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", argument) else None
    if base in _RANKING:
        valid, wanted = number is not None and number >= 1 and number == int(number), "a whole number from 1"
        example = f"{base}@10"
    elif base == "tweedie-nloglik":
        valid, wanted = number is not None and 1.0 < number < 2.0, "a variance power between 1 and 2"
        example = f"{base}@1.5"
    elif base == "error":
        valid, wanted, example = number is not None, "a threshold", "error@0.7"
    else:
        raise ParameterError(f"`eval_metric` {text!r}: {base!r} takes nothing after '@'. Write {base!r}.")
    if not valid or number is None:
        raise ParameterError(f"`eval_metric` {text!r} needs {wanted} after '@', such as {example!r}.")
    return number


def _named(base: str, argument: float | None, minus: bool, parameters: Parameters) -> tuple[str, Measure]:
    """The metric's name as xgboost writes it in results, and the function with its parameters."""
    if base in _RANKING:
        k = None if argument is None else int(argument)
        name = base + ("" if k is None else f"@{k}") + ("-" if minus else "")
        return name, _ranking(base, k, minus, parameters)
    if base == "error" and argument is not None:
        name = base if argument == 0.5 else f"{base}@{argument:g}"
        return name, partial(metrics.error, threshold=argument)
    if base == "tweedie-nloglik":
        power = _given(parameters, "tweedie_variance_power", 1.5) if argument is None else argument
        return f"{base}@{power:g}", partial(metrics.tweedie_nloglik, power=power)
    if base == "mphe":
        return base, partial(metrics.mphe, slope=_given(parameters, "huber_slope", 1.0))
    if base == "quantile":
        return base, partial(metrics.quantile, alphas=_alphas(parameters))
    return base, {**_CELLWISE, **_CLASSWISE, **_AREAS}[base]


def _ranking(base: str, k: int | None, minus: bool, parameters: Parameters) -> Measure:
    # Imported late: only rankings need it.
    function = getattr(import_module("weald.boosting.metrics.ranking"), _RANKING[base])
    options: dict[str, Any] = {"k": k}
    if base != "pre":  # which is 0 where nothing is relevant, with a minus or without
        options["minus"] = minus
    if base == "ndcg":
        options["exponential"] = bool(_given(parameters, "ndcg_exp_gain", True))

    def measure(predictions: Floats, target: BoostTarget) -> float:
        start, weight = target.group_start, None
        if start is None:  # all rows are one query
            start = np.array([0, target.n_rows])
        elif target.weight is not None:
            weight = query_weights(target)
        return float(function(predictions.reshape(-1), target.values.reshape(-1), start, weight, **options))

    return measure


def _check_fits(base: str, objective_name: str, n_outputs: int, parameters: Parameters) -> None:
    """Refuse, before the first tree, a metric that compares what the objective does not predict."""
    if base in _CELLWISE and objective_name.startswith("multi:"):
        several, way_out = "classes", "'merror', 'mlogloss' or 'auc'"
    elif base in _CELLWISE and objective_name == "reg:quantileerror" and n_outputs > 1:
        several, way_out = "quantiles", "'quantile'"
    else:
        several = way_out = ""
    if several:
        raise ParameterError(
            f"`eval_metric` {base!r} compares one prediction with each target, but {objective_name!r} "
            f"predicts several {several}. Use {way_out}."
        )
    if base in _CLASSWISE and n_outputs == 1:
        raise ParameterError(
            f"`eval_metric` {base!r} is for three classes and more, but {objective_name!r} predicts one "
            f"number per row. Use {base[1:]!r}."
        )
    if base == "quantile" and not _alphas(parameters):
        raise ParameterError("`eval_metric` 'quantile' needs `quantile_alpha`: the quantiles to predict.")


def _alphas(parameters: Parameters) -> list[float]:
    given = _given(parameters, "quantile_alpha", [])
    return [float(a) for a in given] if isinstance(given, Iterable) else [float(given)]


def _given(parameters: Parameters, name: str, otherwise: object) -> Any:
    value = parameters.get(name)
    return otherwise if value is None else value


def _entries(asked: object) -> list[Any]:
    if asked is None:
        return []
    if isinstance(asked, str) or callable(asked):
        return [asked]
    if not isinstance(asked, Iterable):
        raise ParameterError(
            f"`eval_metric` must be a name, a function f(y_true, y_pred), or a list of them; got {asked!r}."
        )
    return list(asked)
