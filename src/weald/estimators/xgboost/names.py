"""Names that xgboost's users write: old ones without effect, what weald lacks, and where arguments go."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn, ParamSpec, Self, TypeVar, cast, overload

from weald.arrays import Estimator
from weald.errors import ArgumentError, IgnoredParameterWarning, ParameterError, nearest, outside
from weald.parameters import check_names

P = ParamSpec("P")
R = TypeVar("R")

#: parameters of old code that mean nothing here: name → why; they warn and are forgotten
_DEAD = {
    "use_label_encoder": "Labels of any kind go in as they are.",
    "silent": "Nothing prints unless asked.",
    "predictor": "There is one predictor.",
    "gpu_id": "weald runs on the CPU.",
    "n_gpus": "weald runs on the CPU.",
    "use_rmm": "weald runs on the CPU.",
    "extmem_single_page": "weald trains in memory.",
    "single_precision_histogram": "Histograms are exact.",
    "deterministic_histogram": "Results are the same in every run.",
    "enable_experimental_json_serialization": "save(path) writes the model.",
    "sketch_eps": "Use max_bin, which is about 1 / sketch_eps.",
}
#: what xgboost and others have and weald has not: name → the way out
_ELSEWHERE = {
    "feature_selector": "It belongs to booster='gblinear'; use scikit-learn's linear models for that.",
    "top_k": "It belongs to booster='gblinear'; use scikit-learn's linear models for that.",
    "aft_loss_distribution": "weald has no survival objectives; use xgboost or lifelines for those.",
    "aft_loss_distribution_scale": "weald has no survival objectives; use xgboost or lifelines for those.",
    "kwargs": "Give its entries as parameters of their own: XGBClassifier(**{...}).",
    "lr": "Use learning_rate.",
    # LightGBM's
    "num_leaves": "Use max_leaves, with grow_policy='lossguide' and max_depth=0 to grow as LightGBM does.",
    "min_child_samples": "Use min_child_weight, the least sum of hessians in a child.",
    "min_data_in_leaf": "Use min_child_weight, the least sum of hessians in a child.",
    "bagging_fraction": "Use subsample.",
    "feature_fraction": "Use colsample_bytree.",
    "lambda_l1": "Use reg_alpha.",
    "lambda_l2": "Use reg_lambda.",
}
_CONTRIBUTIONS = (
    "Use model.shap_values(X), or ask the booster: "
    "model.get_booster().predict(weald.DMatrix(X), pred_contribs=True)."
)
#: arguments of methods that are elsewhere: name → the way out
_ARGUMENTS = {
    "ntree_limit": "Use iteration_range=(0, n) for the first n rounds.",
    "best_ntree_limit": "After early stopping the rounds up to the best one are used anyway.",
    "pred_leaf": "Use apply(X), which gives the leaf of each row in each tree.",
    "pred_contribs": _CONTRIBUTIONS,
    "approx_contribs": _CONTRIBUTIONS,
    "pred_interactions": "Use model.shap_values(X, interactions=True), or pred_interactions of the booster.",
    "strict_shape": "predict_proba(X) always has a column for each class.",
    "training": "Dropped trees (booster='dart') count in training only; predict always uses all of them.",
    "data": "The table is called X.",
    "dtrain": "The table is called X, and the target y.",
    "label": "The target is called y.",
    "weight": "Use sample_weight.",
    "evals": "Use eval_set=[(X_test, y_test)].",
    "verbose_eval": "Use verbose.",
    "num_boost_round": "Give it to the constructor as n_estimators.",
    "sample_weight_eval": "Use sample_weight_eval_set, a list with the weights of each set.",
    "eval_sample_weight": "Use sample_weight_eval_set, a list with the weights of each set.",
    "eval_names": "Sets are called 'validation_0', 'validation_1', … in evals_result().",
    "categorical_feature": "Give categorical_features to the constructor.",
}
#: xgboost's methods that weald has under another name, or not at all: name → the way out
_ATTRIBUTES = {
    "save_model": "Use save(path), and weald.load(path) to read it back.",
    "load_model": "Use weald.load(path), which returns the fitted estimator.",
    "coef_": "Only linear boosters have coefficients, which weald has not; see `feature_importances_`.",
    "best_ntree_limit": "Use best_iteration + 1; predict uses these rounds anyway.",
}


def known_names(others: Mapping[str, Any], owner: str, known: list[str]) -> dict[str, Any]:
    """Names beside those of the signature under the ones they have there.

    Raises
    ------
    ParameterError
        For a name that says something weald has not, or nothing at all.

    Warns
    -----
    IgnoredParameterWarning
        For a name that lost its meaning long ago; it is left out.
    """
    found = {"lambda_" if name == "lambda" else name: value for name, value in others.items()}
    for name in [name for name in found if name in _DEAD]:
        del found[name]
        warnings.warn(
            f"`{name}` of {owner} has no effect. {_DEAD[name]} Leave it out.",
            IgnoredParameterWarning,
            stacklevel=outside(),
        )
    for name in found:
        if name in _ELSEWHERE:
            raise ParameterError(f"`{name}` is no parameter of {owner}. {_ELSEWHERE[name]}")
    check_names(list(found), owner, known)
    return found


def with_the_way(method: Callable[P, R]) -> Callable[P, R]:
    """A method that says where an argument belongs that it does not have.

    Arguments by position that xgboost wants by name are taken, with a `FutureWarning`, as xgboost does.
    """
    parameters = list(inspect.signature(method).parameters.values())
    known = [each.name for each in parameters]
    by_position = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    by_name = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]

    @functools.wraps(method)
    def called(*args: Any, **kwargs: Any) -> R:
        for name in kwargs:
            if name not in known:
                _refuse(method.__name__, name, args[0], known[1:])
        if len(args) > len(by_position):
            args, kwargs = _named(method.__name__, args, kwargs, len(by_position), by_name)
        return method(*args, **kwargs)

    return cast("Callable[P, R]", called)


def _named(
    method: str, args: tuple[Any, ...], kwargs: dict[str, Any], n_positions: int, by_name: list[str]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments, with those that are too many by position under their names."""
    extra = args[n_positions:]
    names = by_name[: len(extra)]
    owner = type(args[0]).__name__
    if len(extra) > len(by_name) or any(name in kwargs for name in names):
        raise ArgumentError(
            f"{owner}.{method} was given {len(args) - 1} arguments by position. Give {', '.join(by_name)} by "
            "name."
        )
    shown = ", ".join(f"{name}=..." for name in names)
    warnings.warn(
        f"Give {shown} by name: {owner}.{method} will not take it by position for ever.",
        FutureWarning,
        stacklevel=outside(),
    )
    return args[:n_positions], {**kwargs, **dict(zip(names, extra, strict=True))}


def _refuse(method: str, name: str, model: Estimator, known: Iterable[str]) -> NoReturn:
    owner = type(model).__name__
    if name in _ARGUMENTS:
        way_out = _ARGUMENTS[name]
    elif name in model.get_params(deep=False):
        way_out = f"Give it to the constructor: {owner}({name}=...), or set_params({name}=...)."
    else:
        close = nearest(name, known)
        way_out = f"Did you mean `{close}`?" if close else f"It takes {', '.join(known)}."
    raise ArgumentError(f"{owner}.{method} has no argument `{name}`. {way_out}")


class Elsewhere:
    """A name that is no attribute (`hasattr` is False) but says what to use instead."""

    def __set_name__(self, owner: type, name: str) -> None:
        """Remember the name."""
        self._name = name

    def __get__(self, instance: object, owner: type) -> NoReturn:
        """Raise, with the way out."""
        raise AttributeError(
            f"{owner.__name__!r} object has no attribute {self._name!r}. {_ATTRIBUTES[self._name]}",
            name=self._name,
        )


class ReadableObjective:
    """`objective`: what was given, or where that is None what is trained with, as xgboost's users read it.

    The constructor keeps what it was given; `get_params` tells that.
    """

    @overload
    def __get__(self, model: None, owner: type) -> Self: ...
    @overload
    def __get__(self, model: object, owner: type) -> Any: ...
    def __get__(self, model: object, owner: type) -> Any:
        """The objective of a model."""
        if model is None:
            return self
        given = vars(model).get("objective")
        usual = owner._usual_objective  # type: ignore[attr-defined]
        if given is not None and not (isinstance(given, str) and given == usual):
            return given
        return vars(model).get("objective_") or usual

    def __set__(self, model: object, value: object) -> None:
        """Keep what was given."""
        vars(model)["objective"] = value
